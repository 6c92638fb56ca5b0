#pragma once

#include <cstdint>

namespace mapdiag::stacks {

/// Holds any product of two weights.
__extension__ using Wide = unsigned __int128;

inline Wide product(std::uint64_t a, std::uint64_t b) {
    return static_cast<Wide>(a) * b;
}

}  // namespace mapdiag::stacks
