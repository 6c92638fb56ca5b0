// Each filter alone and all together. The totals are checked on every call: what is kept and what
// was removed add up to what was read.
#include "stacks_fixture.h"

using namespace mapdiag;
using namespace mapdiag::test;

namespace {

struct Filtered {
    Filtered(const std::string& text, const stacks::Filters& filters,
             const stacks::ReadOptions& options = {})
        : profile(ReadFile(text, options).take()) {
        const auto read = profile.total;
        const auto read_stacks = profile.stack_count();
        done = apply_filters(profile, filters);
        CHECK_NOTHROW(check_stacks(profile));
        if (done) {
            CHECK_NOTHROW(check_profile(profile));
        }
        stacks::Weight removed = 0;
        std::uint64_t removed_stacks = 0;
        for (const auto& effect : profile.effects) {
            removed += effect.removed;
            removed_stacks += effect.stacks;
            said.push_back(describe(effect, profile));
        }
        CHECK(profile.total + removed == read);
        CHECK(profile.stack_count() + removed_stacks == read_stacks);
    }
    Stacks stacks() const { return stacks_of(profile); }

    stacks::Profile profile;
    Result<void> done;
    Texts said;
};

const std::string kText = "m;a;b 3\nm;c 4\nx;a 5\nm;a;a 1\n";

}  // namespace

TEST_CASE("no filter changes and says nothing") {
    const Filtered all(kText, {});
    CHECK(all.stacks() ==
          Stacks{{"m | a | b", "3"}, {"m | c", "4"}, {"x | a", "5"}, {"m | a | a", "1"}});
    CHECK(all.said.empty());
}

TEST_CASE("--include keeps the stacks with a frame that matches") {
    const Filtered some(kText, {.include = pattern("^(b|c)$")});
    CHECK(some.stacks() == Stacks{{"m | a | b", "3"}, {"m | c", "4"}});
    CHECK(some.said == Texts{"--include left out 6 samples in 2 stacks"});
    const Filtered one("a 1\nb 2\n", {.include = pattern("b")});
    CHECK(one.said == Texts{"--include left out 1 sample in 1 stack"});
}

TEST_CASE("--exclude removes them") {
    const Filtered some(kText, {.exclude = pattern("^c$|x")});
    CHECK(some.stacks() == Stacks{{"m | a | b", "3"}, {"m | a | a", "1"}});
    CHECK(some.said == Texts{"--exclude left out 9 samples in 2 stacks"});
}

TEST_CASE("--root begins stacks at the first frame that matches") {
    const Filtered some(kText, {.root = pattern("^a$")});
    CHECK(some.stacks() == Stacks{{"a | b", "3"}, {"a", "5"}, {"a | a", "1"}});
    CHECK(some.said ==
          Texts{"--root left out 4 samples in 1 stack, and 3 frames above it in the others"});
}

TEST_CASE("--hide drops frames, and their samples go to the parent") {
    const Filtered some(kText, {.hide = pattern("^(b|m)$")});
    CHECK(some.stacks() == Stacks{{"a", "3"}, {"c", "4"}, {"x | a", "5"}, {"a | a", "1"}});
    CHECK(some.said == Texts{"--hide dropped 4 frames"});
    const Filtered whole("a;a 2\nb 1\n", {.hide = pattern("a")});
    CHECK(whole.stacks() == Stacks{{"[all frames hidden]", "2"}, {"b", "1"}});
    CHECK(whole.said == Texts{"--hide dropped 2 frames"});
}

TEST_CASE("--hide-startup drops what brings a program up, and nothing else") {
    const std::string text =
        "<module> (linkml-map:8);__call__ (click/core.py:1130);main (click/core.py:1055);"
        "new_func (click/decorators.py:33);map_data (linkml_map/cli/cli.py:99);"
        "core (my_click/core.py:3) 5\n"
        "_run_module_as_main (<frozen runpy>:198);_run_code (<frozen runpy>:88);"
        "<module> (job.py:3);f (job.py:1) 2\n"
        "_find_and_load (<frozen importlib._bootstrap>:1176);<module> (job.py:3) 1\n"
        "Thread._bootstrap (threading.py:1002);Thread._bootstrap_inner (threading.py:1045);"
        "Thread.run (threading.py:982);work (job.py:9) 4\n";
    const Filtered some(text, {.hide_startup = true});
    CHECK(some.stacks() ==
          Stacks{{"map_data (linkml_map/cli/cli.py:99) | core (my_click/core.py:3)", "5"},
                 {"<module> (job.py:3) | f (job.py:1)", "2"},
                 {"<module> (job.py:3)", "1"},
                 {"Thread.run (threading.py:982) | work (job.py:9)", "4"}});
    CHECK(some.said == Texts{"--hide-startup dropped 9 frames"});
}

