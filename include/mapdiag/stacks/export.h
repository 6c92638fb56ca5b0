#pragma once

#include <span>
#include <string>
#include <vector>

#include "mapdiag/stacks/flame_graph.h"
#include "mapdiag/stacks/profile.h"
#include "mapdiag/support/error.h"

namespace mapdiag::stacks {

/// A distinct stack with the sum of its weights. Points into its Profile.
struct MergedStack {
    std::span<const FrameId> frames;
    Weight weight = 0;
};

/// Every distinct stack once, sorted frame by frame by text.
std::vector<MergedStack> merge_stacks(const Profile& profile);

/// Folded lines, sorted and merged. Read again they give the same profile.
Result<void> write_folded(const Profile& profile, const Sink& sink);

/// A file for https://www.speedscope.app: one "sampled" profile.
Result<void> write_speedscope(const Profile& profile, const std::string& name, const Sink& sink);

/// A gzipped profile.proto for `go tool pprof`. Fails where the total is over 2^63-1, the format's
/// largest value. Counts with fractions become whole numbers of a smaller unit, which is named.
Result<void> write_pprof(const Profile& profile, const Sink& sink);

}  // namespace mapdiag::stacks
