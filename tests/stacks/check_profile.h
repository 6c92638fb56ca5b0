#pragma once

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "mapdiag/stacks/export.h"
#include "mapdiag/stacks/flame_graph.h"
#include "mapdiag/stacks/profile.h"
#include "mapdiag/stacks/ranking.h"
#include "mapdiag/stacks/tables.h"
#include "mapdiag/stacks/tree.h"

namespace mapdiag::test {

/// Stacks as text, equal ones as one.
using Stacks = std::map<std::string, std::string>;

inline void must_hold(bool condition, const char* what) {
    if (!condition) {
        throw std::logic_error(what);
    }
}

inline Stacks stacks_of(const stacks::Profile& profile) {
    std::map<std::string, stacks::Weight> sums;
    profile.for_each_stack([&](std::span<const stacks::FrameId> frames, stacks::Weight weight) {
        std::string text;
        for (const auto id : frames) {
            text += text.empty() ? "" : " | ";
            text += profile.table.text(id);
        }
        sums[text] += weight;
    });
    Stacks out;
    for (const auto& [text, weight] : sums) {
        out[text] = stacks::format_weight(weight, profile.decimals);
    }
    return out;
}

/// The weights of all stacks add up to the total, no stack is empty and every frame is known.
inline void check_stacks(const stacks::Profile& profile) {
    stacks::Weight sum = 0;
    for (const auto& part : profile.parts) {
        std::uint64_t end = 0;
        for (const auto& stack : part.stacks) {
            must_hold(stack.end > end, "a stack has frames");
            end = stack.end;
            must_hold(!__builtin_add_overflow(sum, stack.weight, &sum), "no sum wraps");
        }
        must_hold(end == part.frames.size(), "every frame belongs to a stack");
        for (const auto id : part.frames) {
            must_hold(id.value > 0 && id.value < profile.table.id_limit(), "every frame is known");
        }
    }
    must_hold(sum == profile.total, "the stacks add up to the total");
}

/// Children and own weight add up to each node; neighbours touch; descendants follow.
inline void check_tree(const stacks::Tree& tree) {
    std::vector<stacks::Weight> children(tree.nodes.size());
    std::vector<stacks::Weight> next(tree.nodes.size());
    must_hold(tree.nodes[0].weight == tree.total, "the root is the whole");
    next[0] = 0;
    for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
        const auto& node = tree.nodes[i];
        const auto& parent = tree.nodes[node.parent];
        must_hold(node.parent < i, "descendants follow");
        must_hold(node.depth == parent.depth + 1, "a child is one deeper");
        must_hold(node.first == next[node.parent], "neighbours touch");
        must_hold(node.weight > 0, "nothing without weight is drawn");
        next[i] = node.first;
        next[node.parent] += node.weight;
        children[node.parent] += node.weight;
        must_hold(node.depth <= tree.deepest, "the deepest row is known");
    }
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        must_hold(children[i] <= tree.nodes[i].weight, "children fit their parent");
    }
}

inline void check_groups(const stacks::Profile& profile) {
    using enum stacks::GroupBy;
    for (const auto by : {function, line, file, module, process, thread}) {
        stacks::FrameTable names;
        const auto weights = weigh(profile, make_grouping(profile.table, by, names));
        stacks::Weight self = 0;
        for (std::size_t group = 0; group < weights.self.size(); ++group) {
            self += weights.self[group];
            must_hold(weights.self[group] <= weights.total[group], "self is a part of total");
            must_hold(weights.total[group] <= profile.total, "recursion counts once");
        }
        must_hold(self == profile.total, "self adds up to the total");
        for (const std::size_t limit : {0U, 1U, 3U}) {
            const auto ranking = rank(profile, {.by = by, .limit = limit});
            auto shown = ranking.others.self;
            for (const auto& row : ranking.rows) {
                shown += row.self;
            }
            must_hold(shown == profile.total, "rows and others add up to the total");
            must_hold(ranking.others.total <= profile.total, "others count a stack once");
        }
    }
}

inline void check_merged(const stacks::Profile& profile) {
    stacks::Weight sum = 0;
    std::vector<std::string_view> before;
    for (const auto& stack : merge_stacks(profile)) {
        std::vector<std::string_view> texts;
        for (const auto id : stack.frames) {
            texts.push_back(profile.table.text(id));
        }
        must_hold(before < texts, "merged stacks are distinct and sorted");
        before = std::move(texts);
        sum += stack.weight;
    }
    must_hold(sum == profile.total, "merged stacks add up to the total");
}

/// What must hold of every profile, however it was made.
inline void check_profile(const stacks::Profile& profile) {
    check_stacks(profile);
    check_groups(profile);
    check_merged(profile);
    for (const double narrowest : {0.0, 20.0}) {
        for (const std::uint32_t deepest : {2000U, 1U}) {
            check_tree(make_tree(profile, nullptr, {.min_percent = narrowest, .deepest = deepest}));
        }
    }
}

}  // namespace mapdiag::test
