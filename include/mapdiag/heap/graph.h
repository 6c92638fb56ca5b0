#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "mapdiag/heap/block_guard.h"
#include "mapdiag/support/big_array.h"
#include "mapdiag/support/ids.h"

namespace mapdiag::heap {

struct ObjectTag;
struct TypeTag;
/// An object's number: 1 for the dump's first line and so on; behind the last line come the numbers
/// of addresses that are referred to and have no line ("missing"). 0 is no object.
using ObjectId = Id<ObjectTag>;
/// A type's number. 0 is the type of what is no object of its own: a repeated line, or an instance
/// dict that was merged into its owner.
using TypeId = Id<TypeTag>;

/// How many of each type an index keeps as leaders.
inline constexpr std::uint32_t kLeaders = 100;

/// "len" was not given.
inline constexpr std::uint32_t kNoLength = UINT32_MAX;

/// One column of the graph: owned, or a view into a mapped index file whose blocks are checked when
/// they are first read (throws DamagedIndex).
template <class T>
class Column {
  public:
    Column() = default;
    explicit Column(BigArray<T> owned) : owned_(std::move(owned)), view_(owned_.span()) {}
    Column(std::span<const T> view, const BlockGuard* guard) : view_(view), guard_(guard) {}
    Column(Column&& other) noexcept
        : owned_(std::move(other.owned_)),
          view_(std::exchange(other.view_, {})),
          guard_(std::exchange(other.guard_, nullptr)) {}
    Column& operator=(Column&& other) noexcept {
        owned_ = std::move(other.owned_);
        view_ = std::exchange(other.view_, {});
        guard_ = std::exchange(other.guard_, nullptr);
        return *this;
    }
    Column(const Column&) = delete;
    Column& operator=(const Column&) = delete;
    ~Column() = default;

    std::size_t size() const { return view_.size(); }
    const T& operator[](std::size_t i) const {
        if (guard_ != nullptr) {
            guard_->check(i);
        }
        return view_[i];
    }
    /// The elements of [begin, end).
    std::span<const T> part(std::size_t begin, std::size_t end) const {
        if (guard_ != nullptr) {
            if (begin > end || end > view_.size()) {
                throw DamagedIndex();
            }
            guard_->check(begin, end);
        }
        return view_.subspan(begin, end - begin);
    }
    /// All of it: reads the whole column of an index.
    std::span<const T> span() const {
        if (guard_ != nullptr) {
            guard_->check_all();
        }
        return view_;
    }
    /// For the steps that build the graph; empty for a mapped column.
    std::span<T> owned() { return owned_.span(); }

  private:
    BigArray<T> owned_;
    std::span<const T> view_;
    const BlockGuard* guard_ = nullptr;
};

/// The first element of an ascending column that is not below `wanted`; size() where there is none.
/// Reads no more of it than it has to.
template <class T, class Wanted, class Key = std::identity>
std::size_t lower_bound_in(const Column<T>& column, const Wanted& wanted, Key key = {}) {
    std::size_t begin = 0;
    std::size_t size = column.size();
    while (size != 0) {
        const auto half = size / 2;
        const bool is_below = std::invoke(key, column[begin + half]) < wanted;
        begin = is_below ? begin + half + 1 : begin;
        size = is_below ? size - half - 1 : half;
    }
    return begin;
}

template <class T>
bool is_in(const Column<T>& column, const T& wanted) {
    const auto at = lower_bound_in(column, wanted);
    return at < column.size() && column[at] == wanted;
}

/// All objects of one type.
struct TypeTotals {
    std::uint64_t count = 0;
    std::uint64_t size = 0;     ///< bytes
    std::uint64_t largest = 0;  ///< bytes of the largest one
    ObjectId largest_object;    ///< the first such one
    std::uint32_t unused = 0;   ///< keeps the layout in the index file free of holes
};

/// Figures of the whole graph.
struct GraphFacts {
    std::uint64_t line_objects = 0;  ///< objects with a line, repeated ones too: ids 1 to this
    std::uint64_t missing = 0;       ///< distinct addresses that are referred to and have no line
    std::uint64_t missing_refs = 0;  ///< references to these
    std::uint64_t objects = 0;       ///< objects, without repeated lines and merged dicts
    std::uint64_t size = 0;          ///< bytes of all objects
    std::uint64_t repeated = 0;      ///< lines that repeat an address; the first one counts
    std::uint64_t merged = 0;        ///< instance dicts that became part of their owner
    std::uint64_t bad_lines = 0;
    std::uint64_t lines = 0;
    std::uint64_t cut = 0;         ///< 1: the dump ends within a line or a compressed block
    std::uint64_t table_seed = 0;  ///< of the address table
};

/// An instance dict that became part of its owner.
struct MergedDict {
    ObjectId owner;
    ObjectId dict;
    std::uint32_t own_refs = 0;  ///< refs of the owner itself, which stand behind the dict's
};

/// The object graph of one dump in flat columns by object number, references and referrers in
/// compressed rows. A column is indexed by ObjectId::value unless its comment says otherwise.
struct GraphColumns {
    Column<std::uint64_t> address;  ///< missing ones too, sorted among themselves
    Column<std::uint64_t> size;
    Column<TypeId> type;
    Column<std::uint32_t> length;
    Column<std::uint64_t> line;  ///< where its text starts in the dump, in bytes
    Column<std::uint32_t> child_start;
    Column<ObjectId> children;  ///< rows in the order of "refs"
    Column<std::uint32_t> parent_start;
    Column<ObjectId> parents;    ///< rows ascending, without repeats; missing objects have rows
    Column<ObjectId> slots;      ///< address table: see AddressTable
    Column<MergedDict> merged;   ///< ascending by owner
    Column<ObjectId> named;      ///< objects with a function, module or type name, ascending
    Column<std::uint32_t> name;  ///< by position in `named`: number of the name
    Column<std::uint64_t> name_start;  ///< by number of the name
    Column<char> name_bytes;
    Column<std::uint64_t> type_start;  ///< by TypeId - 1
    Column<char> type_bytes;
    Column<TypeTotals> type_totals;     ///< by TypeId
    Column<ObjectId> texts;             ///< objects with a string value, ascending
    Column<std::uint64_t> text_hashes;  ///< by position in `texts`: keyed, equal for equal values
    /// The first of each type in the order of Meliae's get_all(), up to kLeaders of each; only a
    /// graph from an index has them.
    Column<ObjectId> leaders;
    Column<std::uint32_t> leader_start;  ///< by TypeId, one more than there are types
};

/// Questions about single objects. All take ids that the graph has given.
class Graph {
  public:
    Graph(GraphFacts facts, GraphColumns columns) : facts_(facts), columns_(std::move(columns)) {}

