#pragma once

#include <string>
#include <vector>

#include "mapdiag/record/record.h"

namespace mapdiag::report {

/// The two lines and the block that existing readers look for, spelled as they expect it: without a
/// topic of ours in front.
std::vector<std::string> cgroup_lines(const record::RunRecord& record);

/// What stands behind "memory: ", in order: where the counters come from, the peak, its split,
/// swap, the largest process, placements that could not be had.
std::vector<std::string> memory_lines(const record::RunRecord& record);

/// "peak 110.0 MiB of 400.0 MiB (27.5 %)", with what the figure is. One place for all outputs.
std::string peak_text(const record::RunRecord& record);
/// The peak is the highest of some samples, so the true one may be higher.
bool is_sampled(const record::RunRecord& record);

}  // namespace mapdiag::report
