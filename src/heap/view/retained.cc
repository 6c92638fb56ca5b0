#include "mapdiag/heap/retained.h"

#include <algorithm>
#include <map>

#include "mapdiag/support/parallel.h"

namespace mapdiag::heap {
namespace {

// More than this share of the heap is worth a sentence, and a chain goes on as long as one object
// holds this share of what the one above it retains (both as in MAT).
constexpr double kSuspectShare = 0.2;
constexpr double kGoesOnShare = 0.7;

std::vector<RetainedType> types_of(const Graph& graph, const DominatorTree& tree) {
    std::vector<RetainedType> types;
    for (std::uint32_t type = 1; type < graph.type_count(); ++type) {
        const auto& totals = graph.columns().type_totals[type];
        if (totals.count != 0) {
            types.push_back(
                {{type}, totals.count, totals.size, tree.type_top[type], tree.type_retained[type]});
        }
    }
    std::ranges::sort(types, [&](const RetainedType& a, const RetainedType& b) {
        const auto key_a = std::tuple(a.retained, a.size);
        const auto key_b = std::tuple(b.retained, b.size);
        return key_a != key_b ? key_a > key_b : graph.type_name(a.type) < graph.type_name(b.type);
    });
    return types;
}

std::vector<ObjectId> chain_to(const DominatorTree& tree, ObjectId id) {
    std::vector<ObjectId> chain;
    for (; id; id = tree.dominator[id.value]) {
        chain.push_back(id);
    }
    std::ranges::reverse(chain);
    return chain;
}

// Of a long chain, such as a linked list, both ends stay.
void shorten_chain(RetainedObject& object, std::size_t limit) {
    const auto shown = std::max<std::size_t>(limit, 2);
    if (object.chain.size() <= shown) {
        return;
    }
    object.chain_others = object.chain.size() - shown;
    object.chain_gap = shown - shown / 2;
    const auto gap = object.chain.begin() + static_cast<std::ptrdiff_t>(object.chain_gap);
    object.chain.erase(gap, gap + static_cast<std::ptrdiff_t>(object.chain_others));
}

bool is_much(std::uint64_t part, std::uint64_t whole, double share) {
    return static_cast<double>(part) > share * static_cast<double>(whole);
}

void add_piles(const Graph& graph, const DominatorTree& tree, const std::vector<ObjectId>& held,
               Suspect& suspect) {
    std::map<TypeId, Suspect::Pile> piles;
    for (const auto id : held) {
        auto& pile = piles[graph.type(id)];
        pile.type = graph.type(id);
        ++pile.count;
        pile.retained += tree.retained[id.value];
    }
    suspect.pile_count = held.size();
    for (const auto& [type, pile] : piles) {
        suspect.piles.push_back(pile);
    }
    std::ranges::sort(suspect.piles, [](const Suspect::Pile& a, const Suspect::Pile& b) {
        return a.retained != b.retained ? a.retained > b.retained : a.type < b.type;
    });
}

// Everything that has a dominator for which is_wanted() holds, ascending. The one question that
// reads a whole column of the tree, so all processors do it.
template <class IsWanted>
std::vector<ObjectId> all_held_by(const DominatorTree& tree, IsWanted is_wanted) {
    constexpr std::size_t kPart = 1U << 18;
    const auto dominators = tree.dominator.span();
    const auto parts = dominators.size() / kPart + 1;
    std::vector<std::vector<ObjectId>> found(parts);
    in_parallel(parts, [&](std::size_t part) {
        const auto range = part_of(dominators.size(), part, parts);
        for (auto id = std::max<std::size_t>(range.begin, 1); id < range.end; ++id) {
            if (is_wanted(dominators[id])) {
                found[part].push_back({static_cast<std::uint32_t>(id)});
            }
        }
    });
    std::vector<ObjectId> held;
    for (const auto& of_part : found) {
        held.insert(held.end(), of_part.begin(), of_part.end());
    }
    return held;
}

// Of what an object dominates directly, the one that retains most.
class HeaviestHeld {
  public:
    explicit HeaviestHeld(const DominatorTree& tree) : tree_(tree) {}

    ObjectId find(ObjectId id) {
        // A few questions are answered by looking; a long chain, such as a linked list, by a table.
        constexpr std::size_t kLookups = 4;
        if (++asked_ <= kLookups) {
            const auto held = held_by(tree_, id, 1);
            return held.empty() ? ObjectId{} : held.front();
        }
        if (table_.size() == 0) {
            make_table();
        }
        return table_[id.value];
    }

  private:
    void make_table() {
        const auto dominators = tree_.dominator.span();
        const auto retained = tree_.retained.span();
        table_ = BigArray<ObjectId>(dominators.size());
        for (std::uint32_t id = 1; id < dominators.size(); ++id) {
            auto& heaviest = table_[dominators[id].value];
            if (!heaviest || retained[id] > retained[heaviest.value]) {
                heaviest = {id};
            }
        }
    }

