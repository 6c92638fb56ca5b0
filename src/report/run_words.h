#pragma once

#include <string>

#include "mapdiag/record/record.h"

namespace mapdiag::report {

/// "exited with 7", "killed by SIGKILL (signal 9), status 137": with the status that mapdiag itself
/// leaves with.
std::string exit_text(const record::RunRecord& record);

/// Where the stacks that were written down are, or why they are not.
std::string stack_dump_text(const record::StackDump& dump);

/// Wall clock and CPU time side by side.
std::string time_text(const record::RunRecord& record);

}  // namespace mapdiag::report
