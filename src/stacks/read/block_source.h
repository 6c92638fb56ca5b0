#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "mapdiag/support/decompress.h"

namespace mapdiag::stacks {

/// A piece of a file that ends at the end of a record, or at the end of the file.
struct Block {
    OwnedBytes bytes;  ///< the buffer, which may be larger than the piece
    std::size_t used = 0;
    std::uint64_t sequence = 0;  ///< 0 and up in the order of the file
    bool last = false;           ///< the file ends with it
    bool too_long = false;       ///< stands for a line that was skipped: it has no text

    std::string_view text() const { return {bytes.data.get(), used}; }
};

/// Hands out a file piece by piece to several threads. Reading and unpacking happen under a lock,
/// one piece ahead of nobody; taking the lines apart, which is the larger part, happens outside of
/// it.
class BlockSource {
  public:
    struct Limits {
        std::size_t size = 0;          ///< of a piece, where no line is longer
        std::size_t longest_line = 0;  ///< longer ones are skipped
    };
    BlockSource(InputStream stream, const Limits& limits)
        : stream_(std::move(stream)), limits_(limits) {}

    /// Fills `block` with the next piece, reusing its buffer. False at the end.
    Result<bool> next(Block& block);

    const InputStream& stream() const { return stream_; }

  private:
    Result<bool> fill(Block& block);
    Result<bool> skip_line(Block& block);
    Result<void> carry(std::string_view rest);

    std::mutex mutex_;
    InputStream stream_;
    Limits limits_;
    OwnedBytes carried_;  ///< the start of a record that the block before did not hold whole
    std::uint64_t sequence_ = 0;
    bool at_end_ = false;
    bool failed_ = false;
};

/// Where the last whole record of `text` ends; 0 where it holds none. A record is a line, or
/// several where the command line in a `process N:"..."` frame has line ends of its own.
std::size_t end_of_records(std::string_view text);

}  // namespace mapdiag::stacks
