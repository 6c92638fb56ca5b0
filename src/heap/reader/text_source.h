#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heap/reader/raw_chunk.h"
#include "mapdiag/heap/limits.h"
#include "mapdiag/support/error.h"
#include "mapdiag/support/mapped_file.h"

namespace mapdiag::heap {

/// How the text of a dump ended.
struct TextEnd {
    /// What ended a compressed stream too early; empty where all was there.
    std::string damage;
};

/// The text of a dump file, plain or compressed. Places in it are offsets in the opened text.
class TextSource {
  public:
    static Result<TextSource> open(const std::string& path, const LoadLimits& limits);

    bool is_compressed() const { return compressed_; }
    /// As it is on disk.
    std::string_view file_bytes() const { return file_.bytes(); }
    std::uint64_t file_size() const { return file_.bytes().size(); }
    /// The first bytes of the text, for telling what a file is that is no dump.
    std::string beginning() const;

    /// Reads all lines, on all processors. Chunks come in the order of the text.
    Result<TextEnd> read_chunks(std::uint64_t hash_key, const Progress& progress,
                                std::vector<RawChunk>& chunks) const;

    /// Calls use(i, line) with the text from offsets[i] to its line end. `offsets` ascend.
    using UseLine = std::function<void(std::size_t, std::string_view)>;
    Result<void> visit_lines(std::span<const std::uint64_t> offsets, const UseLine& use) const;

  private:
    TextSource(std::string path, MappedFile file)
        : path_(std::move(path)), file_(std::move(file)) {}

    Result<TextEnd> read_plain(std::uint64_t hash_key, const Progress& progress,
                               std::vector<RawChunk>& chunks) const;
    Result<TextEnd> read_compressed(std::uint64_t hash_key, const Progress& progress,
                                    std::vector<RawChunk>& chunks) const;
    Result<void> visit_compressed(std::span<const std::uint64_t> offsets, const UseLine& use) const;

    std::string path_;
    MappedFile file_;
    std::uint64_t text_limit_ = 0;
    bool compressed_ = false;
};

/// The ranges into which a text is split: near `wanted` bytes each, whole lines.
std::vector<std::string_view> split_at_line_ends(std::string_view text, std::size_t wanted);

}  // namespace mapdiag::heap
