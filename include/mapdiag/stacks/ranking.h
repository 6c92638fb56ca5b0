#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mapdiag/stacks/profile.h"

namespace mapdiag::stacks {

/// What one row of a table stands for.
enum class GroupBy { function, line, file, module, process, thread };
enum class SortBy { self, total };

/// "function", "line", ...
std::string_view name_of(GroupBy by);
std::string_view name_of(SortBy sort);

/// The groups that the frames of a profile fall into.
struct Grouping {
    std::vector<std::uint32_t> group_of;  ///< by frame id; 0 where the frame belongs to none
    std::vector<std::string> labels;  ///< by group; [0] is for stacks without any, "[no process]"
};

/// `labels` of several profiles may be shared: give the same `names` to each call.
Grouping make_grouping(const FrameTable& table, GroupBy by, FrameTable& names);

/// Weights by group. Recursion counts once in `total`; `self` adds up to the profile's total.
struct GroupWeights {
    std::vector<Weight> self;
    std::vector<Weight> total;
};
GroupWeights weigh(const Profile& profile, const Grouping& grouping);

struct RankedRow {
    std::string label;
    Weight self = 0;
    Weight total = 0;
};

struct Ranking {
    std::vector<RankedRow> rows;  ///< largest first, then by label
    /// The rows beyond the limit, as one; its total counts each stack once.
    std::uint64_t other_count = 0;
    RankedRow others;
};

struct RankOptions {
    GroupBy by = GroupBy::line;
    SortBy sort = SortBy::self;
    std::size_t limit = 30;  ///< 0: no limit
};

Ranking rank(const Profile& profile, const RankOptions& options);

}  // namespace mapdiag::stacks
