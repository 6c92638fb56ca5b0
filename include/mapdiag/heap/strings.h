#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mapdiag/heap/objects.h"

namespace mapdiag::heap {

/// Strings of one type and length with the same value.
struct StringGroup {
    TypeId type;
    std::uint32_t length = kNoLength;
    std::uint64_t count = 0;
    std::uint64_t size = 0;       ///< bytes of all
    std::uint64_t wasted = 0;     ///< bytes of all but the largest one
    ObjectId example;             ///< the first in the dump
    bool only_beginning = false;  ///< longer than the dump holds: alike as far as can be seen
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

/// Values are compared by a 64-bit hash of what the dump holds of them (Meliae writes the first 100
/// characters) together with type and length.
StringsView find_duplicate_strings(const Graph& graph, std::size_t limit);

std::string strings_text(const StringsView& view, const Graph& graph, const Describer& describer);
std::string strings_json(const StringsView& view, const Graph& graph, const Describer& describer);

}  // namespace mapdiag::heap
