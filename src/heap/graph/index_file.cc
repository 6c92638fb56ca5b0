#include "heap/graph/index_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "heap/graph/checksum.h"
#include "heap/graph/leaders.h"
#include "heap/reader/string_pool.h"
#include "mapdiag/support/fd.h"
#include "mapdiag/support/output_file.h"
#include "mapdiag/support/parallel.h"
#include "mapdiag/support/text.h"

namespace mapdiag::heap {
namespace {

// By Values: what its numbers must stay below.
using Limits = std::array<std::uint64_t, static_cast<std::size_t>(Values::kCount)>;

constexpr std::array<char, 16> kMagic = {'m', 'a', 'p', 'd', 'i', 'a', 'g', ' ',
                                         'h', 'e', 'a', 'p', ' ', 'i', 'x', '\n'};
constexpr std::size_t kAlignment = 64;
constexpr std::size_t kMaxColumns = 32;
// Written as a number, so that a machine of the other byte order reads something else.
constexpr std::uint32_t kByteOrder = 0x01020304;

enum class Kind : std::uint32_t { kGraph = 1, kTree = 2, kStrings = 3 };

struct ColumnPlace {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t element = 0;
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
    ColumnPlace sums;  // one checksum for each block of each column
    std::uint64_t sums_checksum = 0;
    std::uint64_t checksum = 0;  // of all that stands before
};

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
    use(c.address, Values::kAny);
    use(c.size, Values::kAny);
    use(c.type, Values::kType);
    use(c.length, Values::kAny);
    use(c.line, Values::kAny);
    use(c.child_start, Values::kChildPlace);
    use(c.children, Values::kAnyObject);
    use(c.parent_start, Values::kParentPlace);
    use(c.parents, Values::kObject);
    use(c.slots, Values::kObject);
    use(c.merged, Values::kMergedDict);
    use(c.named, Values::kObject);
    use(c.name, Values::kName);
    use(c.name_start, Values::kNamePlace);
    use(c.name_bytes, Values::kAny);
    use(c.type_start, Values::kTypeNamePlace);
    use(c.type_bytes, Values::kAny);
    use(c.type_totals, Values::kTypeTotals);
    use(c.texts, Values::kObject);
    use(c.text_hashes, Values::kAny);
    use(c.leaders, Values::kObject);
    use(c.leader_start, Values::kLeaderPlace);
}

template <class Tree, class Use>
void for_each_tree_column(Tree& tree, Use use) {
    use(tree.dominator, Values::kObject);
    use(tree.retained, Values::kAny);
    use(tree.type_retained, Values::kAny);
    use(tree.type_top, Values::kAny);
    use(tree.roots, Values::kObject);
    use(tree.top, Values::kObject);
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
        header_.columns[header_.column_count++] = place(bytes, sizeof(T));
        const auto block = BlockGuard::kBlock * sizeof(T);
        const auto first = sums_.size();
        sums_.resize(first + BlockGuard::blocks_for(values.size()));
        in_parallel(sums_.size() - first, [&](std::size_t i) {
            sums_[first + i] = checksum_of(bytes.substr(i * block, block));
        });
    }

