#include "mapdiag/heap/retained.h"

#include <algorithm>
#include <map>

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

// Goes down while one object holds most of what the one above it retains.
Suspect follow(const Graph& graph, const DominatorTree& tree, ObjectId top) {
    Suspect suspect{.holders = {top},
                    .group = {},
                    .retained = tree.retained[top.value],
                    .chain = {top},
                    .piles = {}};
    for (;;) {
        const auto at = suspect.chain.back();
        const auto held = held_by(tree, at);
        if (held.empty() ||
            !is_much(tree.retained[held.front().value], tree.retained[at.value], kGoesOnShare)) {
            add_piles(graph, tree, held, suspect);
            return suspect;
        }
        suspect.chain.push_back(held.front());
    }
}

}  // namespace

std::vector<ObjectId> held_by(const DominatorTree& tree, ObjectId id) {
    std::vector<ObjectId> held;
    const auto dominators = tree.dominator.span();
    for (std::uint32_t other = 1; other < dominators.size(); ++other) {
        if (dominators[other] == id) {
            held.push_back({other});
        }
    }
    std::ranges::sort(held, [&](ObjectId a, ObjectId b) {
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
    const auto shown = std::min(limit, tree.top.size());
    const auto top = tree.top.span();
    view.top.assign(top.begin(), top.begin() + static_cast<std::ptrdiff_t>(shown));
    for (const auto id : top.subspan(shown)) {
        view.others_retained += tree.retained[id.value];
    }
    return view;
}

RetainedObject view_retained(const Graph& graph, const DominatorTree& tree, ObjectId id,
                             std::size_t limit) {
    static_cast<void>(graph);
    RetainedObject object{.id = id,
                          .retained = tree.retained[id.value],
                          .chain = chain_to(tree, id),
                          .held = held_by(tree, id)};
    object.is_root = std::ranges::binary_search(tree.roots.span(), object.chain.front());
    object.held_count = object.held.size();
    for (std::size_t i = limit; i < object.held.size(); ++i) {
        object.others_retained += tree.retained[object.held[i].value];
    }
    object.held.resize(std::min(limit, object.held.size()));
    return object;
}

std::vector<Suspect> find_suspects(const Graph& graph, const DominatorTree& tree) {
    std::vector<Suspect> suspects;
    std::map<TypeId, Suspect> groups;
    const auto whole = tree.retained[0];
    for (const auto id : tree.top.span()) {
        if (is_much(tree.retained[id.value], whole, kSuspectShare)) {
            suspects.push_back(follow(graph, tree, id));
            continue;
        }
        auto& group = groups[graph.type(id)];
        group.group = graph.type(id);
        group.holders.push_back(id);
        group.retained += tree.retained[id.value];
    }
    std::vector<Suspect> large;
    for (auto& [type, group] : groups) {
        if (is_much(group.retained, whole, kSuspectShare)) {
            std::vector<ObjectId> held;
            const auto dominators = tree.dominator.span();
            std::vector<bool> is_holder(graph.end());
            for (const auto id : group.holders) {
                is_holder[id.value] = true;
            }
            for (std::uint32_t id = 1; id < dominators.size(); ++id) {
                if (dominators[id] && is_holder[dominators[id].value]) {
                    held.push_back({id});
                }
            }
            add_piles(graph, tree, held, group);
            large.push_back(std::move(group));
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
