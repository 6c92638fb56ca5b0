#include "mapdiag/heap/objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "heap/graph/leaders.h"
#include "heap/reader/json_text.h"
#include "heap/reader/line_parser.h"
#include "mapdiag/support/text.h"

namespace mapdiag::heap {
namespace {

// A value as it stands in the dump, for a person.
std::string shown_value(std::string_view line) {
    LineParser parser(line);
    ParsedObject object;
    if (!parser.has_object() || !parser.read_object(object)) {
        return {};
    }
    if (!object.has_value) {
        return printable(object.plain_value);
    }
    const auto decoded = decode_json_text(object.value);
    return decoded ? text_for_people(*decoded) : std::string();
}

ObjectList cut_list(const Graph& graph, std::vector<ObjectId> all, std::size_t limit) {
    ObjectList list;
    list.count = all.size();
    for (std::size_t i = 0; i < all.size(); ++i) {
        list.size += graph.size(all[i]);
        if (i >= limit) {
            ++list.others;
            list.others_size += graph.size(all[i]);
        }
    }
    all.resize(std::min(limit, all.size()));
    list.shown = std::move(all);
    return list;
}

ObjectList sorted_list(const Graph& graph, std::vector<ObjectId> all, std::size_t limit) {
    const auto shown = static_cast<std::ptrdiff_t>(std::min(limit, all.size()));
    std::ranges::partial_sort(all, all.begin() + shown,
                              [&](ObjectId a, ObjectId b) { return comes_first(graph, a, b); });
    return cut_list(graph, std::move(all), limit);
}

bool is_python3(const Graph& graph) {
    const auto has = [&](std::string_view type) { return graph.find_type(type).has_value(); };
    const bool has_old = has("unicode") || has("long") || has("classobj") || has("instancemethod");
    return !has_old && (has("bytes") || has("method") || has("ModuleSpec"));
}

enum class DictLayout { kKeysFirst, kValuesFirst, kValuesOnly, kUnknown };

// Python 2 lists key, value, key, value; Python 3 values alone where all keys are strings, else
// value, key. The number of entries tells.
DictLayout layout_of(const Graph& graph, ObjectId id, std::size_t refs) {
    const auto length = graph.length(id);
    const bool python3 = is_python3(graph);
    const auto pairs = python3 ? DictLayout::kValuesFirst : DictLayout::kKeysFirst;
    if (length == kNoLength) {
        return python3 ? DictLayout::kValuesOnly : (refs % 2 == 0 ? pairs : DictLayout::kUnknown);
    }
    if (refs == std::size_t{length} * 2) {
        return pairs;
    }
    return refs == length ? DictLayout::kValuesOnly : DictLayout::kUnknown;
}

}  // namespace

std::string meliae_total(std::uint64_t bytes) {
    auto value = static_cast<double>(bytes);
    constexpr std::array<char, 4> kUnits = {'B', 'K', 'M', 'G'};
    std::size_t unit = 0;
    while (value > 800.0 && unit + 1 < kUnits.size()) {
        value /= 1024.0;
        ++unit;
    }
    return fmt::format("{:.1f}{}", value, kUnits[unit]);
}

Result<void> Describer::show_values(const Heap& heap, std::vector<ObjectId> ids) {
    std::erase_if(ids, [&](ObjectId id) { return !graph_->is_object(id); });
    std::ranges::sort(ids);
    const auto repeats = std::ranges::unique(ids);
    ids.erase(repeats.begin(), repeats.end());
    return heap.visit_lines(ids, [&](std::size_t i, std::string_view line) {
        if (auto value = shown_value(line); !value.empty()) {
            values_[ids[i].value] = std::move(value);
        }
    });
}

std::string Describer::value(ObjectId id) const {
    if (const auto name = graph_->find_name(id)) {
        return text_for_people(*name);
    }
    if (const auto known = values_.find(id.value); known != values_.end()) {
        return known->second;
    }
    const auto length = graph_->length(id);
    return length != kNoLength && graph_->has_text(id) ? fmt::format("len {}", length)
                                                       : std::string();
}

std::string Describer::line(ObjectId id, std::uint64_t total) const {
    if (graph_->is_missing(id)) {
        return fmt::format("missing({} {}par)", graph_->address(id), graph_->parents(id).size());
    }
    auto out = fmt::format("{}({} {}B", printable(graph_->type_name(graph_->type(id))),
                           graph_->address(id), graph_->size(id));
    if (const auto refs = graph_->children(id).size(); refs != 0) {
        out += fmt::format(" {}refs", refs);
    }
    if (const auto parents = graph_->parents(id).size(); parents != 0) {
        out += fmt::format(" {}par", parents);
    }
    if (const auto text = value(id); !text.empty()) {
        out += ' ' + text;
    }
    if (total != 0) {
        out += ' ' + meliae_total(total) + "tot";
    }
    return out + ')';
}

std::string Describer::as_attribute(ObjectId id) const {
    const auto type =
        graph_->is_missing(id) ? std::string_view{} : graph_->type_name(graph_->type(id));
    if (type == "NoneType") {
        return "None";
    }
    const auto known = values_.find(id.value);
    if (known == values_.end() || graph_->find_name(id)) {
        return line(id);
    }
    if (type == "bool") {
        return known->second == "'True'" ? "True" : "False";
    }
    return known->second;
}

const std::string* Describer::find_value(ObjectId id) const {
    const auto known = values_.find(id.value);
    return known == values_.end() ? nullptr : &known->second;
}

ObjectList list_parents(const Graph& graph, ObjectId id, std::size_t limit) {
    const auto parents = graph.parents(id);
    return sorted_list(graph, {parents.begin(), parents.end()}, limit);
}

ObjectList list_children(const Graph& graph, ObjectId id, std::size_t limit) {
    const auto children = graph.children(id);
    return cut_list(graph, {children.begin(), children.end()}, limit);
}

ObjectList list_type(const Graph& graph, TypeId type, std::size_t limit) {
    const auto& columns = graph.columns();
    const auto& totals = columns.type_totals[type.value];
    if (columns.leader_start.size() != 0 && (limit <= kLeaders || totals.count <= kLeaders)) {
        const auto leaders = columns.leaders.part(columns.leader_start[type.value],
                                                  columns.leader_start[type.value + 1]);
        auto list = cut_list(graph, {leaders.begin(), leaders.end()}, limit);
        list.others = totals.count - list.shown.size();
        list.others_size += totals.size - list.size;
        list.count = totals.count;
        list.size = totals.size;
        return list;
    }
    std::vector<ObjectId> all;
    all.reserve(totals.count);
    const auto types = columns.type.span();
    for (std::uint32_t id = 1; id < types.size(); ++id) {
        if (types[id] == type) {
            all.push_back({id});
        }
    }
    return sorted_list(graph, std::move(all), limit);
}

Attributes attributes_of(const Graph& graph, ObjectId id) {
    Attributes found;
    auto refs = graph.children(id);
    const auto merged = graph.find_merged(id);
    const auto own = merged ? std::min<std::size_t>(merged->own_refs, refs.size()) : 0;
    const bool is_dict = merged || graph.type_name(graph.type(id)) == "dict";
    const auto layout = is_dict ? layout_of(graph, id, refs.size() - own) : DictLayout::kUnknown;
    if (layout != DictLayout::kUnknown) {
        const auto content = refs.first(refs.size() - own);
        refs = refs.last(own);
        found.values_only = layout == DictLayout::kValuesOnly && !content.empty();
        const std::size_t step = layout == DictLayout::kValuesOnly ? 1 : 2;
        for (std::size_t i = 0; i + step <= content.size(); i += step) {
            if (step == 1) {
                found.items.push_back({{}, content[i]});
            } else if (layout == DictLayout::kKeysFirst) {
                found.items.push_back({content[i], content[i + 1]});
            } else {
                found.items.push_back({content[i + 1], content[i]});
            }
        }
    }
    found.other.assign(refs.begin(), refs.end());
    return found;
}

}  // namespace mapdiag::heap
