#include "mapdiag/heap/strings.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "heap/view/json.h"
#include "mapdiag/support/parallel.h"
#include "mapdiag/support/units.h"

namespace mapdiag::heap {
namespace {

// Meliae writes this many characters of a value.
constexpr std::uint32_t kDumpedCharacters = 100;
// Work is split by hash, so that each part fits a cache and equal values meet in one part.
constexpr std::size_t kParts = 64;

struct Text {
    std::uint64_t hash;
    std::uint32_t id;
};

// All strings, by the upper bits of their hash; within a part in the order of the dump.
std::vector<std::vector<Text>> texts_by_part(const Graph& graph) {
    const auto ids = graph.columns().texts.span();
    const auto hashes = graph.columns().text_hashes.span();
    std::vector<std::vector<Text>> parts(kParts);
    for (auto& part : parts) {
        part.reserve(ids.size() / kParts + 16);
    }
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (graph.is_object(ids[i])) {
            parts[hashes[i] / (UINT64_MAX / kParts + 1)].push_back({hashes[i], ids[i].value});
        }
    }
    return parts;
}

void add(const Graph& graph, ObjectId id, StringGroup& group, std::uint64_t& largest) {
    if (group.count == 0) {
        group.type = graph.type(id);
        group.length = graph.length(id);
        group.example = id;
        group.only_beginning =
            group.length != kNoLength && group.length > kDumpedCharacters ? 1 : 0;
    }
    ++group.count;
    group.size += graph.size(id);
    largest = std::max(largest, graph.size(id));
}

std::vector<StringGroup> groups_of(const Graph& graph, std::vector<Text>& texts) {
    const auto key = [&](const Text& text) {
        const ObjectId id{text.id};
        return std::tuple(text.hash, graph.type(id), graph.length(id));
    };
    std::ranges::sort(texts, [](const Text& a, const Text& b) {
        return a.hash != b.hash ? a.hash < b.hash : a.id < b.id;
    });
    std::vector<StringGroup> groups;
    for (std::size_t i = 0; i < texts.size();) {
        StringGroup group;
        std::uint64_t largest = 0;
        const auto first = key(texts[i]);
        for (; i < texts.size() && key(texts[i]) == first; ++i) {
            add(graph, {texts[i].id}, group, largest);
        }
        if (group.count > 1) {
            group.wasted = group.size - largest;
            groups.push_back(group);
        }
    }
    return groups;
}

bool is_larger(const StringGroup& a, const StringGroup& b) {
    return std::tuple(b.wasted, b.count, a.example) < std::tuple(a.wasted, a.count, b.example);
}

std::string kind_text(const Graph& graph, const StringGroup& group) {
    auto out = printable(graph.type_name(group.type));
    if (group.length != kNoLength) {
        out += fmt::format(" of length {}", group.length);
    }
    return group.only_beginning != 0 ? out + " (alike in the first 100 characters)" : out;
}

}  // namespace

StringsView find_duplicate_strings(const Graph& graph, std::size_t limit) {
    auto texts = texts_by_part(graph);
    StringsView view;
    for (const auto& part : texts) {
        view.strings += part.size();
        for (const auto& text : part) {
            view.size += graph.size({text.id});
        }
    }
    std::vector<std::vector<StringGroup>> found(kParts);
    in_parallel(kParts, [&](std::size_t i) { found[i] = groups_of(graph, texts[i]); });
    std::vector<StringGroup> all;
    for (const auto& groups : found) {
        for (const auto& group : groups) {
            ++view.groups;
            view.wasted += group.wasted;
            view.wasted_maybe += group.only_beginning != 0 ? group.wasted : 0;
            all.push_back(group);
        }
    }
    const auto shown = std::min(limit, all.size());
    std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(shown), is_larger);
    view.largest = std::move(all);
    return with_limit(std::move(view), limit);
}

StringsView with_limit(StringsView view, std::size_t limit) {
    view.largest.resize(std::min(limit, view.largest.size()));
    view.others_wasted = view.wasted;
    for (const auto& group : view.largest) {
        view.others_wasted -= group.wasted;
    }
    return view;
}

std::string strings_text(const StringsView& view, const Graph& graph, const Describer& describer) {
    auto out = fmt::format(
        "{} strings, {} bytes ({}); {} values occur more than once and waste {} bytes ({})",
        view.strings, view.size, format_bytes(view.size), view.groups, view.wasted,
        format_bytes(view.wasted));
    if (view.wasted_maybe != 0) {
        out += fmt::format(", {} of these in strings of which the dump has the beginning only",
                           format_bytes(view.wasted_maybe));
    }
    out += fmt::format("\n{:>10}{:>10}{:>12} {}\n", "Wasted", "Count", "Size", "String");
    for (const auto& group : view.largest) {
        out += fmt::format("{:>10}{:>10}{:>12} {}, one of them {}\n", group.wasted, group.count,
                           group.size, kind_text(graph, group), describer.line(group.example));
    }
    if (view.groups > view.largest.size()) {
        out += fmt::format("{:>10}{:>10}{:>12} [{} others]\n", view.others_wasted, "-", "-",
                           view.groups - view.largest.size());
    }
    return out;
}

std::string strings_json(const StringsView& view, const Graph& graph, const Describer& describer) {
    nlohmann::ordered_json out = {{"strings", view.strings},
                                  {"size", view.size},
                                  {"groups", view.groups},
                                  {"wasted", view.wasted},
                                  {"wasted_beginning_only", view.wasted_maybe},
                                  {"largest", nlohmann::ordered_json::array()}};
    for (const auto& group : view.largest) {
        out["largest"].push_back({{"wasted", group.wasted},
                                  {"count", group.count},
                                  {"size", group.size},
                                  {"beginning_only", group.only_beginning != 0},
                                  {"example", object_json(graph, group.example, describer)}});
    }
    if (view.groups > view.largest.size()) {
        out["others"] = {{"groups", view.groups - view.largest.size()},
                         {"wasted", view.others_wasted}};
    }
    return out.dump(2) + '\n';
}

}  // namespace mapdiag::heap
