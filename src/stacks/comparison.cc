#include "mapdiag/stacks/comparison.h"

#include <fmt/format.h>

#include <algorithm>

#include "wide.h"

namespace mapdiag::stacks {
namespace {

// A weight in both profiles and the totals that make shares of them.
struct Pair {
    Weight before = 0;
    Weight after = 0;
    bool grew = false;
    Wide change = 0;  ///< |after/total_after - before/total_before| * total_after * total_before
};

Pair pair_of(Weight before, Weight total_before, Weight after, Weight total_after) {
    const auto a = product(after, total_before);
    const auto b = product(before, total_after);
    return {.before = before, .after = after, .grew = a > b, .change = a > b ? a - b : b - a};
}

// The change in hundredths of a percentage point, rounded half up.
std::uint64_t hundredths(const Pair& pair, Weight total_before, Weight total_after) {
    // 10000 * change may not fit, so the shares' parts are divided first where they are large.
    auto change = pair.change;
    auto whole = product(total_before, total_after);
    constexpr Wide kRoom = ~static_cast<Wide>(0) / 20001;
    while (change > kRoom) {
        change >>= 1U;
        whole >>= 1U;
    }
    return static_cast<std::uint64_t>((change * 20000 + whole) / (whole * 2));
}

unsigned power_of_ten(unsigned exponent) {
    unsigned value = 1;
    for (; exponent > 0; --exponent) {
        value *= 10;
    }
    return value;
}

bool scale(GroupWeights& weights, Weight& total, unsigned factor) {
    bool fits = !__builtin_mul_overflow(total, Weight{factor}, &total);
    for (auto* const column : {&weights.self, &weights.total}) {
        for (auto& weight : *column) {
            fits = !__builtin_mul_overflow(weight, Weight{factor}, &weight) && fits;
        }
    }
    return fits;
}

Weight at(const std::vector<Weight>& weights, std::size_t group) {
    return group < weights.size() ? weights[group] : 0;
}

struct Candidate {
    ComparedRow row;
    Pair share;
    Weight count_change = 0;
};

void add_self(ComparedRow& sum, const ComparedRow& row) {
    sum.self_before += row.self_before;
    sum.self_after += row.self_after;
}

}  // namespace

Result<Comparison> compare(const Profile& before, const Profile& after,
                           const CompareOptions& options) {
    FrameTable names;
    const auto grouping_before = make_grouping(before.table, options.by, names);
    const auto grouping_after = make_grouping(after.table, options.by, names);
    auto weights_before = weigh(before, grouping_before);
    auto weights_after = weigh(after, grouping_after);
    Comparison comparison{.total_before = before.total,
                          .total_after = after.total,
                          .decimals = std::max(before.decimals, after.decimals)};
    if (!scale(weights_before, comparison.total_before,
               power_of_ten(comparison.decimals - before.decimals)) ||
        !scale(weights_after, comparison.total_after,
               power_of_ten(comparison.decimals - after.decimals))) {
        return std::unexpected(
            Error::because("compare", "the profiles",
                           "the counts are too large for the decimals of the other one"));
    }
    std::vector<Candidate> changed;
    std::string grown_most;
    Wide most_growth = 0;
    for (std::size_t group = 0; group < grouping_after.labels.size(); ++group) {
        Candidate candidate{.row = {.label = grouping_after.labels[group],
                                    .self_before = at(weights_before.self, group),
                                    .self_after = at(weights_after.self, group),
                                    .total_before = at(weights_before.total, group),
                                    .total_after = at(weights_after.total, group)},
                            .share = {},
                            .count_change = 0};
        const auto& row = candidate.row;
        if (row.total_before == 0 && row.total_after == 0) {
            continue;
        }
        const bool self = options.sort == SortBy::self;
        const auto first = self ? row.self_before : row.total_before;
        const auto second = self ? row.self_after : row.total_after;
        candidate.share = pair_of(first, comparison.total_before, second, comparison.total_after);
        candidate.count_change = first > second ? first - second : second - first;
        // A share may grow where the count stays, because the whole shrank.
        const auto growth = candidate.share.grew ? candidate.share.change : 0;
        if (growth > most_growth ||
            (growth > 0 && growth == most_growth && candidate.row.label < grown_most)) {
            most_growth = growth;
            grown_most = candidate.row.label;
        }
        const bool same =
            options.counts ? candidate.count_change == 0 : candidate.share.change == 0;
        if (same) {
            ++comparison.unchanged_count;
            add_self(comparison.unchanged, candidate.row);
        } else {
            changed.push_back(std::move(candidate));
        }
    }
    std::ranges::sort(changed, [&](const Candidate& a, const Candidate& b) {
        if (options.counts && a.count_change != b.count_change) {
            return a.count_change > b.count_change;
        }
        if (!options.counts && a.share.change != b.share.change) {
            return a.share.change > b.share.change;
        }
        return a.row.label < b.row.label;
    });
    comparison.grown_most = std::move(grown_most);
    comparison.most_growth = static_cast<double>(
        static_cast<long double>(most_growth) * 100 /
        static_cast<long double>(product(comparison.total_before, comparison.total_after)));
    for (auto& candidate : changed) {
        if (options.limit == 0 || comparison.rows.size() < options.limit) {
            comparison.rows.push_back(std::move(candidate.row));
        } else {
            ++comparison.other_count;
            add_self(comparison.others, candidate.row);
        }
    }
    comparison.others.label = fmt::format("[{} others]", comparison.other_count);
    comparison.unchanged.label = fmt::format("[{} unchanged]", comparison.unchanged_count);
    return comparison;
}

std::string format_change(Weight before, Weight total_before, Weight after, Weight total_after) {
    const auto pair = pair_of(before, total_before, after, total_after);
    const auto change = hundredths(pair, total_before, total_after);
    if (change == 0) {
        return pair.change == 0 ? "0.00" : pair.grew ? "+0.00" : "-0.00";
    }
    return fmt::format("{}{}.{:02}", pair.grew ? '+' : '-', change / 100, change % 100);
}

}  // namespace mapdiag::stacks
