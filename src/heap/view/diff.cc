#include "mapdiag/heap/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "mapdiag/support/text.h"

namespace mapdiag::heap {
namespace {

std::uint64_t distance(const Change& change) {
    return std::max(change.before, change.after) - std::min(change.before, change.after);
}

std::string difference(const Change& change) {
    const char* const sign = change.after > change.before   ? "+"
                             : change.after < change.before ? "-"
                                                            : "";
    return fmt::format("{}{}", sign, distance(change));
}

Result<void> add(Heap& heap, std::uint64_t Change::* side, std::map<std::string, TypeChange>& rows,
                 TypeChange& total) {
    const auto tree = heap.retained();
    if (!tree) {
        return std::unexpected(tree.error());
    }
    const auto& graph = heap.graph();
    for (std::uint32_t type = 1; type < graph.type_count(); ++type) {
        const auto& totals = graph.columns().type_totals[type];
        if (totals.count == 0) {
            continue;
        }
        auto& row = rows[std::string(graph.type_name({type}))];
        row.count.*side = totals.count;
        row.size.*side = totals.size;
        row.retained.*side = (*tree)->type_retained[type];
    }
    total.count.*side = graph.facts().objects;
    total.size.*side = graph.facts().size;
    total.retained.*side = (*tree)->retained[0];
    return {};
}

void add_change(const Change& from, Change& into) {
    into.before += from.before;
    into.after += from.after;
}

TypeChange others_of(const HeapDiff& diff, std::size_t limit) {
    TypeChange others;
    for (std::size_t i = limit; i < diff.types.size(); ++i) {
        add_change(diff.types[i].count, others.count);
        add_change(diff.types[i].size, others.size);
    }
    others.kind = fmt::format("[{} others]", diff.types.size() - limit);
    return others;
}

std::string row_text(const TypeChange& row, bool has_retained) {
    return fmt::format(
        "{:>12}{:>12}{:>14}{:>14}{:>14}{:>14} {}\n", difference(row.count), row.count.after,
        difference(row.size), row.size.after, has_retained ? difference(row.retained) : "-",
        has_retained ? std::to_string(row.retained.after) : "-", printable(row.kind));
}

nlohmann::ordered_json change_json(const Change& change) {
    return {{"before", change.before}, {"after", change.after}};
}

nlohmann::ordered_json row_json(const TypeChange& row, bool has_retained) {
    nlohmann::ordered_json out = {{"kind", to_valid_utf8(row.kind)},
                                  {"count", change_json(row.count)},
                                  {"size", change_json(row.size)}};
    if (has_retained) {
        out["retained"] = change_json(row.retained);
    }
    return out;
}

}  // namespace

Result<HeapDiff> compare_heaps(Heap& before, Heap& after) {
    HeapDiff diff;
    std::map<std::string, TypeChange> rows;
    if (auto added = add(before, &Change::before, rows, diff.total); !added) {
        return std::unexpected(added.error());
    }
    if (auto added = add(after, &Change::after, rows, diff.total); !added) {
        return std::unexpected(added.error());
    }
    for (auto& [kind, row] : rows) {
        row.kind = kind;
        diff.types.push_back(std::move(row));
    }
    std::ranges::sort(diff.types, [](const TypeChange& a, const TypeChange& b) {
        const auto change = [](const TypeChange& type) {
            return std::tuple(distance(type.size), distance(type.count), distance(type.retained));
        };
        return change(a) != change(b) ? change(a) > change(b) : a.kind < b.kind;
    });
    diff.total.kind = "Total";
    return diff;
}

std::string diff_text(const HeapDiff& diff, std::size_t limit) {
    auto out = fmt::format("{:>12}{:>12}{:>14}{:>14}{:>14}{:>14} {}\n", "Count +/-", "Count",
                           "Size +/-", "Size", "Retained +/-", "Retained", "Kind");
    for (std::size_t i = 0; i < std::min(limit, diff.types.size()); ++i) {
        out += row_text(diff.types[i], true);
    }
    if (diff.types.size() > limit) {
        out += row_text(others_of(diff, limit), false);
    }
    return out + row_text(diff.total, true);
}

std::string diff_json(const HeapDiff& diff, std::size_t limit) {
    nlohmann::ordered_json out = {{"total", row_json(diff.total, true)},
                                  {"types", nlohmann::ordered_json::array()}};
    for (std::size_t i = 0; i < std::min(limit, diff.types.size()); ++i) {
        out["types"].push_back(row_json(diff.types[i], true));
    }
    if (diff.types.size() > limit) {
        out["others"] = row_json(others_of(diff, limit), false);
        out["others"]["types"] = diff.types.size() - limit;
    }
    return out.dump(2) + '\n';
}

}  // namespace mapdiag::heap
