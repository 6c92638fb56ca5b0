#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heap/reader/string_pool.h"
#include "mapdiag/heap/graph.h"
#include "mapdiag/support/big_array.h"

namespace mapdiag::heap {

/// Nothing is larger than the largest address space (57 bits): a line that says so is damaged.
inline constexpr std::uint64_t kLargestSize = 1ULL << 57;

/// Why a line could not be used.
enum class BadLine : std::uint8_t {
    kNotJson,
    kNoObject,
    kNoAddress,
    kBadAddress,
    kNoType,
    kNoSize,
    kNegativeSize,
    kAbsurdSize,
    kBadSize,
    kBadRefs,
    kCut,
    kCount
};

/// The reason in words, for example "negative size".
std::string_view reason_text(BadLine reason);

/// One object as its line says it. Numbers of types and names are the chunk's own.
struct RawObject {
    std::uint64_t address;
    std::uint64_t size;
    std::uint64_t line;  ///< where its text starts, in bytes from the start of the dump
    std::uint32_t type;
    std::uint32_t length;
};

/// A bad line of a chunk: its place among the chunk's lines, from 0.
struct RawBadLine {
    std::uint64_t line;
    BadLine reason;
};

/// An object that has a function, module or type name.
struct RawName {
    std::uint32_t object;
    std::uint32_t name;
};

/// What was read from a run of whole lines.
struct RawChunk {
    static constexpr std::size_t kShownBadLines = 8;

    BigArray<RawObject> objects;
    std::size_t object_count = 0;
    /// By object: where its refs end. They start where those of the one before end.
    BigArray<std::uint32_t> ref_ends;
    BigArray<std::uint64_t> refs;  ///< addresses
    std::size_t ref_count = 0;     ///< over 2^32 - 1 the ref_ends are void
    std::vector<RawName> names;
    std::vector<std::uint32_t> text_objects;  ///< objects with a string value that may be data
    std::vector<std::uint64_t> text_hashes;   ///< keyed hashes of these values, as written
    StringPool types;
    StringPool name_pool;
    std::vector<RawBadLine> bad_lines;  ///< the first kShownBadLines
    std::uint64_t bad_line_count = 0;
    std::uint64_t line_count = 0;
};

/// How a chunk stands in its dump.
struct ChunkPlace {
    std::uint64_t offset = 0;    ///< of its first byte in the dump's text
    std::uint64_t hash_key = 0;  ///< for text_hashes
    bool last = false;           ///< a bad last line without its line end was cut
};

/// Reads all lines of `text`, which starts at a line start and ends at a line end (or at the end of
/// the dump).
RawChunk read_chunk(std::string_view text, const ChunkPlace& place);

}  // namespace mapdiag::heap
