#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "mapdiag/support/error.h"
#include "mapdiag/support/fd.h"
#include "mapdiag/support/mapped_file.h"

namespace mapdiag {

/// How a file is packed, by its first bytes and never by its name.
enum class Compression { none, gzip, zstd };

/// "plain", "gzip" or "zstd".
std::string_view compression_name(Compression compression);

struct InputOptions {
    /// More bytes than this, counted after unpacking, are an error.
    std::uint64_t max_size = std::numeric_limits<std::uint64_t>::max();
    /// gzip is unpacked by ISA-L where libisal.so.2 can be loaded, else by zlib.
    bool use_isal = true;
};

class InputSource;

/// A file, pipe or standard input, read from front to back and unpacked on the way where it is gzip
/// (also of several members) or zstd (also of several frames). Holds a bounded part of it in
/// memory.
///
/// Packed data that is cut short or damaged is no error of read(): all that could be unpacked is
/// given first, then 0 as at the end, and damage() says where and why it ended.
class InputStream {
  public:
    /// Opens `path`, or standard input where it is "-".
    static Result<InputStream> open(const std::string& path, const InputOptions& options = {});
    /// Reads an open descriptor from its current position; `shown` names it in messages.
    static Result<InputStream> of(Fd fd, std::string shown, const InputOptions& options = {});

    InputStream(InputStream&&) noexcept;
    InputStream& operator=(InputStream&&) noexcept;
    InputStream(const InputStream&) = delete;
    InputStream& operator=(const InputStream&) = delete;
    ~InputStream();

    /// Fills a part of `into` (at least one byte where it is not empty) and gives its size; 0 at
    /// the end. Fails where the kernel can't read or where max_size is passed.
    Result<std::size_t> read(std::span<char> into);

    Compression compression() const;
    /// Why the data ended early, once read() has given 0.
    const std::optional<Error>& damage() const;
    /// The path, or "standard input".
    const std::string& shown() const;

  private:
    explicit InputStream(std::unique_ptr<InputSource> source);

    std::unique_ptr<InputSource> source_;
};

/// Bytes from std::malloc().
struct OwnedBytes {
    struct Free {
        void operator()(char* bytes) const { std::free(bytes); }
    };
    std::unique_ptr<char, Free> data;
    std::size_t size = 0;
};

/// The whole of a file as bytes: a plain regular file is mapped and never copied; everything else
/// is unpacked into memory.
class InputBytes {
  public:
    static Result<InputBytes> load(const std::string& path, const InputOptions& options = {});

    std::string_view bytes() const;
    Compression compression() const { return compression_; }
    /// Why packed data ended early; what came before it is in bytes().
    const std::optional<Error>& damage() const { return damage_; }
    /// The mapping where the file is mapped (for hints to the kernel), else nothing.
    const MappedFile* mapping() const { return std::get_if<MappedFile>(&held_); }

  private:
    friend class InputLoader;

    InputBytes() = default;

    std::variant<OwnedBytes, MappedFile> held_;
    Compression compression_ = Compression::none;
    std::optional<Error> damage_;
};

}  // namespace mapdiag
