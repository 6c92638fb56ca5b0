#pragma once

#include <cstdint>
#include <string>

#include "mapdiag/heap/objects.h"
#include "mapdiag/heap/reach.h"

namespace mapdiag::heap {

/// What an object reaches, itself included: Meliae's compute_total_size(). Other objects may reach
/// the same; see DominatorTree for what goes away with it.
struct TotalSize {
    std::uint64_t objects = 0;
    std::uint64_t size = 0;  ///< bytes
};
TotalSize total_size_of(const Graph& graph, ObjectId id, const WalkOptions& walk);

std::string total_size_text(const Graph& graph, ObjectId id, const TotalSize& total,
                            const Describer& describer);
std::string total_size_json(const Graph& graph, ObjectId id, const TotalSize& total,
                            const Describer& describer);

}  // namespace mapdiag::heap
