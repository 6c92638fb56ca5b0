#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "mapdiag/heap/graph.h"

namespace mapdiag::heap {

/// Which references a walk follows.
struct WalkOptions {
    /// These are neither visited nor walked through. May include the start.
    std::vector<ObjectId> excluding;
    /// Meliae's remove_expensive_references(): no references to modules, frames and types, of a
    /// function neither globals (its second) nor module (its third), none between _LRUNodes.
    bool without_expensive = false;
};

/// What a walk found.
struct Reach {
    std::vector<ObjectId> visited;  ///< in order
    /// References were left out as expensive; Meliae then counts one object "<ex-reference>" of 0
    /// bytes that stands for all their targets.
    bool has_ex_reference = false;
};

/// Everything that `start` reaches, itself included, in Meliae's order (the last reference first).
Reach reach_of(const Graph& graph, ObjectId start, const WalkOptions& options);

/// The references that WalkOptions::without_expensive leaves, object by object.
class ExpensiveRefs {
  public:
    explicit ExpensiveRefs(const Graph& graph);

    /// Calls use(child) for each reference that stays, in order; true if any was left out.
    template <class Use>
    bool for_each_kept(ObjectId id, Use use) const {
        bool left_out = false;
        const auto children = graph_->children(id);
        const auto type = graph_->type(id);
        if (function_ && type == function_) {
            for (std::size_t i = 0; i < children.size(); ++i) {
                if (i != 1 && i != 2) {
                    use(children[i]);
                }
            }
            // Meliae gives every function one, whatever it refers to.
            return true;
        }
        for (const auto child : children) {
            const auto child_type = graph_->type(child);
            if (lru_node_ && type == lru_node_) {
                if (child_type != lru_node_) {
                    use(child);
                }
            } else if (is_expensive(child_type)) {
                left_out = true;
            } else {
                use(child);
            }
        }
        return left_out;
    }

  private:
    bool is_expensive(TypeId type) const {
        return type && (type == module_ || type == frame_ || type == type_);
    }

    const Graph* graph_;
    TypeId module_;
    TypeId frame_;
    TypeId type_;
    TypeId function_;
    TypeId lru_node_;
};

/// The graph without expensive references and without missing objects, as far as it takes to find
/// its dominators: sizes, types, references and referrers. Addresses, names and texts are left out.
Graph without_expensive_refs(const Graph& graph);

}  // namespace mapdiag::heap
