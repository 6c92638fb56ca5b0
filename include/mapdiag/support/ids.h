#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace mapdiag {

/// A 32-bit index into one table, typed by a tag so that ids of different tables don't mix.
/// 0 means "none", so that flat tables of ids start zeroed.
template <class Tag>
struct Id {
    std::uint32_t value = 0;

    constexpr explicit operator bool() const { return value != 0; }
    friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

}  // namespace mapdiag

template <class Tag>
struct std::hash<mapdiag::Id<Tag>> {
    std::size_t operator()(const mapdiag::Id<Tag>& id) const noexcept {
        return std::hash<std::uint32_t>{}(id.value);
    }
};
