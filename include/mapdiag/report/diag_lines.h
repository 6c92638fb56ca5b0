#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mapdiag/diagnose/diagnose.h"
#include "mapdiag/record/record.h"

namespace mapdiag::report {

/// The lines behind the job's output, each beginning with "[diag E] ", without line ends, in the
/// fixed order of docs/diag-lines.md. No line holds an argument or a value of the job.
std::vector<std::string> diag_lines(const record::RunRecord& record,
                                    std::span<const diagnose::Finding> findings);

/// The one line that the watcher puts behind the log when mapdiag itself was killed.
std::string wrapper_killed_line(std::string_view entity);

}  // namespace mapdiag::report
