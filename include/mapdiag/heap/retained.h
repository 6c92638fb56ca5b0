#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mapdiag/heap/load.h"
#include "mapdiag/heap/objects.h"

namespace mapdiag::heap {

/// A type's part in what is retained.
struct RetainedType {
    TypeId type;
    std::uint64_t count = 0;
    std::uint64_t size = 0;      ///< bytes of the objects themselves
    std::uint64_t top = 0;       ///< retained by its objects at the top; adds up to the whole heap
    std::uint64_t retained = 0;  ///< retained by all its objects; types overlap
};

/// Who retains the heap.
struct RetainedView {
    std::uint64_t size = 0;  ///< the whole heap
    std::uint64_t roots = 0;
    std::uint64_t top_count = 0;
    std::vector<ObjectId> top;          ///< up to the limit, by what they retain
    std::uint64_t others_retained = 0;  ///< by those at the top that are not in `top`
    std::vector<RetainedType> types;    ///< all, by `retained`, `size`, then name
};
RetainedView view_retained(const Graph& graph, const DominatorTree& tree, std::size_t limit);

/// One object in the dominator tree.
struct RetainedObject {
    ObjectId id;
    std::uint64_t retained = 0;
    std::vector<ObjectId> chain;        ///< from the top down to it, itself last
    std::uint64_t chain_others = 0;     ///< left out of a long chain...
    std::size_t chain_gap = 0;          ///< ...before this element of it
    bool is_root = false;               ///< of the chain's first: a root itself, else shared
    std::uint64_t held_count = 0;       ///< objects that it dominates directly
    std::vector<ObjectId> held;         ///< the biggest of these, up to the limit
    std::uint64_t others_retained = 0;  ///< by the rest of these
};
RetainedObject view_retained(const Graph& graph, const DominatorTree& tree, ObjectId id,
                             std::size_t limit);

/// All that an object dominates directly: first, in order, the `limit` that retain most, then the
/// rest in any order.
std::vector<ObjectId> held_by(const DominatorTree& tree, ObjectId id, std::size_t limit);

/// What holds a large part of the heap, after MAT's "leak suspects".
struct Suspect {
    /// Objects at the top: one, or several of one type of which none is large by itself.
    std::vector<ObjectId> holders;
    TypeId group;  ///< their type, where there are several
    std::uint64_t retained = 0;
    /// From the top to the place where it piles up: the last object below which no single one holds
    /// most of it. Empty for a group.
    std::vector<ObjectId> chain;
    /// What lies directly below that place (for a group: below its holders), by type.
    struct Pile {
        TypeId type;
        std::uint64_t count = 0;
        std::uint64_t retained = 0;
    };
    std::vector<Pile> piles;
    std::uint64_t pile_count = 0;  ///< objects directly below, of all types
};
/// Objects at the top that retain more than a fifth of the heap, then types whose other objects at
/// the top do so together.
std::vector<Suspect> find_suspects(const Graph& graph, const DominatorTree& tree);

std::string retained_text(const Graph& graph, const DominatorTree& tree, const RetainedView& view,
                          std::size_t limit);
std::string retained_json(const Graph& graph, const DominatorTree& tree, const RetainedView& view,
                          std::size_t limit);
std::string retained_object_text(const Graph& graph, const DominatorTree& tree,
                                 const RetainedObject& object, const Describer& describer);
std::string retained_object_json(const Graph& graph, const DominatorTree& tree,
                                 const RetainedObject& object, const Describer& describer);
/// `dump` is named in the command that goes on from here.
std::string suspects_text(const Graph& graph, const DominatorTree& tree,
                          const std::vector<Suspect>& suspects, const std::string& dump,
                          std::size_t limit);
std::string suspects_json(const Graph& graph, const DominatorTree& tree,
                          const std::vector<Suspect>& suspects, std::size_t limit);

}  // namespace mapdiag::heap
