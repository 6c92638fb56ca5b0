#include "heap/graph/index_file.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "heap/reader/string_pool.h"
#include "mapdiag/support/fd.h"
#include "mapdiag/support/output_file.h"
#include "mapdiag/support/parallel.h"
#include "mapdiag/support/text.h"

namespace mapdiag::heap {
namespace {

constexpr std::array<char, 16> kMagic = {'m', 'a', 'p', 'd', 'i', 'a', 'g', ' ',
                                         'h', 'e', 'a', 'p', ' ', 'i', 'x', '\n'};
constexpr std::size_t kAlignment = 64;
constexpr std::size_t kMaxColumns = 32;
constexpr std::size_t kChecksumPart = 4U << 20;
// Written as a number, so that a machine of the other byte order reads something else.
constexpr std::uint32_t kByteOrder = 0x01020304;

enum class Kind : std::uint32_t { kGraph = 1, kTree = 2 };

struct ColumnPlace {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t element = 0;
    std::uint64_t checksum = 0;
};

struct Header {
    std::array<char, 16> magic = kMagic;
    std::uint32_t byte_order = kByteOrder;
    std::uint32_t version = kIndexVersion;
    std::uint32_t kind = 0;
    std::uint32_t column_count = 0;
    IndexKey key;
    GraphFacts facts;
    std::array<ColumnPlace, kMaxColumns> columns{};
    std::uint64_t checksum = 0;  // of all that stands before
};

// Every word changes one lane and no two lanes meet before the end, so that any single damaged word
// is found; eight lanes keep the multiplier busy.
std::uint64_t checksum_of(std::string_view bytes) {
    std::array<std::uint64_t, 8> lanes = {1, 2, 3, 4, 5, 6, 7, 8};
    const char* at = bytes.data();
    auto left = bytes.size();
    for (; left >= 64; at += 64, left -= 64) {
        std::array<std::uint64_t, 8> words{};
        std::memcpy(words.data(), at, 64);
        for (std::size_t i = 0; i < 8; ++i) {
            lanes[i] = (lanes[i] ^ words[i]) * 0x9E3779B97F4A7C15ULL;
        }
    }
    auto sum = hash_bytes({at, left}, bytes.size());
    for (const auto lane : lanes) {
        sum = (sum ^ lane) * 0xD6E8FEB86659FD93ULL;
        sum ^= sum >> 29;
    }
    return sum;
}

// The same over parts, so that all processors can work on it.
std::uint64_t checksum_in_parallel(std::string_view bytes) {
    const auto parts = bytes.size() / kChecksumPart + 1;
    std::vector<std::uint64_t> sums(parts);
    in_parallel(parts, [&](std::size_t part) {
        sums[part] = checksum_of(bytes.substr(part * kChecksumPart, kChecksumPart));
    });
    return checksum_of({reinterpret_cast<const char*>(sums.data()), parts * sizeof(std::uint64_t)});
}

std::uint64_t header_checksum(const Header& header) {
    return checksum_of({reinterpret_cast<const char*>(&header), offsetof(Header, checksum)});
}

template <class T>
std::string_view bytes_of(std::span<const T> values) {
    return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

// The columns in the order of the file. One list serves writing and reading.
template <class Columns, class Use>
void for_each_graph_column(Columns& c, Use use) {
    use(c.address);
    use(c.size);
    use(c.type);
    use(c.length);
    use(c.line);
    use(c.child_start);
    use(c.children);
    use(c.parent_start);
    use(c.parents);
    use(c.slots);
    use(c.merged);
    use(c.named);
    use(c.name);
    use(c.name_start);
    use(c.name_bytes);
    use(c.type_start);
    use(c.type_bytes);
    use(c.type_totals);
    use(c.texts);
    use(c.text_hashes);
}

template <class Tree, class Use>
void for_each_tree_column(Tree& tree, Use use) {
    use(tree.dominator);
    use(tree.retained);
    use(tree.type_retained);
    use(tree.type_top);
    use(tree.roots);
    use(tree.top);
}

class Writer {
  public:
    Writer(Kind kind, const IndexKey& key) {
        // Padding bytes must be the same every time, as the checksum covers them.
        std::memset(static_cast<void*>(&header_), 0, sizeof header_);
        header_.magic = kMagic;
        header_.byte_order = kByteOrder;
        header_.version = kIndexVersion;
        header_.kind = static_cast<std::uint32_t>(kind);
        header_.key = key;
        next_offset_ = aligned(sizeof header_);
    }

    void set_facts(const GraphFacts& facts) { header_.facts = facts; }

    template <class T>
    void add(std::span<const T> values) {
        const auto bytes = bytes_of(values);
        header_.columns[header_.column_count++] = {.offset = next_offset_,
                                                   .bytes = bytes.size(),
                                                   .element = sizeof(T),
                                                   .checksum = checksum_in_parallel(bytes)};
        columns_.push_back(bytes);
        next_offset_ = aligned(next_offset_ + bytes.size());
    }

    Result<void> write(const std::string& path) {
        header_.checksum = header_checksum(header_);
        // It tells addresses, names and sizes: to be read by those who may read the dump is too
        // wide a guess, so it is for its writer alone.
        auto file = OutputFile::create(path, 0600);
        if (!file) {
            return std::unexpected(file.error());
        }
        const auto fd = file->descriptor();
        if (!fd) {
            return std::unexpected(fd.error());
        }
        auto written = put(*fd, {reinterpret_cast<const char*>(&header_), sizeof header_}, path);
        for (std::size_t i = 0; written && i < columns_.size(); ++i) {
            written = put(*fd, columns_[i], path);
        }
        return written ? file->commit() : written;
    }

  private:
    static std::uint64_t aligned(std::uint64_t offset) {
        return (offset + kAlignment - 1) / kAlignment * kAlignment;
    }
    static Result<void> put(int fd, std::string_view bytes, const std::string& path) {
        constexpr std::array<char, kAlignment> kPadding{};
        auto written = write_all(fd, bytes, path);
        const auto padding = aligned(bytes.size()) - bytes.size();
        return written ? write_all(fd, {kPadding.data(), padding}, path) : written;
    }

    Header header_;
    std::uint64_t next_offset_;
    std::vector<std::string_view> columns_;
};

class Reader {
  public:
    // Nothing where the file is not a sound index of this kind for this dump.
    static std::optional<Reader> open(const std::string& path, Kind kind, const IndexKey& key) {
        if (!is_own_file(path)) {
            return std::nullopt;
        }
        auto file = MappedFile::open(path);
        if (!file || file->bytes().size() < sizeof(Header)) {
            return std::nullopt;
        }
        Reader reader(std::move(*file));
        return reader.fits(kind, key) && reader.is_undamaged() ? std::optional(std::move(reader))
                                                               : std::nullopt;
    }

    template <class T>
    void take(Column<T>& into) {
        if (next_ >= header_.column_count || header_.columns[next_].element != sizeof(T)) {
            ok_ = false;
            return;
        }
        const auto& place = header_.columns[next_++];
        const auto* const data = reinterpret_cast<const T*>(file_.bytes().data() + place.offset);
        into = Column<T>(std::span<const T>(data, place.bytes / sizeof(T)));
    }

    bool took_all() const { return ok_ && next_ == header_.column_count; }
    const GraphFacts& facts() const { return header_.facts; }
    MappedFile release() { return std::move(file_); }

  private:
    explicit Reader(MappedFile file) : file_(std::move(file)) {
        std::memcpy(static_cast<void*>(&header_), file_.bytes().data(), sizeof header_);
    }

    bool fits(Kind kind, const IndexKey& key) const {
        return header_.magic == kMagic && header_.byte_order == kByteOrder &&
               header_.version == kIndexVersion && header_.checksum == header_checksum(header_) &&
               header_.kind == static_cast<std::uint32_t>(kind) && header_.key.dump == key.dump &&
               header_.key.sample == key.sample && header_.key.raw == key.raw &&
               header_.column_count <= kMaxColumns;
    }

    bool is_undamaged() const {
        for (std::size_t i = 0; i < header_.column_count; ++i) {
            const auto& place = header_.columns[i];
            if (place.offset % kAlignment != 0 || place.offset > file_.bytes().size() ||
                place.bytes > file_.bytes().size() - place.offset || place.element == 0 ||
                checksum_in_parallel(file_.bytes().substr(place.offset, place.bytes)) !=
                    place.checksum) {
                return false;
            }
        }
        return true;
    }

    MappedFile file_;
    Header header_;
    std::size_t next_ = 0;
    bool ok_ = true;
};

// True if check(i) holds for all i below `size`.
template <class Check>
bool all_of_parallel(std::size_t size, Check check) {
    std::atomic<bool> good = true;
    const auto parts = size / 262144 + 1;
    in_parallel(parts, [&](std::size_t part) {
        const auto range = part_of(size, part, parts);
        bool part_good = true;
        for (auto i = range.begin; i < range.end; ++i) {
            part_good &= check(i);
        }
        if (!part_good) {
            good = false;
        }
    });
    return good;
}

template <class Start>
bool are_rows(std::span<const Start> starts, std::size_t rows, std::size_t cells) {
    return starts.size() == rows + 1 && starts.front() == 0 && starts.back() == cells &&
           all_of_parallel(rows, [&](std::size_t i) { return starts[i] <= starts[i + 1]; });
}

template <class T>
bool are_below(std::span<const T> ids, std::uint32_t end) {
    return all_of_parallel(ids.size(), [&](std::size_t i) { return ids[i].value < end; });
}

// Checksums say that the file is what was written; this, that no number in it leads outside,
// whoever wrote it.
bool is_consistent(const GraphFacts& facts, const GraphColumns& c) {
    constexpr std::uint64_t kMost = UINT32_MAX - 1;
    if (facts.line_objects > kMost || facts.missing > kMost - facts.line_objects) {
        return false;
    }
    const auto end = static_cast<std::uint32_t>(facts.line_objects + 1);
    const auto end_all = static_cast<std::uint32_t>(end + facts.missing);
    const auto types = static_cast<std::uint32_t>(c.type_totals.size());
    const auto names = static_cast<std::uint32_t>(c.name_start.size() - 1);
    return c.address.size() == end_all && c.size.size() == end && c.type.size() == end &&
           c.length.size() == end && c.line.size() == end && types != 0 &&
           !c.name_start.span().empty() && are_rows(c.child_start.span(), end, c.children.size()) &&
           are_rows(c.parent_start.span(), end_all, c.parents.size()) &&
           are_rows(c.type_start.span(), types - 1, c.type_bytes.size()) &&
           are_rows(c.name_start.span(), names, c.name_bytes.size()) &&
           are_below(c.children.span(), end_all) && are_below(c.parents.span(), end) &&
           are_below(c.type.span(), types) && are_below(c.slots.span(), end) &&
           c.slots.size() > facts.line_objects && are_below(c.named.span(), end) &&
           are_below(c.texts.span(), end) && c.name.size() == c.named.size() &&
           c.text_hashes.size() == c.texts.size() &&
           all_of_parallel(c.name.size(), [&](std::size_t i) { return c.name[i] < names; }) &&
           all_of_parallel(c.merged.size(),
                           [&](std::size_t i) {
                               return c.merged[i].owner.value < end && c.merged[i].dict.value < end;
                           }) &&
           all_of_parallel(
               types, [&](std::size_t i) { return c.type_totals[i].largest_object.value < end; });
}

bool is_consistent(const DominatorTree& tree, const Graph& graph) {
    return tree.dominator.size() == graph.end() && tree.retained.size() == graph.end() &&
           tree.type_retained.size() == graph.type_count() &&
           tree.type_top.size() == graph.type_count() &&
           are_below(tree.roots.span(), graph.end()) && are_below(tree.top.span(), graph.end()) &&
           are_below(tree.dominator.span(), graph.end());
}

}  // namespace

std::uint64_t sample_of(std::string_view dump) {
    constexpr std::size_t kPiece = 4096;
    constexpr std::size_t kPieces = 18;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kPieces; ++i) {
        const auto range = dump.size() > kPiece ? (dump.size() - kPiece) / (kPieces - 1) * i : 0;
        sum = hash_bytes(dump.substr(range, kPiece), sum);
    }
    return hash_bytes(dump.substr(dump.size() - std::min(dump.size(), kPiece)), sum);
}

std::optional<IndexedGraph> find_indexed_graph(const std::string& path, const IndexKey& key) {
    auto reader = Reader::open(path, Kind::kGraph, key);
    if (!reader) {
        return std::nullopt;
    }
    GraphColumns columns;
    for_each_graph_column(columns, [&](auto& column) { reader->take(column); });
    Column<char> said;
    reader->take(said);
    if (!reader->took_all() || !is_consistent(reader->facts(), columns)) {
        return std::nullopt;
    }
    std::vector<std::string> warnings;
    for (const auto line : split({said.span().data(), said.size()}, '\n')) {
        if (!line.empty()) {
            warnings.emplace_back(line);
        }
    }
    const auto facts = reader->facts();
    return IndexedGraph{reader->release(), Graph(facts, std::move(columns)), std::move(warnings)};
}

Result<void> write_graph_index(const std::string& path, const IndexKey& key, const Graph& graph,
                               const std::vector<std::string>& warnings) {
    Writer writer(Kind::kGraph, key);
    writer.set_facts(graph.facts());
    for_each_graph_column(graph.columns(), [&](const auto& column) { writer.add(column.span()); });
    std::string said;
    for (const auto& warning : warnings) {
        said += warning + '\n';
    }
    writer.add(std::span<const char>(said));
    return writer.write(path);
}

std::optional<IndexedTree> find_indexed_tree(const std::string& path, const IndexKey& key,
                                             const Graph& graph) {
    auto reader = Reader::open(path, Kind::kTree, key);
    if (!reader) {
        return std::nullopt;
    }
    DominatorTree tree;
    for_each_tree_column(tree, [&](auto& column) { reader->take(column); });
    if (!reader->took_all() || !is_consistent(tree, graph)) {
        return std::nullopt;
    }
    return IndexedTree{reader->release(), std::move(tree)};
}

Result<void> write_tree_index(const std::string& path, const IndexKey& key,
                              const DominatorTree& tree) {
    Writer writer(Kind::kTree, key);
    for_each_tree_column(tree, [&](const auto& column) { writer.add(column.span()); });
    return writer.write(path);
}

}  // namespace mapdiag::heap
