#pragma once

#include <cstdint>
#include <optional>

#include "mapdiag/report/run_report.h"

namespace mapdiag::report {

/// How bad a run is, worst first. Everything before near_limit counts as failed.
enum class Rank : std::uint8_t {
    unreadable,
    memory_kill,
    no_end,
    killed,
    failed,
    bad_output,  ///< exited with 0, but a worker was killed or the output file is not right
    near_limit,
    well,
};

Rank rank_of(const ReportedRun& run);

/// By rank, then by share of the limit, peak, entity and path.
bool is_worse(const ReportedRun& a, const ReportedRun& b);

/// The peak; where it is not available, the highest sample.
std::optional<std::uint64_t> best_peak(const record::RunRecord& record);
/// Peak by limit, where both are known.
std::optional<double> share_of_limit(const record::RunRecord& record);

}  // namespace mapdiag::report
