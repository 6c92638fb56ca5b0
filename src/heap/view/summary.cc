#include "mapdiag/heap/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "mapdiag/support/text.h"

namespace mapdiag::heap {
namespace {

constexpr std::string_view kExReference = "<ex-reference>";

void add(const Graph& graph, ObjectId id, std::vector<SummaryRow>& by_type) {
    auto& row = by_type[graph.type(id).value];
    ++row.count;
    row.size += graph.size(id);
    row.largest = std::max(row.largest, graph.size(id));
}

void remove(const Graph& graph, ObjectId id, std::vector<SummaryRow>& by_type) {
    auto& row = by_type[graph.type(id).value];
    --row.count;
    row.size -= graph.size(id);
}

// The largest of a type after some of its objects were taken away.
void find_largest_again(const Graph& graph, const std::vector<ObjectId>& without,
                        std::vector<SummaryRow>& by_type) {
    std::vector<bool> affected(by_type.size());
    for (const auto id : without) {
        const auto type = graph.type(id).value;
        affected[type] = true;
        by_type[type].largest = 0;
    }
    for (std::uint32_t id = 1; id < graph.end(); ++id) {
        const auto type = graph.type({id}).value;
        if (affected[type] && !std::ranges::binary_search(without, ObjectId{id})) {
            by_type[type].largest = std::max(by_type[type].largest, graph.size({id}));
        }
    }
}

std::vector<SummaryRow> whole_heap(const Graph& graph, const WalkOptions& walk) {
    std::vector<SummaryRow> by_type(graph.type_count());
    for (std::size_t type = 0; type < by_type.size(); ++type) {
        const auto& totals = graph.columns().type_totals[type];
        by_type[type] = {{}, totals.count, totals.size, totals.largest, 0};
    }
    auto without = walk.excluding;
    std::erase_if(without, [&](ObjectId id) { return !graph.is_object(id); });
    std::ranges::sort(without);
    const auto repeats = std::ranges::unique(without);
    without.erase(repeats.begin(), repeats.end());
    if (!without.empty()) {
        for (const auto id : without) {
            remove(graph, id, by_type);
        }
        find_largest_again(graph, without, by_type);
    }
    return by_type;
}

Result<void> add_retained(Heap& heap, const SummaryOptions& options, bool& done,
                          std::vector<SummaryRow>& by_type) {
    done = options.order == SummaryOrder::kRetained;
    if (!done) {
        return {};
    }
    Column<std::uint64_t> own;
    const Column<std::uint64_t>* retained = nullptr;
    if (options.walk.without_expensive) {
        own = std::move(find_dominators(without_expensive_refs(heap.graph())).type_retained);
        retained = &own;
    } else {
        const auto tree = heap.retained();
        if (!tree) {
            return std::unexpected(tree.error());
        }
        retained = &(*tree)->type_retained;
    }
    for (std::size_t type = 0; type < by_type.size(); ++type) {
        by_type[type].retained = (*retained)[type];
    }
    return {};
}

void sort_rows(std::vector<SummaryRow>& rows, SummaryOrder order) {
    const auto key = [order](const SummaryRow& row) {
        switch (order) {
            case SummaryOrder::kCount:
                return std::tuple(row.count, row.size, row.count);
            case SummaryOrder::kRetained:
                return std::tuple(row.retained, row.size, row.count);
            case SummaryOrder::kSize:
                break;
        }
        return std::tuple(row.size, row.count, row.count);
    };
    std::ranges::sort(rows, [&](const SummaryRow& a, const SummaryRow& b) {
        return key(a) != key(b) ? key(a) > key(b) : a.kind < b.kind;
    });
}

// What the rows behind `limit` add up to.
SummaryRow others_of(const Summary& summary, std::size_t limit) {
    SummaryRow others;
    for (std::size_t i = limit; i < summary.rows.size(); ++i) {
        others.count += summary.rows[i].count;
        others.size += summary.rows[i].size;
        others.largest = std::max(others.largest, summary.rows[i].largest);
    }
    others.kind = fmt::format("[{} others]", summary.rows.size() - limit);
    return others;
}

int percent(std::uint64_t part, std::uint64_t whole) {
    // As Meliae: cut, not rounded.
    return whole == 0
               ? 0
               : static_cast<int>(100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace

Result<Summary> summarize(Heap& heap, const SummaryOptions& options) {
    const auto& graph = heap.graph();
    std::vector<SummaryRow> by_type;
    bool has_ex_reference = options.walk.without_expensive;
    if (options.of) {
        by_type.resize(graph.type_count());
        const auto reach = reach_of(graph, *options.of, options.walk);
        for (const auto id : reach.visited) {
            add(graph, id, by_type);
        }
        has_ex_reference = reach.has_ex_reference;
    } else {
        by_type = whole_heap(graph, options.walk);
    }
    Summary summary;
    if (auto added = add_retained(heap, options, summary.has_retained, by_type); !added) {
        return std::unexpected(added.error());
    }
    for (std::uint32_t type = 1; type < by_type.size(); ++type) {
        if (by_type[type].count != 0) {
            by_type[type].kind = graph.type_name({type});
            summary.objects += by_type[type].count;
            summary.size += by_type[type].size;
            summary.rows.push_back(std::move(by_type[type]));
        }
    }
    const auto zero = graph.find(0);
    if (has_ex_reference && !(zero && graph.is_object(*zero))) {
        summary.rows.push_back({std::string(kExReference), 1, 0, 0, 0});
        ++summary.objects;
    }
    sort_rows(summary.rows, options.order);
    return summary;
}

std::string summary_text(const Summary& summary, std::size_t limit) {
    auto out = fmt::format("Total {} objects, {} types, Total size = {:.1f}MiB ({} bytes)\n",
                           summary.objects, summary.rows.size(),
                           static_cast<double>(summary.size) / 1024.0 / 1024.0, summary.size);
    out += fmt::format(" Index   Count   %      Size   % Cum     Max{} Kind\n",
                       summary.has_retained ? "    Retained" : "");
    std::uint64_t cumulative = 0;
    const auto put = [&](std::string_view index, const SummaryRow& row, bool has_retained) {
        cumulative += row.size;
        out += fmt::format("{:>6}{:>8}{:>4}{:>10}{:>4}{:>4}{:>8}", index, row.count,
                           percent(row.count, summary.objects), row.size,
                           percent(row.size, summary.size), percent(cumulative, summary.size),
                           row.largest);
        if (summary.has_retained) {
            out += has_retained ? fmt::format("{:>12}", row.retained) : fmt::format("{:>12}", "-");
        }
        out += ' ' + printable(row.kind) + '\n';
    };
    for (std::size_t i = 0; i < std::min(limit, summary.rows.size()); ++i) {
        put(std::to_string(i), summary.rows[i], true);
    }
    if (summary.rows.size() > limit) {
        put("", others_of(summary, limit), false);
    }
    return out;
}

std::string summary_json(const Summary& summary, std::size_t limit) {
    const auto row_json = [&](const SummaryRow& row) {
        nlohmann::ordered_json out = {{"kind", to_valid_utf8(row.kind)},
                                      {"count", row.count},
                                      {"size", row.size},
                                      {"max", row.largest}};
        if (summary.has_retained) {
            out["retained"] = row.retained;
        }
        return out;
    };
    nlohmann::ordered_json out = {{"objects", summary.objects},
                                  {"types", summary.rows.size()},
                                  {"size", summary.size},
                                  {"rows", nlohmann::ordered_json::array()}};
    for (std::size_t i = 0; i < std::min(limit, summary.rows.size()); ++i) {
        out["rows"].push_back(row_json(summary.rows[i]));
    }
    if (summary.rows.size() > limit) {
        const auto others = others_of(summary, limit);
        out["others"] = {{"types", summary.rows.size() - limit},
                         {"count", others.count},
                         {"size", others.size},
                         {"max", others.largest}};
    }
    return out.dump(2) + '\n';
}

}  // namespace mapdiag::heap
