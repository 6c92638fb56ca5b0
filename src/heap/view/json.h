#pragma once

#include <nlohmann/json.hpp>

#include "mapdiag/heap/objects.h"
#include "mapdiag/support/text.h"

namespace mapdiag::heap {

/// One object: address, type, size, references, referrers, and name, length and value where known.
inline nlohmann::ordered_json object_json(const Graph& graph, ObjectId id,
                                          const Describer& describer) {
    nlohmann::ordered_json out = {{"address", graph.address(id)}};
    if (graph.is_missing(id)) {
        out["missing"] = true;
        out["parents"] = graph.parents(id).size();
        return out;
    }
    out["type"] = to_valid_utf8(graph.type_name(graph.type(id)));
    out["size"] = graph.size(id);
    out["refs"] = graph.children(id).size();
    out["parents"] = graph.parents(id).size();
    if (const auto name = graph.find_name(id)) {
        out["name"] = to_valid_utf8(*name);
    }
    if (graph.length(id) != kNoLength) {
        out["len"] = graph.length(id);
    }
    if (const auto* value = describer.find_value(id)) {
        out["value"] = to_valid_utf8(*value);
    }
    return out;
}

}  // namespace mapdiag::heap
