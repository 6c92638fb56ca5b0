// diff: shares and counts, new and gone frames, the growth that the gate looks at, the tables.
#include "mapdiag/stacks/comparison.h"

#include <nlohmann/json.hpp>

#include "mapdiag/stacks/tables.h"
#include "stacks_fixture.h"

using namespace mapdiag;
using namespace mapdiag::test;

namespace {

// Compares, and checks that nothing is lost: rows, others and unchanged add up to both totals.
stacks::Comparison compared(const std::string& before, const std::string& after,
                            const stacks::CompareOptions& options = {}) {
    const auto a = profile_of(before);
    const auto b = profile_of(after);
    auto comparison = stacks::compare(a, b, options);
    REQUIRE(comparison);
    auto self_before = comparison->others.self_before + comparison->unchanged.self_before;
    auto self_after = comparison->others.self_after + comparison->unchanged.self_after;
    for (const auto& row : comparison->rows) {
        self_before += row.self_before;
        self_after += row.self_after;
    }
    CHECK(self_before == comparison->total_before);
    CHECK(self_after == comparison->total_after);
    return std::move(*comparison);
}

std::string table(const std::string& before, const std::string& after,
                  const stacks::CompareOptions& options = {},
                  const stacks::TableOptions& shown = {}) {
    return diff_table(compared(before, after, options), options,
                      {.before = "one", .after = "two", .filters = {}}, shown);
}

}  // namespace

TEST_CASE("a run twice as long with the same shape shows no change") {
    CHECK(table("m;a 50\nm;b 50\n", "m;a 100\nm;b 100\n") ==
          "before: 100 samples in one\n"
          "after:  200 samples in two\n"
          "self shares by line, no change\n"
          "before %  after %  points    line\n"
          "  100.00   100.00    0.00    [3 unchanged]\n");
    CHECK(compared("m;a 50\nm;b 50\n", "m;a 100\nm;b 100\n").most_growth == 0);
    // Nor does one that differs by less than a float can tell.
    CHECK(compared("a 6148914691236517205\nb 6148914691236517205\n", "a 1\nb 1\n").rows.empty());
}

TEST_CASE("new and gone frames are marked, the largest change comes first") {
    CHECK(table("m;a 50\nm;gone 30\nm;b 20\n", "m;a 65\nm;b 20\nm;new 15\n") ==
          "before: 100 samples in one\n"
          "after:  100 samples in two\n"
          "self shares by line, largest change first\n"
          "before %  after %  points        line\n"
          "   30.00     0.00  -30.00  gone  gone\n"
          "   50.00    65.00  +15.00        a\n"
          "    0.00    15.00  +15.00   new  new\n"
          "   20.00    20.00    0.00        [2 unchanged]\n");
}

TEST_CASE("the rest of the changes is one row") {
    CHECK(table("a 50\nb 30\nc 20\n", "a 10\nb 45\nc 45\n", {.limit = 1}) ==
          "before: 100 samples in one\n"
          "after:  100 samples in two\n"
          "self shares by line, largest change first\n"
          "before %  after %  points    line\n"
          "   50.00    10.00  -40.00    a\n"
          "   50.00    90.00  +40.00    [2 others]\n");
    CHECK(table("m;a 50\nm;b 30\nm;c 20\n", "m;a 10\nm;b 45\nm;c 45\n",
                {.sort = stacks::SortBy::total, .limit = 1}) ==
          "before: 100 samples in one\n"
          "after:  100 samples in two\n"
          "total shares by line, largest change first\n"
          "before %  after %  points    line\n"
          "   50.00    10.00  -40.00    a\n"
          "                             [2 others]\n"
          "                             [1 unchanged]\n");
}

TEST_CASE("raw counts on request") {
    CHECK(table("m;a 50\nm;b 50\n", "m;a 100\nm;b 49.5\n", {.counts = true}) ==
          "before: 100 samples in one\n"
          "after:  149.5 samples in two\n"
          "self counts by line, largest change first\n"
          "before  after  change    line\n"
          "    50    100     +50    a\n"
          "    50   49.5    -0.5    b\n"
          "     0      0       0    [1 unchanged]\n");
}

