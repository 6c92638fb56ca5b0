#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mapdiag/heap/objects.h"

namespace mapdiag::heap {

/// One object on a way from a root: a tree in which ways with a common beginning share it.
struct PathStep {
    ObjectId id;
    std::uint32_t depth = 0;
    bool is_target = false;
};

/// The shortest ways from a root to one of the targets.
struct ShortestPaths {
    std::vector<PathStep> steps;  ///< in the order of printing, each below its parent
    std::uint64_t length = 0;     ///< references on each way; of several targets, on the longest
    std::uint64_t shown = 0;      ///< ways in `steps`
    std::uint64_t count = 0;      ///< ways of this length, also those not shown; stops at 2^63
};

/// All shortest ways from any root to `target`, `limit` of them in the result, in the order of
/// addresses. Roots are those of find_dominators().
ShortestPaths shortest_paths(const Graph& graph, const DominatorTree& tree, ObjectId target,
                             std::size_t limit);

std::string paths_text(const ShortestPaths& paths, const Graph& graph, const Describer& describer);
std::string paths_json(const ShortestPaths& paths, const Graph& graph, const Describer& describer);

}  // namespace mapdiag::heap
