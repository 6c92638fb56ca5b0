#pragma once

#include "mapdiag/heap/graph.h"

namespace mapdiag::heap {

/// Whether `a` stands before `b` in a list: by size, references, referrers, largest first, then by
/// address.
bool comes_first(const Graph& graph, ObjectId a, ObjectId b);

/// The first kLeaders objects of each type.
struct Leaders {
    BigArray<ObjectId> objects;
    BigArray<std::uint32_t> start;  ///< by TypeId, one more than there are types
};
Leaders find_leaders(const Graph& graph);

}  // namespace mapdiag::heap
