#pragma once

#include <array>
#include <string>

#include "mapdiag/report/run_report.h"

namespace mapdiag::report {

inline constexpr std::size_t kColumns = 8;
using Row = std::array<std::string, kColumns>;

Row header_row();
/// One run as the table shows it: what is not available is "n/a", a lower bound has ">= " before
/// it.
Row row_of(const ReportedRun& run);

/// "exit 7", "SIGKILL", "never started", "mapdiag killed", "no end".
std::string ended_text(const record::Ending& ending);

/// What the runs together need, with a line end; empty for a single run.
std::string overlap_text(const std::optional<Overlap>& overlap, std::size_t runs);

}  // namespace mapdiag::report