    const GraphFacts& facts() const { return facts_; }
    const GraphColumns& columns() const { return columns_; }

    /// One more than the largest id that has a line.
    std::uint32_t end() const { return static_cast<std::uint32_t>(facts_.line_objects + 1); }
    /// One more than the largest id, missing objects included.
    std::uint32_t end_with_missing() const {
        return static_cast<std::uint32_t>(facts_.line_objects + facts_.missing + 1);
    }
    bool is_missing(ObjectId id) const { return id.value >= end(); }
    /// An object of its own: neither missing nor repeated nor merged away.
    bool is_object(ObjectId id) const {
        return id && !is_missing(id) && static_cast<bool>(columns_.type[id.value]);
    }

    std::uint64_t address(ObjectId id) const { return columns_.address[id.value]; }
    std::uint64_t size(ObjectId id) const { return is_missing(id) ? 0 : columns_.size[id.value]; }
    TypeId type(ObjectId id) const { return is_missing(id) ? TypeId{} : columns_.type[id.value]; }
    std::uint32_t length(ObjectId id) const {
        return is_missing(id) ? kNoLength : columns_.length[id.value];
    }
    std::span<const ObjectId> children(ObjectId id) const {
        return is_missing(id) ? std::span<const ObjectId>{}
                              : row(columns_.child_start, columns_.children, id.value);
    }
    std::span<const ObjectId> parents(ObjectId id) const {
        return row(columns_.parent_start, columns_.parents, id.value);
    }

    std::uint32_t type_count() const {
        return static_cast<std::uint32_t>(columns_.type_totals.size());
    }
    /// Decoded; "" for TypeId 0.
    std::string_view type_name(TypeId type) const;
    std::optional<TypeId> find_type(std::string_view name) const;
    /// The function, module or type name; for a frame that of its function.
    std::optional<std::string_view> find_name(ObjectId id) const;
    /// What stands at this address: an object, a missing one, or none. A merged dict is found too
    /// (is_object() is false then).
    std::optional<ObjectId> find(std::uint64_t address) const;
    /// What was merged into this owner.
    std::optional<MergedDict> find_merged(ObjectId owner) const;
    /// The owner into which this dict was merged.
    std::optional<ObjectId> find_owner(ObjectId dict) const;
    /// Whether it has a string value that may be data.
    bool has_text(ObjectId id) const;

  private:
    ObjectId find_with_line(std::uint64_t address) const;
    static std::span<const ObjectId> row(const Column<std::uint32_t>& starts,
                                         const Column<ObjectId>& cells, std::uint32_t id) {
        return cells.part(starts[id], starts[id + 1]);
    }

    GraphFacts facts_;
    GraphColumns columns_;
};

}  // namespace mapdiag::heap
