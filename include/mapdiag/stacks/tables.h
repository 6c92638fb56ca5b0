#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mapdiag/stacks/comparison.h"
#include "mapdiag/stacks/filters.h"
#include "mapdiag/stacks/ranking.h"

namespace mapdiag::stacks {

/// How a table is laid out. In a pipe: no limit of width, no bars, no colour.
struct TableOptions {
    std::size_t width = 0;  ///< columns to fit; 0: as wide as the rows are
    bool bars = false;
    bool colour = false;
    std::optional<double> rate;  ///< samples a second; adds columns of seconds
};

/// `mapdiag top`: a line of totals, one for each filter, a heading and the rows. The "self %"
/// column adds up to 100.00: a row's rounding carries over to the next.
std::string top_table(const Ranking& ranking, const Profile& profile, const RankOptions& ranked,
                      const TableOptions& options);
std::string top_json(const Ranking& ranking, const Profile& profile, const RankOptions& ranked,
                     const TableOptions& options);

/// The two profiles of a comparison, as the user named them.
struct DiffNames {
    std::string before;
    std::string after;
    std::vector<std::string> filters;  ///< what filters did, a line each
};

std::string diff_table(const Comparison& comparison, const CompareOptions& compared,
                       const DiffNames& names, const TableOptions& options);
std::string diff_json(const Comparison& comparison, const CompareOptions& compared,
                      const DiffNames& names);

}  // namespace mapdiag::stacks
