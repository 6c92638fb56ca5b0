#pragma once

#include <cstdint>
#include <span>

#include "mapdiag/heap/graph.h"

namespace mapdiag::heap {

/// Compressed rows of object numbers.
struct Rows {
    Column<std::uint32_t> starts;  ///< by id, one more than there are ids
    Column<ObjectId> cells;
};

/// Turns references round: row t holds, ascending and once each, every object whose row holds t.
/// `targets` is one more than the largest number that occurs.
Rows referrers_of(const Column<std::uint32_t>& starts, const Column<ObjectId>& cells,
                  std::uint32_t targets);

}  // namespace mapdiag::heap
