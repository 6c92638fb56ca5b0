#pragma once

#include <cstdint>
#include <vector>

#include "mapdiag/heap/graph.h"

namespace mapdiag::heap {

/// Strings of one type and length with the same value.
struct StringGroup {
    TypeId type;
    std::uint32_t length = kNoLength;
    std::uint64_t count = 0;
    std::uint64_t size = 0;    ///< bytes of all
    std::uint64_t wasted = 0;  ///< bytes of all but the largest one
    ObjectId example;          ///< the first in the dump
    /// 1: longer than the dump holds, alike as far as can be seen. No bool, so that the layout in
    /// the index file has no holes.
    std::uint32_t only_beginning = 0;
};

/// Duplicate strings.
struct StringsView {
    std::uint64_t strings = 0;         ///< objects with a string value
    std::uint64_t size = 0;            ///< bytes of these
    std::uint64_t groups = 0;          ///< values that occur more than once
    std::uint64_t wasted = 0;          ///< bytes in all groups
    std::uint64_t wasted_maybe = 0;    ///< of these, in groups of which only the beginning is known
    std::vector<StringGroup> largest;  ///< up to the limit, by waste, count, then place in the dump
    std::uint64_t others_wasted = 0;
};

}  // namespace mapdiag::heap
