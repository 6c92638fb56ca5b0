#include "mapdiag/support/decompress.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include "decoders/decoder.h"

namespace mapdiag {
namespace {

constexpr std::size_t kPackedBlock = 1U << 17;
constexpr std::string_view kGzipMagic = "\x1F\x8B";
constexpr std::string_view kZstdMagic = "\x28\xB5\x2F\xFD";

Result<std::size_t> read_some(int fd, std::span<char> into, const std::string& shown) {
    for (;;) {
        const auto got = ::read(fd, into.data(), into.size());
        if (got >= 0) {
            return static_cast<std::size_t>(got);
        }
        if (errno != EINTR) {
            return std::unexpected(Error::from_errno("read", shown));
        }
    }
}

Compression compression_of(std::string_view first_bytes) {
    if (first_bytes.starts_with(kGzipMagic)) {
        return Compression::gzip;
    }
    return first_bytes.starts_with(kZstdMagic) ? Compression::zstd : Compression::none;
}

Error too_large(const std::string& shown, std::uint64_t max_size, Compression compression) {
    return Error::because(
        "read", shown,
        fmt::format("{} than {} bytes",
                    compression == Compression::none ? "larger" : "it unpacks to more", max_size));
}

Result<Fd> open_input(const std::string& path) {
    if (path != "-") {
        return open_file(path, O_RDONLY);
    }
    const int copy = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) {
        return std::unexpected(Error::from_errno("open", "standard input"));
    }
    return Fd(copy);
}

std::string shown_name(const std::string& path) {
    return path == "-" ? "standard input" : path;
}

}  // namespace

std::string_view compression_name(Compression compression) {
    switch (compression) {
        case Compression::gzip:
            return "gzip";
        case Compression::zstd:
            return "zstd";
        case Compression::none:
            break;
    }
    return "plain";
}

/// An open input with what was read ahead of it and, where it is packed, its decoder.
class InputSource {
  public:
    InputSource(Fd fd, std::string shown, const InputOptions& options)
        : shown_(std::move(shown)), fd_(std::move(fd)), options_(options) {}

    /// Reads the first bytes and decides by them.
    Result<void> begin() {
        block_.resize(kPackedBlock);
        while (unread().size() < kZstdMagic.size()) {
            const auto got = read_some(fd_.get(), std::span(block_).subspan(end_), shown_);
            if (!got) {
                return std::unexpected(got.error());
            }
            if (*got == 0) {
                at_end_ = true;
                break;
            }
            end_ += *got;
        }
        compression_ = compression_of(unread());
        if (compression_ == Compression::gzip) {
            decoder_ = make_gzip_decoder(options_.use_isal);
        } else if (compression_ == Compression::zstd) {
            decoder_ = make_zstd_decoder();
        }
        return {};
    }

    Result<std::size_t> read(std::span<char> into) {
        const auto got = compression_ == Compression::none ? read_plain(into) : read_packed(into);
        if (got) {
            given_ += *got;
            if (given_ > options_.max_size) {
                return std::unexpected(too_large(shown_, options_.max_size, compression_));
            }
        }
        return got;
    }

    Compression compression() const { return compression_; }
    const std::optional<Error>& damage() const { return damage_; }
    const std::string& shown() const { return shown_; }

  private:
    std::string_view unread() const {
        return std::string_view(block_).substr(0, end_).substr(begin_);
    }

    Result<std::size_t> read_plain(std::span<char> into) {
        if (begin_ < end_) {
            const auto size = unread().copy(into.data(), into.size());
            begin_ += size;
            return size;
        }
        return read_some(fd_.get(), into, shown_);
    }

    Result<std::size_t> read_packed(std::span<char> into) {
        while (!damage_) {
            if (auto filled = fill(); !filled) {
                return std::unexpected(filled.error());
            }
            if (!in_member_ && !begin_member()) {
                return 0;
            }
            const auto done = decoder_->step(unread(), into);
            begin_ += done.consumed;
            packed_ += done.consumed;
            unpacked_ += done.produced;
            in_member_ = !done.ended;
            if (!done.damage.empty()) {
                note_damage("is damaged (" + done.damage + ')');
            } else if (at_end_ && in_member_ && done.consumed == 0 && done.produced == 0) {
                note_damage("is cut short");
            }
            if (done.produced > 0) {
                return done.produced;
            }
        }
        return 0;
    }

    Result<void> fill() {
        if (begin_ < end_ || at_end_) {
            return {};
        }
        const auto got = read_some(fd_.get(), block_, shown_);
        if (!got) {
            return std::unexpected(got.error());
        }
        begin_ = 0;
        end_ = *got;
        at_end_ = *got == 0;
        return {};
    }

