#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace mapdiag::heap {

/// How much of a dump is taken. Object numbers and places of references have 32 bits; lower figures
/// are for tests.
struct LoadLimits {
    std::uint64_t objects = (1ULL << 32) - 16;  ///< lines and missing addresses together
    std::uint64_t refs = (1ULL << 32) - 16;
    /// Bytes of text that a compressed dump may open to. 0: 64 times the file, at least 256 MiB.
    std::uint64_t text = 0;
};

/// Told from time to time, from any thread, what is going on and how much of it is done: 0 to 1, or
/// a negative number where that can't be known.
using Progress = std::function<void(std::string_view what, double share)>;

}  // namespace mapdiag::heap
