#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "mapdiag/heap/load.h"

namespace mapdiag::heap {

/// One figure of two dumps.
struct Change {
    std::uint64_t before = 0;
    std::uint64_t after = 0;
};

/// A type in two dumps. Objects are never compared one by one: an address means nothing in another
/// process.
struct TypeChange {
    std::string kind;
    Change count;
    Change size;
    Change retained;
};

struct HeapDiff {
    TypeChange total;               ///< of all objects; `retained` is the whole heap
    std::vector<TypeChange> types;  ///< all, by how much their size changed, then name
};

Result<HeapDiff> compare_heaps(Heap& before, Heap& after);

std::string diff_text(const HeapDiff& diff, std::size_t limit);
std::string diff_json(const HeapDiff& diff, std::size_t limit);

}  // namespace mapdiag::heap
