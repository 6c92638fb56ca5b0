#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "../wide.h"
#include "mapdiag/stacks/tables.h"
#include "mapdiag/support/text.h"

namespace mapdiag::stacks {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormatVersion = 1;

// Whole counts stay exact 64-bit integers; only a profile with fractions has numbers with a point.
Json count(Weight weight, unsigned decimals) {
    if (decimals == 0) {
        return weight;
    }
    return std::stod(format_weight(weight, decimals));
}

double share(Weight part, Weight whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

Json effects(const Profile& profile) {
    auto list = Json::array();
    for (const auto& effect : profile.effects) {
        list.push_back({{"filter", effect.filter},
                        {"removed", count(effect.removed, profile.decimals)},
                        {"removed_stacks", effect.stacks},
                        {"changed_frames", effect.frames}});
    }
    return list;
}

class TopJson {
  public:
    TopJson(const Profile& profile, const TableOptions& options)
        : profile_(profile), options_(options) {}

    Json row(const RankedRow& row) const {
        Json out = {{"name", to_valid_utf8(row.label)},
                    {"self", count(row.self, profile_.decimals)},
                    {"self_share", share(row.self, profile_.total)},
                    {"total", count(row.total, profile_.decimals)},
                    {"total_share", share(row.total, profile_.total)}};
        if (options_.rate) {
            out["self_seconds"] = seconds(row.self);
            out["total_seconds"] = seconds(row.total);
        }
        return out;
    }

  private:
    double seconds(Weight weight) const {
        return std::stod(format_weight(weight, profile_.decimals)) / *options_.rate;
    }

    const Profile& profile_;
    const TableOptions& options_;
};

Json compared_row(const ComparedRow& row, const Comparison& comparison) {
    const auto side = [&](Weight self, Weight total, Weight whole) {
        return Json{{"self", count(self, comparison.decimals)},
                    {"self_share", share(self, whole)},
                    {"total", count(total, comparison.decimals)},
                    {"total_share", share(total, whole)}};
    };
    return {{"name", to_valid_utf8(row.label)},
            {"state", row.is_new()    ? "new"
                      : row.is_gone() ? "gone"
                                      : "both"},
            {"before", side(row.self_before, row.total_before, comparison.total_before)},
            {"after", side(row.self_after, row.total_after, comparison.total_after)}};
}

Json self_sums(std::uint64_t frames, const ComparedRow& row, const Comparison& comparison) {
    return {{"frames", frames},
            {"self_before", count(row.self_before, comparison.decimals)},
            {"self_after", count(row.self_after, comparison.decimals)}};
}

}  // namespace

std::string top_json(const Ranking& ranking, const Profile& profile, const RankOptions& ranked,
                     const TableOptions& options) {
    const TopJson json(profile, options);
    auto rows = Json::array();
    for (const auto& row : ranking.rows) {
        rows.push_back(json.row(row));
    }
    Json out = {
        {"format", kFormatVersion},        {"total", count(profile.total, profile.decimals)},
        {"stacks", profile.stack_count()}, {"by", name_of(ranked.by)},
        {"sort", name_of(ranked.sort)},    {"filters", effects(profile)},
        {"rows", std::move(rows)},         {"others", nullptr}};
    if (ranking.other_count > 0) {
        out["others"] = json.row(ranking.others);
        out["others"]["frames"] = ranking.other_count;
    }
    return out.dump(2) + '\n';
}

std::string diff_json(const Comparison& comparison, const CompareOptions& compared,
                      const DiffNames& names) {
    auto rows = Json::array();
    for (const auto& row : comparison.rows) {
        rows.push_back(compared_row(row, comparison));
    }
    Json out = {
        {"format", kFormatVersion},
        {"before",
         {{"file", to_valid_utf8(names.before)},
          {"total", count(comparison.total_before, comparison.decimals)}}},
        {"after",
         {{"file", to_valid_utf8(names.after)},
          {"total", count(comparison.total_after, comparison.decimals)}}},
        {"by", name_of(compared.by)},
        {"sort", name_of(compared.sort)},
        {"ranked_by", compared.counts ? "counts" : "shares"},
        {"filters", names.filters},
        {"rows", std::move(rows)},
        {"others", self_sums(comparison.other_count, comparison.others, comparison)},
        {"unchanged", self_sums(comparison.unchanged_count, comparison.unchanged, comparison)}};
    return out.dump(2) + '\n';
}

}  // namespace mapdiag::stacks
