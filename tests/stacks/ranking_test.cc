// top: ranking by every grouping, the row of others, and the table as it is printed.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "mapdiag/stacks/tables.h"
#include "stacks_fixture.h"

using namespace mapdiag;
using namespace mapdiag::test;
using stacks::GroupBy;
using stacks::SortBy;

namespace {

using Rows = std::vector<std::tuple<std::string, stacks::Weight, stacks::Weight>>;

Rows rows_of(const stacks::Ranking& ranking) {
    Rows rows;
    for (const auto& row : ranking.rows) {
        rows.emplace_back(row.label, row.self, row.total);
    }
    if (ranking.other_count > 0) {
        rows.emplace_back(ranking.others.label, ranking.others.self, ranking.others.total);
    }
    return rows;
}

Rows ranked(const std::string& text, const stacks::RankOptions& options) {
    return rows_of(rank(profile_of(text), options));
}

// The first column of a table, as hundredths of a percent.
std::uint64_t self_column(const std::string& table) {
    std::istringstream in(table);
    std::uint64_t sum = 0;
    bool heading = false;
    for (std::string line; std::getline(in, line);) {
        if (heading) {
            const auto value = line.substr(0, line.find('.') + 3);
            sum += std::stoull(value) * 100 + std::stoull(value.substr(value.size() - 2));
        }
        heading = heading || line.find("self %") != std::string::npos;
    }
    return sum;
}

const std::string kPaths =
    "process 1 (py);thread (2): w;f (a/x.py:1);g (a/x.py:2);f (a/x.py:1) 5\n"
    "process 1 (py);thread (2): w;f (a/x.py:3);h (b/y.py:9) 3\nbare 2\n";

}  // namespace

TEST_CASE("frames are ranked by self, then total, then name; recursion counts once in total") {
    CHECK(ranked("m;a 3\nm;b 4\nm;a;a 5\n", {}) == Rows{{"a", 8, 8}, {"b", 4, 4}, {"m", 0, 12}});
    CHECK(ranked("m;a 3\nm;b 4\nm;a;a 5\n", {.sort = SortBy::total}) ==
          Rows{{"m", 0, 12}, {"a", 8, 8}, {"b", 4, 4}});
    CHECK(ranked("y 1\nx 1\nz;w 1\n", {}) ==
          Rows{{"w", 1, 1}, {"x", 1, 1}, {"y", 1, 1}, {"z", 0, 1}});
}

TEST_CASE("the rest is one row, and counts each stack once") {
    CHECK(ranked("m;a 6\nm;b 4\nm;c 2\nb;c 1\n", {.limit = 1}) ==
          Rows{{"a", 6, 6}, {"[3 others]", 7, 13}});
    CHECK(ranked("m;a 6\nm;b 4\nm;c 2\nb;c 1\n", {.limit = 4}) ==
          Rows{{"a", 6, 6}, {"b", 4, 5}, {"c", 3, 3}, {"m", 0, 12}});
}

TEST_CASE("grouped by function, line, file, module, process and thread") {
    CHECK(ranked(kPaths, {.by = GroupBy::function}) == Rows{{"f (a/x.py)", 5, 8},
                                                            {"h (b/y.py)", 3, 3},
                                                            {"bare", 2, 2},
                                                            {"process 1 (py)", 0, 8},
                                                            {"thread (2): w", 0, 8},
                                                            {"g (a/x.py)", 0, 5}});
    CHECK(
        ranked(kPaths, {.by = GroupBy::line, .limit = 3}) ==
        Rows{{"f (a/x.py:1)", 5, 5}, {"h (b/y.py:9)", 3, 3}, {"bare", 2, 2}, {"[4 others]", 0, 8}});
    CHECK(ranked(kPaths, {.by = GroupBy::file}) ==
          Rows{{"a/x.py", 5, 8}, {"b/y.py", 3, 3}, {"[no file]", 2, 10}});
    CHECK(ranked(kPaths, {.by = GroupBy::module}) ==
          Rows{{"a", 5, 8}, {"b", 3, 3}, {"[no module]", 2, 10}});
    CHECK(ranked(kPaths, {.by = GroupBy::process}) ==
          Rows{{"process 1 (py)", 8, 8}, {"[no process]", 2, 2}});
    CHECK(ranked(kPaths, {.by = GroupBy::thread}) ==
          Rows{{"thread (2): w", 8, 8}, {"[no thread]", 2, 2}});
    CHECK(ranked("process 1 (sh);process 2 (py);f 3\n", {.by = GroupBy::process}) ==
          Rows{{"process 2 (py)", 3, 3}, {"process 1 (sh)", 0, 3}});
}

TEST_CASE("the self column adds up to 100.00 whatever the counts are") {
    for (const auto* const text :
         {"a 1\nb 1\nc 1\n", "a 1\nb 1\nc 1\nd 1\ne 1\nf 1\ng 1\n", "a 99999\nb 1\n",
          "a 0.3\nb 0.3\nc 0.1\n", "a 18446744073709551613\nb 1\nc 1\n"}) {
        INFO(text);
        const auto profile = profile_of(text);
        for (const std::size_t limit : {0U, 1U, 2U}) {
            const stacks::RankOptions options{.limit = limit};
            CHECK(self_column(top_table(rank(profile, options), profile, options, {})) == 10000);
        }
    }
}

