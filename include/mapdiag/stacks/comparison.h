#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mapdiag/stacks/profile.h"
#include "mapdiag/stacks/ranking.h"
#include "mapdiag/support/error.h"

namespace mapdiag::stacks {

/// One frame in two profiles.
struct ComparedRow {
    std::string label;
    Weight self_before = 0;
    Weight self_after = 0;
    Weight total_before = 0;
    Weight total_after = 0;

    bool is_new() const { return total_before == 0; }
    bool is_gone() const { return total_after == 0; }
};

struct CompareOptions {
    GroupBy by = GroupBy::line;
    SortBy sort = SortBy::self;
    std::size_t limit = 30;  ///< 0: no limit
    bool counts = false;     ///< ranks by change of count, not of share
};

struct Comparison {
    Weight total_before = 0;
    Weight total_after = 0;
    unsigned decimals = 0;          ///< of all weights here
    std::vector<ComparedRow> rows;  ///< changed ones, largest absolute change first, then by label
    std::uint64_t other_count = 0;  ///< changed rows beyond the limit
    ComparedRow others;             ///< only its self weights are sums
    std::uint64_t unchanged_count = 0;
    ComparedRow unchanged;  ///< only its self weights are sums
    /// The frame whose share grew most, and by how many percentage points; "" where none grew.
    std::string grown_most;
    double most_growth = 0;
};

/// Fails where weights of different decimals can't be counted in one unit.
Result<Comparison> compare(const Profile& before, const Profile& after,
                           const CompareOptions& options);

/// A change of share in percentage points with a sign, "+1.20" or "-0.35"; "0.00" for none.
std::string format_change(Weight before, Weight total_before, Weight after, Weight total_after);

}  // namespace mapdiag::stacks