    const DominatorTree& tree_;
    std::size_t asked_ = 0;
    BigArray<ObjectId> table_;
};

// Goes down while one object holds most of what the one above it retains.
Suspect follow(const Graph& graph, const DominatorTree& tree, HeaviestHeld& heaviest,
               ObjectId top) {
    Suspect suspect{.holders = {top},
                    .group = {},
                    .retained = tree.retained[top.value],
                    .chain = {top},
                    .piles = {}};
    for (;;) {
        const auto at = suspect.chain.back();
        const auto next = heaviest.find(at);
        if (!next || !is_much(tree.retained[next.value], tree.retained[at.value], kGoesOnShare)) {
            add_piles(graph, tree, held_by(tree, at, 0), suspect);
            return suspect;
        }
        suspect.chain.push_back(next);
    }
}

// A type whose objects at the top hold much together, without those that hold much by themselves.
Suspect group_of(const Graph& graph, const DominatorTree& tree, TypeId type,
                 std::span<const ObjectId> top) {
    Suspect group{.holders = {}, .group = type, .retained = 0, .chain = {}, .piles = {}};
    std::vector<bool> is_holder(graph.end());
    for (const auto id : top) {
        if (graph.type(id) == type) {
            group.holders.push_back(id);
            group.retained += tree.retained[id.value];
            is_holder[id.value] = true;
        }
    }
    const auto held = all_held_by(
        tree, [&](ObjectId above) { return above && static_cast<bool>(is_holder[above.value]); });
    add_piles(graph, tree, held, group);
    return group;
}

}  // namespace

std::vector<ObjectId> held_by(const DominatorTree& tree, ObjectId id, std::size_t limit) {
    std::vector<ObjectId> held = all_held_by(tree, [&](ObjectId above) { return above == id; });
    const auto shown = std::min(limit, held.size());
    std::ranges::partial_sort(held, held.begin() + static_cast<std::ptrdiff_t>(shown),
                              [&](ObjectId a, ObjectId b) {
                                  const auto retained_a = tree.retained[a.value];
                                  const auto retained_b = tree.retained[b.value];
                                  return retained_a != retained_b ? retained_a > retained_b : a < b;
                              });
    return held;
}

RetainedView view_retained(const Graph& graph, const DominatorTree& tree, std::size_t limit) {
    RetainedView view{.size = tree.retained[0],
                      .roots = tree.roots.size(),
                      .top_count = tree.top.size(),
                      .top = {},
                      .types = types_of(graph, tree)};
    const auto top = tree.top.part(0, std::min(limit, tree.top.size()));
    view.top.assign(top.begin(), top.end());
    view.others_retained = view.size;
    for (const auto id : top) {
        view.others_retained -= tree.retained[id.value];
    }
    return view;
}

RetainedObject view_retained(const Graph& graph, const DominatorTree& tree, ObjectId id,
                             std::size_t limit) {
    RetainedObject object{.id = id,
                          .retained = tree.retained[id.value],
                          .chain = chain_to(tree, id),
                          .held = held_by(tree, id, limit)};
    object.is_root = is_in(tree.roots, object.chain.front());
    shorten_chain(object, limit);
    object.held_count = object.held.size();
    object.held.resize(std::min(limit, object.held.size()));
    object.others_retained = object.retained - graph.size(id);
    for (const auto held : object.held) {
        object.others_retained -= tree.retained[held.value];
    }
    return object;
}

std::vector<Suspect> find_suspects(const Graph& graph, const DominatorTree& tree) {
    std::vector<Suspect> suspects;
    const auto whole = tree.retained[0];
    // What the top retains, by type, without the suspects that were found.
    std::map<TypeId, std::uint64_t> by_type;
    for (std::uint32_t type = 1; type < graph.type_count(); ++type) {
        by_type[{type}] = tree.type_top[type];
    }
    HeaviestHeld heaviest(tree);
    std::size_t singles = 0;
    for (; singles < tree.top.size(); ++singles) {
        const auto id = tree.top[singles];
        if (!is_much(tree.retained[id.value], whole, kSuspectShare)) {
            break;
        }
        suspects.push_back(follow(graph, tree, heaviest, id));
        by_type[graph.type(id)] -= tree.retained[id.value];
    }
    std::vector<Suspect> large;
    for (const auto& [type, retained] : by_type) {
        if (is_much(retained, whole, kSuspectShare)) {
            large.push_back(group_of(graph, tree, type, tree.top.span().subspan(singles)));
        }
    }
    std::ranges::sort(large, [&](const Suspect& a, const Suspect& b) {
        return a.retained != b.retained ? a.retained > b.retained
                                        : graph.type_name(a.group) < graph.type_name(b.group);
    });
    std::ranges::move(large, std::back_inserter(suspects));
    return suspects;
}

}  // namespace mapdiag::heap
