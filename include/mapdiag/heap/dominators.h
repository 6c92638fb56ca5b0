#pragma once

#include <cstdint>
#include <vector>

#include "mapdiag/heap/graph.h"

namespace mapdiag::heap {

/// Who retains what. An object's dominator is the last one that every way from any root passes:
/// were it gone, the object would be gone too. An object that ways from two roots reach has no
/// dominator; such objects, and the roots themselves, are at the top. What an object retains is its
/// own size and that of all it dominates, directly or not; the sum over the top is the whole heap.
struct DominatorTree {
    Column<ObjectId> dominator;           ///< by id; none at the top
    Column<std::uint64_t> retained;       ///< by id, bytes; [0] is the whole heap
    Column<std::uint64_t> type_retained;  ///< by TypeId: by the objects that have none of the same
                                          ///  type above them, so that nothing counts twice
    Column<std::uint64_t> type_top;  ///< by TypeId: by its objects at the top; the sum is the heap
    Column<ObjectId> roots;          ///< ascending
    Column<ObjectId> top;            ///< by what they retain, largest first, then by id
};

/// Semi-NCA (Georgiadis, Tarjan, Werneck, "Finding Dominators in Practice", 2006), without
/// recursion.
DominatorTree find_dominators(const Graph& graph);

}  // namespace mapdiag::heap
