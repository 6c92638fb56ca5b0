// Words and JSON for single objects and lists of them.
#include <fmt/format.h>

#include <algorithm>

#include "heap/view/json.h"
#include "mapdiag/heap/objects.h"
#include "mapdiag/support/units.h"

namespace mapdiag::heap {
namespace {

using Json = nlohmann::ordered_json;

std::string others_text(std::uint64_t count) {
    return fmt::format("[{} others]\n", count);
}

Json attributes_json(const Graph& graph, const Attributes& attributes, const Describer& describer,
                     std::size_t limit) {
    Json rows = Json::array();
    for (std::size_t i = 0; i < std::min(limit, attributes.items.size()); ++i) {
        const auto& item = attributes.items[i];
        Json row = {{"value", object_json(graph, item.value, describer)}};
        if (item.key) {
            row["key"] = object_json(graph, item.key, describer);
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace

std::string list_text(std::string_view heading, const ObjectList& list, const Graph& graph,
                      const Describer& describer) {
    static_cast<void>(graph);
    auto out = fmt::format("{}: {} object{}, {} bytes ({})\n", heading, list.count,
                           list.count == 1 ? "" : "s", list.size, format_bytes(list.size));
    for (const auto id : list.shown) {
        out += describer.line(id) + '\n';
    }
    if (list.others != 0) {
        out += fmt::format("[{} others] {} bytes ({})\n", list.others, list.others_size,
                           format_bytes(list.others_size));
    }
    return out;
}

std::string list_json(const ObjectList& list, const Graph& graph, const Describer& describer) {
    Json out = {{"count", list.count}, {"size", list.size}, {"objects", Json::array()}};
    for (const auto id : list.shown) {
        out["objects"].push_back(object_json(graph, id, describer));
    }
    if (list.others != 0) {
        out["others"] = {{"count", list.others}, {"size", list.others_size}};
    }
    return out.dump(2) + '\n';
}

std::string show_text(const Graph& graph, ObjectId id, const Describer& describer,
                      std::size_t limit) {
    auto out = describer.line(id) + '\n';
    const auto attributes = attributes_of(graph, id);
    if (!attributes.items.empty()) {
        out += attributes.values_only ? "values (the dump does not list the keys):\n"
                                      : "attributes:\n";
    }
    for (std::size_t i = 0; i < std::min(limit, attributes.items.size()); ++i) {
        const auto& item = attributes.items[i];
        out += item.key ? fmt::format("  {}: {}\n", describer.as_attribute(item.key),
                                      describer.as_attribute(item.value))
                        : fmt::format("  {}\n", describer.as_attribute(item.value));
    }
    if (attributes.items.size() > limit) {
        out += "  " + others_text(attributes.items.size() - limit);
    }
    if (!attributes.other.empty()) {
        out += attributes.items.empty() ? "refers to:\n" : "refers also to:\n";
    }
    for (std::size_t i = 0; i < std::min(limit, attributes.other.size()); ++i) {
        out += "  " + describer.as_attribute(attributes.other[i]) + '\n';
    }
    if (attributes.other.size() > limit) {
        out += "  " + others_text(attributes.other.size() - limit);
    }
    return out;
}

std::string show_json(const Graph& graph, ObjectId id, const Describer& describer,
                      std::size_t limit) {
    auto out = object_json(graph, id, describer);
    const auto attributes = attributes_of(graph, id);
    out["values_only"] = attributes.values_only;
    out["attributes"] = attributes_json(graph, attributes, describer, limit);
    if (attributes.items.size() > limit) {
        out["attributes_others"] = attributes.items.size() - limit;
    }
    out["other_refs"] = Json::array();
    for (std::size_t i = 0; i < std::min(limit, attributes.other.size()); ++i) {
        out["other_refs"].push_back(object_json(graph, attributes.other[i], describer));
    }
    if (attributes.other.size() > limit) {
        out["other_refs_others"] = attributes.other.size() - limit;
    }
    return out.dump(2) + '\n';
}

}  // namespace mapdiag::heap
