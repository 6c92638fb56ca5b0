#include "mapdiag/heap/dominators.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "heap/graph/roots.h"
#include "mapdiag/support/big_array.h"

namespace mapdiag::heap {
namespace {

// All work is done on preorder numbers of a depth-first walk: 0 is the virtual root above all
// roots, and whatever has the smaller number was reached first.
using Number = std::uint32_t;

class SemiNca {
  public:
    SemiNca(const Graph& graph, std::span<const ObjectId> roots)
        : graph_(graph), number_(graph.end_with_missing()), is_root_(graph.end()) {
        const auto size = graph.facts().objects + 1;
        object_ = BigArray<ObjectId>(size);
        parent_ = BigArray<Number>(size);
        for (const auto root : roots) {
            is_root_[root.value] = true;
        }
        walk(roots);
    }

    // By preorder number.
    BigArray<Number> dominators() {
        find_semidominators();
        // In preorder the dominator of everything above is known: climb from the tree parent to
        // the first ancestor that is not below the semidominator.
        auto dominator = std::move(parent_);
        for (Number v = 1; v < count_; ++v) {
            auto above = dominator[v];
            while (above > semi_[v]) {
                above = dominator[above];
            }
            dominator[v] = above;
        }
        semi_ = {};
        number_ = {};
        return dominator;
    }
    Number count() const { return count_; }
    const BigArray<ObjectId>& objects() const { return object_; }

  private:
    struct Step {
        Number number;
        const ObjectId* next;
        const ObjectId* end;
    };

    void enter(ObjectId id, Number parent) {
        number_[id.value] = count_;
        object_[count_] = id;
        parent_[count_] = parent;
        ++count_;
    }

    void walk(std::span<const ObjectId> roots) {
        count_ = 1;
        std::vector<Step> path;
        for (const auto root : roots) {
            if (number_[root.value] == 0) {
                visit(root, 0, path);
                walk_from_top(path);
            }
        }
    }

    void visit(ObjectId id, Number parent, std::vector<Step>& path) {
        const auto number = count_;
        enter(id, parent);
        const auto children = graph_.children(id);
        if (!children.empty()) {
            path.push_back({number, children.data(), children.data() + children.size()});
        }
    }

    void walk_from_top(std::vector<Step>& path) {
        constexpr std::ptrdiff_t kAhead = 8;
        const auto* const starts = graph_.columns().child_start.span().data();
        while (!path.empty()) {
            auto& step = path.back();
            if (step.next == step.end) {
                path.pop_back();
                continue;
            }
            if (step.end - step.next > kAhead) {
                __builtin_prefetch(&number_[step.next[kAhead].value]);
                __builtin_prefetch(&starts[step.next[kAhead].value]);
            }
            const auto child = *step.next++;
            if (number_[child.value] == 0 && !graph_.is_missing(child)) {
                visit(child, step.number, path);
            }
        }
    }

    // In reverse preorder. The forest of what was processed is in parent_ itself as long as a
    // vertex is above `last`: ancestor_ is the compressed path, label_ the vertex with the smallest
    // semidominator on it.
    void find_semidominators() {
        semi_ = BigArray<Number>(count_);
        ancestor_ = BigArray<Number>(count_);
        label_ = BigArray<Number>(count_);
        for (Number v = 0; v < count_; ++v) {
            label_[v] = v;
            semi_[v] = v;
            ancestor_[v] = parent_[v];
        }
        for (Number v = count_ - 1; v > 0; --v) {
            semi_[v] = semidominator(v);
        }
        ancestor_ = {};
        label_ = {};
    }

    Number semidominator(Number v) {
        const auto id = object_[v];
        if (is_root_[id.value]) {
            return 0;
        }
        const auto preds = graph_.parents(id);
        if (preds.size() == 1) {
            return parent_[v];
        }
        auto best = parent_[v];
        for (std::size_t i = 0; i < preds.size(); ++i) {
            if (i + 8 < preds.size()) {
                __builtin_prefetch(&number_[preds[i + 8].value]);
            }
            const auto u = number_[preds[i].value];
            best = std::min(best, u <= v ? u : semi_[smallest_above(u, v)]);
            if (best == 0) {
                break;
            }
        }
        return best;
    }

    // The vertex with the smallest semidominator on the way from u up to, but without, the first
    // vertex with a number of at most `last` (that is not processed yet). Compresses the path.
    Number smallest_above(Number u, Number last) {
        if (ancestor_[u] <= last) {
            return label_[u];
        }
        compressed_.clear();
        auto w = u;
        while (ancestor_[w] > last) {
            compressed_.push_back(w);
            w = ancestor_[w];
        }
        // From the top down: each takes over what its ancestor found.
        while (!compressed_.empty()) {
            const auto below = compressed_.back();
            compressed_.pop_back();
            const auto above = ancestor_[below];
            if (semi_[label_[above]] < semi_[label_[below]]) {
                label_[below] = label_[above];
            }
            ancestor_[below] = ancestor_[above];
        }
        return label_[u];
    }