TEST_CASE("more is red and less is green on a terminal") {
    CHECK(table("a 3\nb 1\n", "a 1\nb 3\n", {}, {.width = 60, .colour = true}) ==
          "before: 4 samples in one\n"
          "after:  4 samples in two\n"
          "self shares by line, largest change first\n"
          "\x1b[1mbefore %  after %  points    line\x1b[0m\n"
          "\x1b[32m   75.00    25.00  -50.00    \x1b[0ma\n"
          "\x1b[31m   25.00    75.00  +50.00    \x1b[0mb\n");
}

TEST_CASE("the largest growth is found among all rows, and for shares with --counts too") {
    const auto grown = compared("a 50\nb 50\n", "a 60\nb 40\n");
    CHECK(grown.grown_most == "a");
    CHECK(grown.most_growth == 10.0);
    const auto cut = compared("a 50\nb 30\nc 20\n", "a 10\nb 60\nc 30\n", {.limit = 1});
    CHECK(cut.rows[0].label == "a");
    CHECK(cut.grown_most == "b");
    CHECK(cut.most_growth == 30.0);
    // Its count stays, but it is all that is left.
    const auto shrunk = compared("a 50\nb 50\n", "a 50\n", {.counts = true});
    CHECK(shrunk.grown_most == "a");
    CHECK(shrunk.most_growth == 50.0);
    // By total, by function, and equal growth by name.
    CHECK(
        compared("m;a 1\nn;b 1\n", "m;a 3\nn;b 1\n", {.sort = stacks::SortBy::total}).most_growth ==
        25.0);
    CHECK(compared("z 2\na 2\nb 4\n", "z 3\na 3\nb 2\n").grown_most == "a");
    CHECK(compared("f (a.py:1) 5\nf (a.py:2) 5\n", "f (a.py:3) 9\n",
                   {.by = stacks::GroupBy::function})
              .most_growth == 0);
}

TEST_CASE("decimals of one profile only") {
    const auto comparison = compared("a 1.25\nb 2\n", "a 3\nb 1\n");
    CHECK(comparison.decimals == 2);
    CHECK(comparison.total_before == 325);
    CHECK(comparison.total_after == 400);
    const auto before = profile_of("a 1.5\n");
    const auto after = profile_of("a 18446744073709551615\n");
    const auto none = stacks::compare(before, after, {});
    REQUIRE_FALSE(none);
    CHECK(none.error().text() ==
          "can't compare the profiles: the counts are too large for the decimals of the other one");
}

TEST_CASE("changes are exact, also of the largest counts") {
    const auto most = ~0ULL;
    CHECK(stacks::format_change(1, 4, 2, 4) == "+25.00");
    CHECK(stacks::format_change(2, 4, 1, 4) == "-25.00");
    CHECK(stacks::format_change(1, 4, 2, 8) == "0.00");
    CHECK(stacks::format_change(1, 1000000, 2, 1000000) == "+0.00");
    CHECK(stacks::format_change(2, 1000000, 1, 1000000) == "-0.00");
    CHECK(stacks::format_change(0, most, most, most) == "+100.00");
    CHECK(stacks::format_change(most, most, 0, most) == "-100.00");
}

TEST_CASE("diff as JSON") {
    const stacks::CompareOptions options{.limit = 1};
    const auto comparison = compared("m;a 50\nm;b 50\n", "m;a 50\nm;c\xff 150\n", options);
    const auto json = nlohmann::json::parse(diff_json(
        comparison, options, {.before = "one\xff", .after = "two", .filters = {"--hide x"}}));
    CHECK(json["format"] == 1);
    CHECK(json["before"]["file"] == "one\uFFFD");
    CHECK(json["before"]["total"] == 100);
    CHECK(json["after"]["total"] == 200);
    CHECK(json["ranked_by"] == "shares");
    CHECK(json["filters"] == nlohmann::json{"--hide x"});
    REQUIRE(json["rows"].size() == 1);
    CHECK(json["rows"][0]["name"] == "c\uFFFD");
    CHECK(json["rows"][0]["state"] == "new");
    CHECK(json["rows"][0]["after"]["self_share"] == 0.75);
    CHECK(json["others"]["frames"] == 2);
    CHECK(json["others"]["self_before"] == 100);
    CHECK(json["unchanged"]["frames"] == 1);
}