TEST_CASE("the table in a pipe, with seconds, and with bars and colour in a terminal") {
    auto profile = profile_of("m (job.py:1);a (job.py:2) 3\nm (job.py:1) 1\n");
    const stacks::RankOptions options{};
    const auto ranking = rank(profile, options);
    CHECK(top_table(ranking, profile, options, {}) ==
          "4 samples in 2 stacks\n"
          "self %  self  total %  total  line\n"
          " 75.00     3    75.00      3  a (job.py:2)\n"
          " 25.00     1   100.00      4  m (job.py:1)\n");
    CHECK(top_table(ranking, profile, options, {.rate = 100}) ==
          "4 samples in 2 stacks\n"
          "self %  self  self s  total %  total  total s  line\n"
          " 75.00     3    0.03    75.00      3     0.03  a (job.py:2)\n"
          " 25.00     1    0.01   100.00      4     0.04  m (job.py:1)\n");
    CHECK(top_table(ranking, profile, options, {.width = 60, .bars = true, .colour = true}) ==
          "4 samples in 2 stacks\n"
          "\x1b[1mself %  self  total %  total                line\x1b[0m\n"
          " 75.00     3    75.00      3  \x1b[33m"
          "\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588   \x1b[0m  a (job.py:2)\n"
          " 25.00     1   100.00      4  \x1b[33m\u2588\u2588\u2588         \x1b[0m  m "
          "(job.py:1)\n");
    stacks::Filters filters;
    filters.exclude = pattern("^a");
    REQUIRE(apply_filters(profile, filters));
    CHECK(top_table(rank(profile, options), profile, options, {}) ==
          "1 sample in 1 stack\n"
          "--exclude left out 3 samples in 1 stack\n"
          "self %  self  total %  total  line\n"
          "100.00     1   100.00      1  m (job.py:1)\n");
}

TEST_CASE("labels are safe for a terminal and fitted to its width") {
    const auto profile = profile_of("a\x1b[31m;b\xff" + std::string(200, 'x') + " 1\n" +
                                    "\u5909\u63db\u5909\u63db\u5909\u63db\u5909\u63db\u5909\u63db"
                                    "\u5909\u63db\u5909\u63db\u5909\u63db 1\n");
    const auto table = top_table(rank(profile, {}), profile, {}, {.width = 50});
    CHECK(table ==
          "2 samples in 2 stacks\n"
          "self %  self  total %  total  line\n"
          " 50.00     1    50.00      1  b\\xffxxxxxxxxxxxxx..\n"
          " 50.00     1    50.00      1  \u5909\u63db\u5909\u63db\u5909\u63db\u5909\u63db\u5909..\n"
          "  0.00     0    50.00      1  a\\x1b[31m\n");
}

TEST_CASE("top as JSON: exact counts, null for no others") {
    const auto profile = profile_of("a 18446744073709551613\nb\xff 2\n");
    const auto json = nlohmann::json::parse(top_json(rank(profile, {}), profile, {}, {}));
    CHECK(json["format"] == 1);
    CHECK(json["total"] == 18446744073709551615ULL);
    CHECK(json["rows"][0]["name"] == "a");
    CHECK(json["rows"][0]["self"] == 18446744073709551613ULL);
    CHECK(json["rows"][1]["name"] == "b\uFFFD");
    CHECK(json["others"].is_null());
    const stacks::RankOptions one{.limit = 1};
    const auto rest =
        nlohmann::json::parse(top_json(rank(profile, one), profile, one, {.rate = 0.5}));
    CHECK(rest["others"]["frames"] == 1);
    CHECK(rest["others"]["self"] == 2);
    CHECK(rest["others"]["self_seconds"] == 4.0);
}

TEST_CASE("numbers, shares and changes as they are printed") {
    CHECK(stacks::format_weight(15, 0) == "15");
    CHECK(stacks::format_weight(15, 1) == "1.5");
    CHECK(stacks::format_weight(5, 3) == "0.005");
    CHECK(stacks::format_weight(1000, 3) == "1");
    CHECK(stacks::counted(1, "stack") == "1 stack");
    CHECK(stacks::counted(0, "stack") == "0 stacks");
    CHECK(stacks::samples_text(10, 1) == "1 sample");
    CHECK(stacks::samples_text(15, 1) == "1.5 samples");
    CHECK(stacks::format_percent(1, 3) == "33.33");
    CHECK(stacks::format_percent(2, 3) == "66.67");
    CHECK(stacks::format_percent(1, 0) == "0.00");
    CHECK(stacks::format_percent(~0ULL, ~0ULL) == "100.00");
    CHECK(stacks::name_of(GroupBy::function) == "function");
    CHECK(stacks::name_of(GroupBy::line) == "line");
    CHECK(stacks::name_of(GroupBy::file) == "file");
    CHECK(stacks::name_of(GroupBy::module) == "module");
    CHECK(stacks::name_of(GroupBy::process) == "process");
    CHECK(stacks::name_of(GroupBy::thread) == "thread");
    CHECK(stacks::name_of(SortBy::self) == "self");
    CHECK(stacks::name_of(SortBy::total) == "total");
}
