#pragma once

#include <string>
#include <string_view>

#include "check_profile.h"
#include "mapdiag/stacks/comparison.h"
#include "mapdiag/stacks/filters.h"
#include "mapdiag/stacks/reader.h"
#include "mapdiag/support/text.h"

namespace mapdiag::test {

/// Collects what is drawn or exported.
inline stacks::Sink into(std::string& text) {
    return [&text](std::string_view piece) -> Result<void> {
        text += piece;
        return {};
    };
}

inline bool is_utf8(std::string_view text) {
    return to_valid_utf8(text) == text;
}

/// Every command's work on one profile: nothing crashes, texts are UTF-8, totals are kept.
inline void check_results(const stacks::Profile& profile) {
    check_profile(profile);
    const auto tree = make_tree(profile, nullptr, {});
    std::string svg;
    must_hold(write_flame_svg(tree, profile, {}, into(svg)).has_value(), "an SVG is drawn");
    must_hold(is_utf8(svg) && svg.ends_with("</svg>\n"), "an SVG is whole and UTF-8");
    must_hold(is_utf8(draw_flame_text(tree, profile, {})), "the text tree is UTF-8");
    must_hold(is_utf8(top_table(rank(profile, {}), profile, {}, {})), "the table is UTF-8");
    must_hold(is_utf8(top_json(rank(profile, {}), profile, {}, {})), "JSON is UTF-8");
    const auto same = stacks::compare(profile, profile, {});
    must_hold(same && same->rows.empty() && same->most_growth == 0, "nothing changed");
    std::string speedscope;
    must_hold(write_speedscope(profile, "n", into(speedscope)).has_value(), "speedscope");
    must_hold(is_utf8(speedscope), "speedscope's JSON is UTF-8");
    std::string pprof;
    must_hold(write_pprof(profile, into(pprof)).has_value() == (profile.total <= ~0ULL >> 1U),
              "pprof");
    std::string folded;
    must_hold(write_folded(profile, into(folded)).has_value(), "folded");
}

/// Any bytes as a file: read or refused, the same in one go and in pieces of `block` bytes.
inline void check_folded_file(const std::string& path, std::size_t block) {
    const stacks::ReadOptions whole{.threads = 1};
    const stacks::ReadOptions pieces{.threads = 2, .block_size = block, .merge_from = block};
    auto read = stacks::read_profile({path}, whole);
    const auto again = stacks::read_profile({path}, pieces);
    // How much of damaged packed data can be had depends on how it is read, and whether lines have
    // two counts is decided by the first piece.
    const auto comparable = [](const Result<stacks::Read>& r) {
        return r && !r->files[0].two_counts && !r->files[0].damage;
    };
    if (comparable(read) && comparable(again)) {
        must_hold(stacks_of(read->profile) == stacks_of(again->profile), "pieces don't matter");
        must_hold(describe(read->files[0]) == describe(again->files[0]), "nor for what is said");
    }
    if (!read) {
        must_hold(is_utf8(read.error().text()), "errors are UTF-8");
        return;
    }
    check_results(read->profile);
    stacks::Filters filters;
    filters.hide_startup = true;
    filters.merge_processes = true;
    filters.collapse_recursion = true;
    const auto total = read->profile.total;
    must_hold(apply_filters(read->profile, filters).has_value(), "these filters remove no stack");
    must_hold(read->profile.total == total, "nor any weight");
    check_profile(read->profile);
}

}  // namespace mapdiag::test
