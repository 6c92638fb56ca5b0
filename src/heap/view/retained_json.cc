#include <algorithm>

#include "heap/view/json.h"
#include "mapdiag/heap/retained.h"

namespace mapdiag::heap {
namespace {

using Json = nlohmann::ordered_json;

Json retained_row(const Graph& graph, const DominatorTree& tree, ObjectId id,
                  const Describer& describer) {
    auto row = object_json(graph, id, describer);
    row["retained"] = tree.retained[id.value];
    return row;
}

Json type_name_json(const Graph& graph, TypeId type) {
    return to_valid_utf8(graph.type_name(type));
}

}  // namespace

std::string retained_json(const Graph& graph, const DominatorTree& tree, const RetainedView& view,
                          std::size_t limit) {
    const Describer describer(graph);
    Json out = {{"size", view.size},
                {"roots", view.roots},
                {"top_objects", view.top_count},
                {"top", Json::array()},
                {"types", Json::array()}};
    for (const auto id : view.top) {
        out["top"].push_back(retained_row(graph, tree, id, describer));
    }
    if (view.top_count > view.top.size()) {
        out["top_others"] = {{"objects", view.top_count - view.top.size()},
                             {"retained", view.others_retained}};
    }
    RetainedType others;
    for (std::size_t i = 0; i < view.types.size(); ++i) {
        const auto& row = view.types[i];
        if (i < limit) {
            out["types"].push_back({{"kind", type_name_json(graph, row.type)},
                                    {"count", row.count},
                                    {"size", row.size},
                                    {"top", row.top},
                                    {"retained", row.retained}});
            continue;
        }
        others.count += row.count;
        others.size += row.size;
        others.top += row.top;
    }
    if (view.types.size() > limit) {
        out["types_others"] = {{"types", view.types.size() - limit},
                               {"count", others.count},
                               {"size", others.size},
                               {"top", others.top}};
    }
    return out.dump(2) + '\n';
}

std::string retained_object_json(const Graph& graph, const DominatorTree& tree,
                                 const RetainedObject& object, const Describer& describer) {
    auto out = retained_row(graph, tree, object.id, describer);
    out["top_is_root"] = object.is_root;
    out["chain"] = Json::array();
    for (const auto id : object.chain) {
        out["chain"].push_back(retained_row(graph, tree, id, describer));
    }
    if (object.chain_others != 0) {
        out["chain_others"] = {{"after", object.chain_gap}, {"objects", object.chain_others}};
    }
    out["held_objects"] = object.held_count;
    out["held"] = Json::array();
    for (const auto id : object.held) {
        out["held"].push_back(retained_row(graph, tree, id, describer));
    }
    if (object.held_count > object.held.size()) {
        out["held_others"] = {{"objects", object.held_count - object.held.size()},
                              {"retained", object.others_retained}};
    }
    return out.dump(2) + '\n';
}

std::string suspects_json(const Graph& graph, const DominatorTree& tree,
                          const std::vector<Suspect>& suspects, std::size_t limit) {
    const Describer describer(graph);
    Json out = {{"size", tree.retained[0]},
                {"objects", graph.facts().objects},
                {"suspects", Json::array()}};
    for (const auto& suspect : suspects) {
        Json row = {{"retained", suspect.retained}, {"holder_count", suspect.holders.size()}};
        row["holder"] = retained_row(graph, tree, suspect.holders.front(), describer);
        if (suspect.group) {
            row["group"] = type_name_json(graph, suspect.group);
        }
        row["steps"] = suspect.chain.empty() ? 0 : suspect.chain.size() - 1;
        row["chain"] = Json::array();
        for (std::size_t at = 0; at < suspect.chain.size(); ++at) {
            // Of a long chain the beginning, and the place where it piles up.
            if (at < limit || at + 1 == suspect.chain.size()) {
                row["chain"].push_back(retained_row(graph, tree, suspect.chain[at], describer));
            }
        }
        row["below"] = Json::array();
        Suspect::Pile others;
        for (std::size_t i = 0; i < suspect.piles.size(); ++i) {
            const auto& pile = suspect.piles[i];
            if (i < limit) {
                row["below"].push_back({{"kind", type_name_json(graph, pile.type)},
                                        {"count", pile.count},
                                        {"retained", pile.retained}});
            } else {
                others.count += pile.count;
                others.retained += pile.retained;
            }
        }
        if (others.count != 0) {
            row["below_others"] = {{"count", others.count}, {"retained", others.retained}};
        }
        out["suspects"].push_back(std::move(row));
    }
    return out.dump(2) + '\n';
}

}  // namespace mapdiag::heap