    // False at the end. gzip files may be padded with zeros, as tapes and some uploads do.
    bool begin_member() {
        while (compression_ == Compression::gzip && unread().starts_with('\0') && packed_ > 0) {
            begin_ += std::min(unread().find_first_not_of('\0'), unread().size());
            if (auto filled = fill(); !filled) {
                damage_ = filled.error();
                return false;
            }
        }
        if (unread().empty()) {
            return false;
        }
        if (!decoder_->may_start(unread())) {
            note_damage("is followed by other data");
            return false;
        }
        decoder_->start();
        in_member_ = true;
        return true;
    }

    void note_damage(const std::string& what) {
        damage_ =
            Error::because("read all of", shown_,
                           fmt::format("the {} data {} after {} bytes, which unpack to {}",
                                       compression_name(compression_), what, packed_, unpacked_));
    }

    std::string shown_;
    Fd fd_;
    InputOptions options_;
    Compression compression_ = Compression::none;
    std::unique_ptr<Decoder> decoder_;
    std::string block_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    bool at_end_ = false;
    bool in_member_ = false;
    std::uint64_t packed_ = 0;
    std::uint64_t unpacked_ = 0;
    std::uint64_t given_ = 0;
    std::optional<Error> damage_;
};

InputStream::InputStream(std::unique_ptr<InputSource> source) : source_(std::move(source)) {}
InputStream::InputStream(InputStream&&) noexcept = default;
InputStream& InputStream::operator=(InputStream&&) noexcept = default;
InputStream::~InputStream() = default;

Result<InputStream> InputStream::open(const std::string& path, const InputOptions& options) {
    auto fd = open_input(path);
    if (!fd) {
        return std::unexpected(fd.error());
    }
    return of(std::move(*fd), shown_name(path), options);
}

Result<InputStream> InputStream::of(Fd fd, std::string shown, const InputOptions& options) {
    auto source = std::make_unique<InputSource>(std::move(fd), std::move(shown), options);
    if (auto begun = source->begin(); !begun) {
        return std::unexpected(begun.error());
    }
    return InputStream(std::move(source));
}

Result<std::size_t> InputStream::read(std::span<char> into) {
    return source_->read(into);
}
Compression InputStream::compression() const {
    return source_->compression();
}
const std::optional<Error>& InputStream::damage() const {
    return source_->damage();
}
const std::string& InputStream::shown() const {
    return source_->shown();
}

/// Makes the two kinds of InputBytes.
class InputLoader {
  public:
    static InputBytes mapped(MappedFile file) {
        InputBytes bytes;
        bytes.held_ = std::move(file);
        return bytes;
    }

    // realloc() moves large blocks by remapping their pages, so that growing costs no copy.
    static Result<InputBytes> unpacked(InputStream stream) {
        OwnedBytes buffer;
        std::size_t room = 0;
        for (;;) {
            if (buffer.size == room) {
                room = std::max<std::size_t>(room * 2, 1U << 16);
                auto* const grown = static_cast<char*>(std::realloc(buffer.data.get(), room));
                if (grown == nullptr) {
                    return std::unexpected(Error("read", stream.shown(), ENOMEM));
                }
                std::ignore = buffer.data.release();
                buffer.data.reset(grown);
            }
            const auto got = stream.read({buffer.data.get() + buffer.size, room - buffer.size});
            if (!got) {
                return std::unexpected(got.error());
            }
            if (*got == 0) {
                break;
            }
            buffer.size += *got;
        }
        InputBytes bytes;
        bytes.held_ = std::move(buffer);
        bytes.compression_ = stream.compression();
        bytes.damage_ = stream.damage();
        return bytes;
    }
};

Result<InputBytes> InputBytes::load(const std::string& path, const InputOptions& options) {
    auto fd = open_input(path);
    if (!fd) {
        return std::unexpected(fd.error());
    }
    struct stat status = {};
    char first[4] = {};
    // pread() leaves the position alone; a pipe has none and is read as a stream.
    const bool regular = ::fstat(fd->get(), &status) == 0 && S_ISREG(status.st_mode) &&
                         ::lseek(fd->get(), 0, SEEK_CUR) == 0;
    const auto got = regular ? ::pread(fd->get(), first, sizeof first, 0) : -1;
    if (got >= 0 && compression_of({first, static_cast<std::size_t>(got)}) == Compression::none) {
        if (static_cast<std::uint64_t>(status.st_size) > options.max_size) {
            return std::unexpected(
                too_large(shown_name(path), options.max_size, Compression::none));
        }
        auto file = MappedFile::of(*fd, shown_name(path));
        if (!file) {
            return std::unexpected(file.error());
        }
        return InputLoader::mapped(std::move(*file));
    }
    auto stream = InputStream::of(std::move(*fd), shown_name(path), options);
    if (!stream) {
        return std::unexpected(stream.error());
    }
    return InputLoader::unpacked(std::move(*stream));
}

std::string_view InputBytes::bytes() const {
    if (const auto* const mapped = mapping()) {
        return mapped->bytes();
    }
    const auto& buffer = std::get<OwnedBytes>(held_);
    return {buffer.data.get(), buffer.size};
}

}  // namespace mapdiag