    Result<void> write(const std::string& path) {
        const auto sums = bytes_of(std::span<const std::uint64_t>(sums_));
        header_.sums = place(sums, sizeof(std::uint64_t));
        header_.sums_checksum = checksum_of(sums);
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
    ColumnPlace place(std::string_view bytes, std::size_t element) {
        columns_.push_back(bytes);
        return {.offset = std::exchange(next_offset_, aligned(next_offset_ + bytes.size())),
                .bytes = bytes.size(),
                .element = element};
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
    std::vector<std::uint64_t> sums_;
};

class Reader {
  public:
    // Nothing where the file is no index of this kind for this dump, or where its header or its
    // checksums are damaged. The columns are checked when they are read.
    static std::optional<Reader> open(const std::string& path, Kind kind, const IndexKey& key) {
        if (!is_own_file(path)) {
            return std::nullopt;
        }
        auto file = MappedFile::open(path);
        if (!file || file->bytes().size() < sizeof(Header)) {
            return std::nullopt;
        }
        Reader reader(std::move(*file));
        return reader.fits(kind, key) && reader.has_sums() ? std::optional(std::move(reader))
                                                           : std::nullopt;
    }

    template <class T>
    void take(Column<T>& into, Values values) {
        if (next_ >= header_.column_count || header_.columns[next_].element != sizeof(T) ||
            !is_inside(header_.columns[next_])) {
            ok_ = false;
            return;
        }
        const auto& place = header_.columns[next_++];
        const auto bytes = index_.file.bytes().substr(place.offset, place.bytes);
        const std::span elements(reinterpret_cast<const T*>(bytes.data()),
                                 bytes.size() / sizeof(T));
        const auto blocks = BlockGuard::blocks_for(elements.size());
        if (blocks > sums_.size()) {
            ok_ = false;
            return;
        }
        index_.guards.push_back(
            std::make_unique<BlockGuard>(bytes, sizeof(T), sums_.first(blocks), values));
        sums_ = sums_.subspan(blocks);
        into = Column<T>(elements, index_.guards.back().get());
    }

    bool took_all() const { return ok_ && next_ == header_.column_count && sums_.empty(); }
    const GraphFacts& facts() const { return header_.facts; }

    // Limits for the numbers in each column.
    MappedIndex release(const Limits& limits) {
        for (const auto& guard : index_.guards) {
            guard->set_limit(limits[static_cast<std::size_t>(guard->values())]);
        }
        return std::move(index_);
    }

  private:
    explicit Reader(MappedFile file) : index_{.file = std::move(file), .guards = {}} {
        std::memcpy(static_cast<void*>(&header_), index_.file.bytes().data(), sizeof header_);
    }

    bool fits(Kind kind, const IndexKey& key) const {
        return header_.magic == kMagic && header_.byte_order == kByteOrder &&
               header_.version == kIndexVersion && header_.checksum == header_checksum(header_) &&
               header_.kind == static_cast<std::uint32_t>(kind) && header_.key.dump == key.dump &&
               header_.key.sample == key.sample && header_.key.raw == key.raw &&
               header_.column_count <= kMaxColumns;
    }

    bool is_inside(const ColumnPlace& place) const {
        const auto size = index_.file.bytes().size();
        return place.offset % kAlignment == 0 && place.offset <= size &&
               place.bytes <= size - place.offset && place.bytes % place.element == 0;
    }

    bool has_sums() {
        if (header_.sums.element != sizeof(std::uint64_t) || !is_inside(header_.sums)) {
            return false;
        }
        const auto bytes = index_.file.bytes().substr(header_.sums.offset, header_.sums.bytes);
        sums_ = {reinterpret_cast<const std::uint64_t*>(bytes.data()),
                 bytes.size() / sizeof(std::uint64_t)};
        return checksum_of(bytes) == header_.sums_checksum;
    }

    MappedIndex index_;
    Header header_;
    std::span<const std::uint64_t> sums_;
    std::size_t next_ = 0;
    bool ok_ = true;
};

// Checksums say that the file is what was written; this and the limits, that no number in it leads
// outside, whoever wrote it.
bool has_consistent_sizes(const GraphFacts& facts, const GraphColumns& c) {
    constexpr std::uint64_t kMost = UINT32_MAX - 1;
    if (facts.line_objects > kMost || facts.missing > kMost - facts.line_objects) {
        return false;
    }
    const auto end = facts.line_objects + 1;
    const auto end_all = end + facts.missing;
    const auto types = c.type_totals.size();
    return c.address.size() == end_all && c.size.size() == end && c.type.size() == end &&
           c.length.size() == end && c.line.size() == end && types != 0 && types <= kMost &&
           c.name_start.size() != 0 && c.child_start.size() == end + 1 &&
           c.parent_start.size() == end_all + 1 && c.type_start.size() == types &&
           c.leader_start.size() == types + 1 && c.slots.size() > facts.line_objects &&
           c.name.size() == c.named.size() && c.text_hashes.size() == c.texts.size();
}

Limits limits_of(const GraphFacts& facts, const GraphColumns& c) {
    Limits limits{};
    const auto end = facts.line_objects + 1;
    const auto set = [&](Values values, std::uint64_t limit) {
        limits[static_cast<std::size_t>(values)] = limit;
    };
    set(Values::kObject, end);
    set(Values::kAnyObject, end + facts.missing);
    set(Values::kType, c.type_totals.size());
    set(Values::kChildPlace, c.children.size() + 1);
    set(Values::kParentPlace, c.parents.size() + 1);
    set(Values::kName, c.name_start.size() - 1);
    set(Values::kLeaderPlace, c.leaders.size() + 1);
    set(Values::kNamePlace, c.name_bytes.size() + 1);
    set(Values::kTypeNamePlace, c.type_bytes.size() + 1);
    set(Values::kMergedDict, end);
    set(Values::kTypeTotals, end);
    return limits;
}

bool has_consistent_sizes(const DominatorTree& tree, const Graph& graph) {
    return tree.dominator.size() == graph.end() && tree.retained.size() == graph.end() &&
           tree.type_retained.size() == graph.type_count() &&
           tree.type_top.size() == graph.type_count();
}

Limits limits_of(const Graph& graph) {
    Limits limits{};
    limits[static_cast<std::size_t>(Values::kObject)] = graph.end();
    limits[static_cast<std::size_t>(Values::kStringGroup)] = graph.end();
    return limits;
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
    for_each_graph_column(columns,
                          [&](auto& column, Values values) { reader->take(column, values); });
    Column<char> said;
    reader->take(said, Values::kAny);
    if (!reader->took_all() || !has_consistent_sizes(reader->facts(), columns)) {
        return std::nullopt;
    }
    const auto facts = reader->facts();
    auto index = reader->release(limits_of(facts, columns));
    std::vector<std::string> warnings;
    try {
        for (const auto line : split({said.span().data(), said.size()}, '\n')) {
            if (!line.empty()) {
                warnings.emplace_back(line);
            }
        }
    } catch (const DamagedIndex&) {
        return std::nullopt;
    }
    return IndexedGraph{std::move(index), Graph(facts, std::move(columns)), std::move(warnings)};
}

Result<void> write_graph_index(const std::string& path, const IndexKey& key, const Graph& graph,
                               const std::vector<std::string>& warnings) {
    Writer writer(Kind::kGraph, key);
    writer.set_facts(graph.facts());
    const auto leaders = find_leaders(graph);
    const auto& columns = graph.columns();
    for_each_graph_column(columns, [&](const auto& column, Values) {
        if (static_cast<const void*>(&column) == &columns.leaders) {
            writer.add(leaders.objects.span());
        } else if (static_cast<const void*>(&column) == &columns.leader_start) {
            writer.add(leaders.start.span());
        } else {
            writer.add(column.span());
        }
    });
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
    for_each_tree_column(tree, [&](auto& column, Values values) { reader->take(column, values); });
    if (!reader->took_all() || !has_consistent_sizes(tree, graph)) {
        return std::nullopt;
    }
    return IndexedTree{reader->release(limits_of(graph)), std::move(tree)};
}

Result<void> write_tree_index(const std::string& path, const IndexKey& key,
                              const DominatorTree& tree) {
    Writer writer(Kind::kTree, key);
    for_each_tree_column(tree, [&](const auto& column, Values) { writer.add(column.span()); });
    return writer.write(path);
}

std::optional<StringsView> find_indexed_strings(const std::string& path, const IndexKey& key,
                                                const Graph& graph) {
    auto reader = Reader::open(path, Kind::kStrings, key);
    if (!reader) {
        return std::nullopt;
    }
    Column<std::uint64_t> totals;
    Column<StringGroup> largest;
    reader->take(totals, Values::kAny);
    reader->take(largest, Values::kStringGroup);
    if (!reader->took_all() || totals.size() != 6) {
        return std::nullopt;
    }
    const auto index = reader->release(limits_of(graph));
    try {
        const auto groups = largest.span();
        return StringsView{.strings = totals[0],
                           .size = totals[1],
                           .groups = totals[2],
                           .wasted = totals[3],
                           .wasted_maybe = totals[4],
                           .largest = {groups.begin(), groups.end()},
                           .others_wasted = totals[5]};
    } catch (const DamagedIndex&) {
        return std::nullopt;
    }
}

Result<void> write_strings_index(const std::string& path, const IndexKey& key,
                                 const StringsView& view) {
    Writer writer(Kind::kStrings, key);
    const std::array<std::uint64_t, 6> totals = {
        view.strings, view.size, view.groups, view.wasted, view.wasted_maybe, view.others_wasted};
    writer.add(std::span<const std::uint64_t>(totals));
    writer.add(std::span<const StringGroup>(view.largest));
    return writer.write(path);
}

}  // namespace mapdiag::heap