TEST_CASE("--merge-processes makes equal processes and threads one") {
    const std::string text =
        "process 12:\"/usr/bin/python x\";thread (13): w;a 1\n"
        "process 14:\"/usr/bin/python y\";thread (15): w;a 2\nP1;T0:2;a 3\nP4;T0:5;a 4\n"
        "process pool;a 5\n";
    const Filtered some(text, {.merge_processes = true});
    CHECK(some.stacks() == Stacks{{"process (python) | thread: w | a", "3"},
                                  {"P | T | a", "7"},
                                  {"process pool | a", "5"}});
    CHECK(some.said == Texts{"--merge-processes renamed 8 frames"});
    const Filtered lines(text, {.merge_processes = true}, {.keep_command_lines = true});
    CHECK(lines.stacks().contains("process:\"/usr/bin/python x\" | thread: w | a"));
}

TEST_CASE("--collapse-recursion keeps the inner call of a function that calls itself") {
    const Filtered some(
        "m (a.py:1);f (a.py:2);f (a.py:3);f (a.py:3);g (a.py:9);f (a.py:2) 3\nf (b.py:1);f "
        "(a.py:1) 2\n",
        {.collapse_recursion = true});
    CHECK(some.stacks() == Stacks{{"m (a.py:1) | f (a.py:3) | g (a.py:9) | f (a.py:2)", "3"},
                                  {"f (b.py:1) | f (a.py:1)", "2"}});
    CHECK(some.said == Texts{"--collapse-recursion dropped 2 frames"});
}

TEST_CASE("filters together work in their order, each with its own count") {
    stacks::Filters filters;
    filters.include = pattern("a|c");
    filters.exclude = pattern("^x$");
    filters.root = pattern("^m$");
    filters.hide = pattern("^b$");
    filters.hide_startup = true;
    filters.merge_processes = true;
    filters.collapse_recursion = true;
    const Filtered some("n 7\n" + kText + "c 2\n", filters);
    CHECK(some.stacks() == Stacks{{"m | a", "4"}, {"m | c", "4"}});
    CHECK(some.said ==
          Texts{"--include left out 7 samples in 1 stack",
                "--exclude left out 5 samples in 1 stack",
                "--root left out 2 samples in 1 stack, and 0 frames above it in the others",
                "--hide-startup dropped 0 frames", "--hide dropped 1 frame",
                "--merge-processes renamed 0 frames", "--collapse-recursion dropped 1 frame"});
}

TEST_CASE("filters that leave nothing are an error, with the counts still there") {
    const Filtered none(kText, {.include = pattern("nowhere")});
    REQUIRE_FALSE(none.done);
    CHECK(none.done.error().text() == "can't show a profile: the filters leave no samples of it");
    CHECK(none.said == Texts{"--include left out 13 samples in 4 stacks"});
}

TEST_CASE("filtered counts with fractions") {
    const Filtered some("a 1.5\nb 0.25\n", {.exclude = pattern("b")});
    CHECK(some.said == Texts{"--exclude left out 0.25 samples in 1 stack"});
}

TEST_CASE("patterns are grep -E's, with \\d, \\w, \\s and \\b besides, over bytes") {
    CHECK(pattern("ab+c").matches("xabbbc"));
    CHECK_FALSE(pattern("^b").matches("ab"));
    CHECK(pattern("^x(\\d+)$").matches("x123"));
    CHECK(pattern("^\\D+$").matches("abc"));
    CHECK_FALSE(pattern("\\D").matches("123"));
    CHECK(pattern("\\bmap\\b").matches("a map b"));
    CHECK(pattern("a\\.b").matches("a.b"));
    CHECK_FALSE(pattern("a\\.b").matches("axb"));
    CHECK(pattern("\\\\").matches("a\\b"));
    CHECK(pattern("a[^x]b").matches(std::string("a\0b", 3)));
    CHECK(pattern("x$").matches("\xff\xfex"));
    CHECK(pattern("gr\u00f6\u00dfe").matches("die gr\u00f6\u00dfe"));
    CHECK_FALSE(pattern("late").matches(std::string(2'000'000, 'x') + "late"));
}