    const Graph& graph_;
    BigArray<Number> number_;  // by id; 0 = not reached
    BigArray<bool> is_root_;
    Number count_ = 0;
    BigArray<ObjectId> object_;
    BigArray<Number> parent_;
    BigArray<Number> semi_;
    BigArray<Number> ancestor_;
    BigArray<Number> label_;
    std::vector<Number> compressed_;
};

// Sums sizes from the leaves up and carries everything over to object numbers.
class Retained {
  public:
    Retained(const Graph& graph, const BigArray<ObjectId>& objects, BigArray<Number> dominators,
             Number count)
        : graph_(graph), objects_(objects), dominators_(std::move(dominators)), count_(count) {}

    void fill(DominatorTree& tree) {
        // First, as it takes the most memory beside itself.
        const auto below_same_type = find_below_same_type();
        fill_by_object(tree);
        fill_by_type(below_same_type, tree);
        fill_top(tree);
    }

  private:
    ObjectId object_above(Number v) const { return objects_[dominators_[v]]; }

    // By number: whether one of its dominators has the same type. A walk down the dominator tree,
    // whose rows of children are threaded through two arrays; `above` counts the types on the way.
    BigArray<bool> find_below_same_type() const {
        BigArray<Number> first(count_);
        BigArray<Number> next(count_);
        for (Number v = count_ - 1; v > 0; --v) {
            next[v] = std::exchange(first[dominators_[v]], v);
        }
        BigArray<bool> below(count_);
        std::vector<std::uint32_t> above(graph_.type_count());
        for (Number v = first[0]; v != 0;) {
            auto& of_type = above[graph_.type(objects_[v]).value];
            below[v] = of_type != 0;
            if (first[v] != 0) {
                ++of_type;
                v = first[v];
                continue;
            }
            while (v != 0 && next[v] == 0) {
                v = dominators_[v];
                if (v != 0) {
                    --above[graph_.type(objects_[v]).value];
                }
            }
            v = v == 0 ? 0 : next[v];
        }
        return below;
    }

    void fill_by_object(DominatorTree& tree) const {
        BigArray<ObjectId> dominator(graph_.end());
        BigArray<std::uint64_t> retained(graph_.end());
        std::ranges::copy(graph_.columns().size.span(), retained.begin());
        for (Number v = count_ - 1; v > 0; --v) {
            const auto id = objects_[v];
            const auto above = object_above(v);
            dominator[id.value] = above;
            retained[above.value] += retained[id.value];
        }
        tree.dominator = Column(std::move(dominator));
        tree.retained = Column(std::move(retained));
    }

    void fill_by_type(const BigArray<bool>& below_same_type, DominatorTree& tree) const {
        BigArray<std::uint64_t> retained(graph_.type_count());
        BigArray<std::uint64_t> top(graph_.type_count());
        for (Number v = 1; v < count_; ++v) {
            const auto id = objects_[v];
            const auto type = graph_.type(id).value;
            const auto bytes = tree.retained[id.value];
            retained[type] += below_same_type[v] ? 0 : bytes;
            top[type] += dominators_[v] == 0 ? bytes : 0;
        }
        tree.type_retained = Column(std::move(retained));
        tree.type_top = Column(std::move(top));
    }

    void fill_top(DominatorTree& tree) const {
        std::vector<ObjectId> top;
        for (Number v = 1; v < count_; ++v) {
            if (dominators_[v] == 0) {
                top.push_back(objects_[v]);
            }
        }
        std::ranges::sort(top, [&](ObjectId a, ObjectId b) {
            const auto retained_a = tree.retained[a.value];
            const auto retained_b = tree.retained[b.value];
            return retained_a != retained_b ? retained_a > retained_b : a < b;
        });
        BigArray<ObjectId> own_top(top.size());
        std::ranges::copy(top, own_top.begin());
        tree.top = Column(std::move(own_top));
    }

    const Graph& graph_;
    const BigArray<ObjectId>& objects_;
    BigArray<Number> dominators_;
    Number count_;
};

}  // namespace

DominatorTree find_dominators(const Graph& graph) {
    const auto roots = find_roots(graph);
    DominatorTree tree;
    SemiNca search(graph, roots);
    auto dominators = search.dominators();
    Retained(graph, search.objects(), std::move(dominators), search.count()).fill(tree);
    BigArray<ObjectId> own_roots(roots.size());
    std::ranges::copy(roots, own_roots.begin());
    tree.roots = Column(std::move(own_roots));
    return tree;
}

}  // namespace mapdiag::heap
