// What is drawn and written, byte by byte.
#include "golden.h"
#include "check_bytes.h"

using namespace mapdiag;
using namespace mapdiag::test;

namespace {

stacks::Profile sample(const std::string& name) {
    return profile_of(read_whole(kStacksFolder + "data/" + name));
}

std::string svg_of(const stacks::Profile& profile, const stacks::Profile* before,
                   const stacks::SvgOptions& options, const stacks::TreeOptions& tree = {}) {
    std::string text;
    REQUIRE(write_flame_svg(make_tree(profile, before, tree), profile, options, into(text)));
    return text;
}

}  // namespace

TEST_CASE("golden: flame graphs") {
    const auto threads = sample("sub-threads.folded");
    check_golden("threads.svg", svg_of(threads, nullptr, {.subtitles = {"107 samples"}}));
    check_golden(
        "icicle-module.svg",
        svg_of(threads, nullptr,
               {.title = "An <icicle> & more", .palette = stacks::Palette::module, .icicle = true},
               {.min_percent = 12, .deepest = 7}));
    auto profile = sample("plain.folded");
    auto before = sample("threads.folded");
    renumber(before, profile.table);
    check_golden("diff.svg", svg_of(profile, &before, {.title = "Now and before"}));
}

TEST_CASE("golden: trees for the terminal") {
    const auto profile = sample("threads.folded");
    const auto tree =
        make_tree(profile, nullptr, {.min_percent = 3, .order = stacks::ChildOrder::by_weight});
    check_golden("threads.txt", draw_flame_text(tree, profile, {.width = 90}));
    check_golden("threads-colour.txt",
                 draw_flame_text(tree, profile, {.width = 60, .colour = true}));
}

TEST_CASE("golden: tables and JSON") {
    const auto profile = sample("threads.folded");
    const stacks::RankOptions ranked{.by = stacks::GroupBy::function, .limit = 8};
    const auto ranking = rank(profile, ranked);
    check_golden("top.txt", top_table(ranking, profile, ranked, {.rate = 100}));
    check_golden("top.json", top_json(ranking, profile, ranked, {.rate = 100}));
    const auto after = sample("plain.folded");
    const stacks::CompareOptions options{.by = stacks::GroupBy::function, .limit = 8};
    const auto comparison = stacks::compare(profile, after, options);
    REQUIRE(comparison);
    const stacks::DiffNames names{
        .before = "threads.folded", .after = "plain.folded", .filters = {}};
    check_golden("diff.txt", diff_table(*comparison, options, names, {}));
    check_golden("diff.json", diff_json(*comparison, options, names));
}

TEST_CASE("golden: exports") {
    const auto profile = sample("sub-tree.folded");
    std::string folded;
    REQUIRE(write_folded(profile, into(folded)));
    check_golden("sub-tree.folded", folded);
    std::string speedscope;
    REQUIRE(write_speedscope(profile, "sub-tree", into(speedscope)));
    check_golden("sub-tree.speedscope.json", speedscope);
}
