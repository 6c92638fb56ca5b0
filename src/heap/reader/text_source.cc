#include "heap/reader/text_source.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <optional>

#include "mapdiag/heap/messages.h"
#include "mapdiag/support/decompress.h"
#include "mapdiag/support/parallel.h"

namespace mapdiag::heap {
namespace {

// Large enough that joining chunks costs nothing, small enough for even work and prompt progress.
constexpr std::size_t kChunk = 8U << 20;

// What a compressed dump may open to where nobody said: text like this packs to a sixth or a tenth.
constexpr std::uint64_t kUsualExpansion = 64;
constexpr std::uint64_t kSmallestTextLimit = 256U << 20;

// Opened text in runs of whole lines, each of which is valid until the next but one is asked for.
class LineRuns {
  public:
    LineRuns(InputStream stream, std::uint64_t limit) : stream_(std::move(stream)), limit_(limit) {}

    struct Run {
        std::string_view text;
        std::uint64_t offset = 0;
        bool last = false;
    };

    // An empty last run at the end.
    Result<Run> next() {
        auto& buffer = buffers_[turn_ ^= 1];
        buffer.assign(carry_);
        const auto offset = offset_;
        for (;;) {
            const auto got = fill(buffer);
            if (!got) {
                return std::unexpected(got.error());
            }
            if (!*got) {
                carry_.clear();
                offset_ += buffer.size();
                return Run{buffer, offset, true};
            }
            const auto line_end = buffer.rfind('\n');
            if (line_end == std::string::npos) {
                continue;  // a very long line
            }
            carry_.assign(buffer, line_end + 1);
            offset_ += line_end + 1;
            return Run{std::string_view(buffer).substr(0, line_end + 1), offset, false};
        }
    }

    const std::optional<Error>& damage() const { return stream_.damage(); }

  private:
    // Adds up to kChunk bytes; false at the end.
    Result<bool> fill(std::string& buffer) {
        const auto before = buffer.size();
        buffer.resize(before + kChunk);
        auto used = before;
        while (used < buffer.size()) {
            const auto got = stream_.read({buffer.data() + used, buffer.size() - used});
            if (!got) {
                return std::unexpected(got.error());
            }
            used += *got;
            read_ += *got;
            if (read_ > limit_) {
                return std::unexpected(opens_to_too_much(stream_.shown(), limit_));
            }
            if (*got == 0) {
                break;
            }
        }
        buffer.resize(used);
        return used != before;
    }

