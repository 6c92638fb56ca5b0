#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace mapdiag::record {

/// A table of enum values and the names under which they stand in files, to be read in both ways.
template <class Enum, std::size_t N>
using NameTable = std::array<std::pair<Enum, const char*>, N>;

template <class Enum, std::size_t N>
const char* name_in(const NameTable<Enum, N>& table, Enum value) {
    for (const auto& [known, name] : table) {
        if (known == value) {
            return name;
        }
    }
    return "?";
}

template <class Enum, std::size_t N>
std::optional<Enum> find_in(const NameTable<Enum, N>& table, std::string_view wanted) {
    for (const auto& [known, name] : table) {
        if (wanted == name) {
            return known;
        }
    }
    return std::nullopt;
}

}  // namespace mapdiag::record
