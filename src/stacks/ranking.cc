#include "mapdiag/stacks/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <ranges>

#include "mapdiag/stacks/frame_parts.h"

namespace mapdiag::stacks {
namespace {

std::string function_label(std::string_view frame) {
    const auto parts = frame_parts(frame);
    return parts.file.empty() ? std::string(parts.function)
                              : fmt::format("{} ({})", parts.function, parts.file);
}

// The label of the group that a frame belongs to; "" where it belongs to none.
std::string label_of(std::string_view frame, GroupBy by) {
    switch (by) {
        case GroupBy::function:
            return function_label(frame);
        case GroupBy::line:
            return std::string(frame);
        case GroupBy::file: {
            const auto file = frame_parts(frame).file;
            return file.empty() ? "[no file]" : std::string(file);
        }
        case GroupBy::module: {
            auto module = frame_module(frame);
            return module.empty() ? "[no module]" : module;
        }
        case GroupBy::process:
            return is_process_frame(frame) ? std::string(frame) : "";
        case GroupBy::thread:
            return is_thread_frame(frame) ? std::string(frame) : "";
    }
    return {};
}

// The group that a stack's own weight belongs to: that of the innermost frame that has one.
std::uint32_t innermost_group(std::span<const FrameId> frames, const Grouping& grouping) {
    for (const auto id : std::views::reverse(frames)) {
        if (const auto group = grouping.group_of[id.value]; group != 0) {
            return group;
        }
    }
    return 0;
}

// The weight of all stacks that have a frame of a marked group.
Weight weight_with_any(const Profile& profile, const Grouping& grouping,
                       const std::vector<bool>& marked) {
    Weight sum = 0;
    profile.for_each_stack([&](std::span<const FrameId> frames, Weight weight) {
        const bool any = std::ranges::any_of(
            frames, [&](FrameId id) { return marked[grouping.group_of[id.value]]; });
        const bool none = marked[0] && innermost_group(frames, grouping) == 0;
        sum += any || none ? weight : 0;
    });
    return sum;
}

}  // namespace

std::string_view name_of(GroupBy by) {
    switch (by) {
        case GroupBy::function:
            return "function";
        case GroupBy::line:
            return "line";
        case GroupBy::file:
            return "file";
        case GroupBy::module:
            return "module";
        case GroupBy::process:
            return "process";
        case GroupBy::thread:
            return "thread";
    }
    return "";
}

std::string_view name_of(SortBy sort) {
    return sort == SortBy::self ? "self" : "total";
}

Grouping make_grouping(const FrameTable& table, GroupBy by, FrameTable& names) {
    Grouping grouping;
    grouping.group_of.resize(table.id_limit());
    for (std::uint32_t id = 1; id < table.id_limit(); ++id) {
        const auto label = label_of(table.text({id}), by);
        grouping.group_of[id] = label.empty() ? 0 : names.intern(label).value;
    }
    grouping.labels.emplace_back(by == GroupBy::process  ? "[no process]"
                                 : by == GroupBy::thread ? "[no thread]"
                                                         : "[none]");
    for (std::uint32_t group = 1; group < names.id_limit(); ++group) {
        grouping.labels.emplace_back(names.text({group}));
    }
    return grouping;
}

GroupWeights weigh(const Profile& profile, const Grouping& grouping) {
    const auto groups = grouping.labels.size();
    GroupWeights weights{.self = std::vector<Weight>(groups), .total = std::vector<Weight>(groups)};
    std::vector<std::uint64_t> last_stack(groups);
    std::uint64_t number = 0;
    profile.for_each_stack([&](std::span<const FrameId> frames, Weight weight) {
        ++number;
        for (const auto id : frames) {
            const auto group = grouping.group_of[id.value];
            if (last_stack[group] != number) {
                last_stack[group] = number;
                weights.total[group] += weight;
            }
        }
        const auto innermost = innermost_group(frames, grouping);
        weights.self[innermost] += weight;
    });
    // Frames without a group are no group; stacks without one are.
    weights.total[0] = weights.self[0];
    return weights;
}

Ranking rank(const Profile& profile, const RankOptions& options) {
    FrameTable names;
    const auto grouping = make_grouping(profile.table, options.by, names);
    const auto weights = weigh(profile, grouping);
    std::vector<std::uint32_t> order;
    for (std::uint32_t group = 0; group < grouping.labels.size(); ++group) {
        if (weights.total[group] > 0) {
            order.push_back(group);
        }
    }
    const bool by_self = options.sort == SortBy::self;
    const auto& first = by_self ? weights.self : weights.total;
    const auto& second = by_self ? weights.total : weights.self;
    std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
        if (first[a] != first[b]) {
            return first[a] > first[b];
        }
        return second[a] != second[b] ? second[a] > second[b]
                                      : grouping.labels[a] < grouping.labels[b];
    });
    const auto shown = options.limit == 0 ? order.size() : std::min(order.size(), options.limit);
    Ranking ranking;
    for (const auto group : order | std::views::take(shown)) {
        ranking.rows.push_back({.label = grouping.labels[group],
                                .self = weights.self[group],
                                .total = weights.total[group]});
    }
    if (shown < order.size()) {
        std::vector<bool> rest(grouping.labels.size());
        for (const auto group : order | std::views::drop(shown)) {
            rest[group] = true;
            ranking.others.self += weights.self[group];
        }
        ranking.other_count = order.size() - shown;
        ranking.others.label = fmt::format("[{} others]", ranking.other_count);
        ranking.others.total = weight_with_any(profile, grouping, rest);
    }
    return ranking;
}

}  // namespace mapdiag::stacks