    InputStream stream_;
    std::uint64_t limit_;
    std::uint64_t read_ = 0;
    std::uint64_t offset_ = 0;
    std::string carry_;
    std::array<std::string, 2> buffers_;
    std::size_t turn_ = 0;
};

}  // namespace

Result<TextSource> TextSource::open(const std::string& path, const LoadLimits& limits) {
    auto file = MappedFile::open(path);
    if (!file) {
        return std::unexpected(file.error());
    }
    auto stream = InputStream::open(path);
    if (!stream) {
        return std::unexpected(stream.error());
    }
    TextSource source(path, std::move(*file));
    source.compressed_ = stream->compression() != Compression::none;
    source.text_limit_ = limits.text != 0
                             ? limits.text
                             : std::max(kSmallestTextLimit, source.file_size() * kUsualExpansion);
    return source;
}

std::string TextSource::beginning() const {
    constexpr std::size_t kEnough = 4096;
    if (!compressed_) {
        return std::string(file_.bytes().substr(0, kEnough));
    }
    auto stream = InputStream::open(path_);
    std::string out(kEnough, '\0');
    std::size_t used = 0;
    while (stream && used < out.size()) {
        const auto got = stream->read({out.data() + used, out.size() - used});
        if (!got || *got == 0) {
            break;
        }
        used += *got;
    }
    out.resize(used);
    return out.empty() ? std::string(file_.bytes().substr(0, kEnough)) : out;
}

Result<TextEnd> TextSource::read_compressed(std::uint64_t hash_key, const Progress& progress,
                                            std::vector<RawChunk>& chunks) const {
    auto stream = InputStream::open(path_);
    if (!stream) {
        return std::unexpected(stream.error());
    }
    LineRuns runs(std::move(*stream), text_limit_);
    // Unpacking is the slower part: it goes on while the run before is read.
    std::future<RawChunk> reading;
    const auto collect = [&] {
        if (reading.valid()) {
            chunks.push_back(reading.get());
        }
    };
    for (bool last = false; !last;) {
        const auto run = runs.next();
        collect();
        if (!run) {
            return std::unexpected(run.error());
        }
        last = run->last;
        reading = std::async(std::launch::async, [place = *run, hash_key] {
            return read_chunk(place.text,
                              {.offset = place.offset, .hash_key = hash_key, .last = place.last});
        });
        if (progress) {
            progress("reading", -1);
        }
    }
    collect();
    TextEnd end;
    if (runs.damage()) {
        end.damage = runs.damage()->text();
    }
    return end;
}

Result<void> TextSource::visit_compressed(std::span<const std::uint64_t> offsets,
                                          const UseLine& use) const {
    auto stream = InputStream::open(path_);
    if (!stream) {
        return std::unexpected(stream.error());
    }
    LineRuns runs(std::move(*stream), text_limit_);
    std::size_t next = 0;
    for (bool last = false; !last && next < offsets.size();) {
        const auto run = runs.next();
        if (!run) {
            return std::unexpected(run.error());
        }
        last = run->last;
        for (; next < offsets.size() && offsets[next] - run->offset < run->text.size(); ++next) {
            const auto rest = run->text.substr(offsets[next] - run->offset);
            use(next, rest.substr(0, rest.find('\n')));
        }
    }
    return {};
}

std::vector<std::string_view> split_at_line_ends(std::string_view text, std::size_t wanted) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        auto size = text.size();
        if (size > wanted) {
            const auto line_end = text.find('\n', wanted - 1);
            size = line_end == std::string_view::npos ? size : line_end + 1;
        }
        parts.push_back(text.substr(0, size));
        text.remove_prefix(size);
    }
    return parts;
}

Result<TextEnd> TextSource::read_plain(std::uint64_t hash_key, const Progress& progress,
                                       std::vector<RawChunk>& chunks) const {
    const auto text = file_.bytes();
    const auto parts = split_at_line_ends(text, kChunk);
    chunks.resize(parts.size());
    std::atomic<std::size_t> done = 0;
    in_parallel(parts.size(), [&](std::size_t i) {
        const auto offset = static_cast<std::size_t>(parts[i].data() - text.data());
        chunks[i] = read_chunk(
            parts[i], {.offset = offset, .hash_key = hash_key, .last = i + 1 == parts.size()});
        // Pages that were read would count as this process's memory until the end.
        file_.drop(offset, parts[i].size());
        const auto read = done.fetch_add(parts[i].size()) + parts[i].size();
        if (progress) {
            progress("reading", static_cast<double>(read) / static_cast<double>(text.size()));
        }
    });
    return TextEnd{};
}

Result<TextEnd> TextSource::read_chunks(std::uint64_t hash_key, const Progress& progress,
                                        std::vector<RawChunk>& chunks) const {
    return compressed_ ? read_compressed(hash_key, progress, chunks)
                       : read_plain(hash_key, progress, chunks);
}

Result<void> TextSource::visit_lines(std::span<const std::uint64_t> offsets,
                                     const UseLine& use) const {
    if (compressed_) {
        return visit_compressed(offsets, use);
    }
    const auto text = file_.bytes();
    for (std::size_t i = 0; i < offsets.size(); ++i) {
        const auto rest = text.substr(std::min<std::size_t>(offsets[i], text.size()));
        use(i, rest.substr(0, rest.find('\n')));
    }
    return {};
}

}  // namespace mapdiag::heap
