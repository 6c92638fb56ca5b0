#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mapdiag/heap/load.h"

namespace mapdiag::heap {

/// Words objects as Meliae's repr does, "dict(417338688 12583052B 1045240refs 2par)", but for
/// values: names of modules, types, functions and frames are shown, of a string only its length
/// unless values were asked for.
class Describer {
  public:
    explicit Describer(const Graph& graph) : graph_(&graph) {}

    /// Reads the values of these objects from the dump, to be shown from now on.
    Result<void> show_values(const Heap& heap, std::vector<ObjectId> ids);

    /// `total` is what compute_total_size() found, 0 for none.
    std::string line(ObjectId id, std::uint64_t total = 0) const;
    /// The value or name alone, as it stands in a repr: "'main'", "len 14", "7", or "".
    std::string value(ObjectId id) const;
    /// As an attribute's value: None, True, a value or name where it may be shown, else line().
    std::string as_attribute(ObjectId id) const;
    /// What show_values() read of it, or null.
    const std::string* find_value(ObjectId id) const;

  private:
    const Graph* graph_;
    std::unordered_map<std::uint32_t, std::string> values_;
};

/// Bytes as Meliae words a total: 1.0B, 4.2K, 10.5M, one decimal.
std::string meliae_total(std::uint64_t bytes);

/// A list of objects with what was left out of it, so that totals are conserved.
struct ObjectList {
    std::vector<ObjectId> shown;
    std::uint64_t count = 0;  ///< shown or not
    std::uint64_t size = 0;   ///< bytes, shown or not
    std::uint64_t others = 0;
    std::uint64_t others_size = 0;
};

/// What refers to it, by size, references, referrers (largest first), then address.
ObjectList list_parents(const Graph& graph, ObjectId id, std::size_t limit);
/// What it refers to, in order, repeats and missing ones included (they have no size).
ObjectList list_children(const Graph& graph, ObjectId id, std::size_t limit);
/// All objects of a type in the order of Meliae's get_all(): by size, then references, then
/// referrers, largest first; equal ones by address.
ObjectList list_type(const Graph& graph, TypeId type, std::size_t limit);

/// One entry of an object's attributes. `key` is none where only the value is known.
struct Attribute {
    ObjectId key;
    ObjectId value;
};

/// What Meliae's refs_as_dict() tells, without its guesses: dicts, modules and instances with their
/// dict merged in have keys and values where the dump lists both, values alone where it lists these
/// alone (Python 3); `other` is what they refer to beside. Everything else has `other` only.
struct Attributes {
    std::vector<Attribute> items;
    std::vector<ObjectId> other;
    bool values_only = false;
};
Attributes attributes_of(const Graph& graph, ObjectId id);

/// A heading, one line an object, and "[N others]" where some were left out.
std::string list_text(std::string_view heading, const ObjectList& list, const Graph& graph,
                      const Describer& describer);
std::string list_json(const ObjectList& list, const Graph& graph, const Describer& describer);
/// The object's line and its attributes; `limit` of each kind.
std::string show_text(const Graph& graph, ObjectId id, const Describer& describer,
                      std::size_t limit);
std::string show_json(const Graph& graph, ObjectId id, const Describer& describer,
                      std::size_t limit);

}  // namespace mapdiag::heap
