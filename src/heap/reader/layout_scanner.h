#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "heap/reader/raw_chunk.h"

namespace mapdiag::heap {

/// The scanner may look this far past the place it is given as safe.
inline constexpr std::size_t kScannerSlack = 128;

/// One line in the layout that Meliae writes.
struct ScannedObject {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::uint32_t length = kNoLength;
    std::string_view type;  ///< as written, without any escape
    std::string_view text;  ///< name or string value, as written; null where there is none
    bool is_name = false;
    std::uint64_t* refs = nullptr;  ///< room given by the caller: one for every two bytes of text
    std::size_t ref_count = 0;
};

/// Reads the line at `at` if it is exactly
///   {"address": N, "type": "T", "size": N[, "len": N][, "name": "..."][, "value": V], "refs": [N,
///   ...]}
/// with an optional comma behind it, and gives the start of the next line; null for any other line,
/// which LineParser then reads. Nothing beyond `safe` + kScannerSlack is looked at.
const char* scan_usual_line(const char* at, const char* safe, ScannedObject& object);

}  // namespace mapdiag::heap
