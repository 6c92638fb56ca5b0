// Lines and files that can't be read: each with its reason, never with its text.
#include <fmt/format.h>

#include "mapdiag/stacks/comparison.h"
#include "stacks_fixture.h"

using namespace mapdiag;
using namespace mapdiag::test;

namespace {

// What is said of a bad line beside a good one.
std::string reason(const std::string& line) {
    const ReadFile file("good;one 1\n" + line + "\n");
    CHECK(stacks_of(file.profile()) == Stacks{{"good | one", "1"}});
    const auto told = file.told();
    REQUIRE(told.size() == 2);
    CHECK(file.notes().bad_count == 1);
    const std::string place = "test.folded:2: ";
    REQUIRE(told[1].starts_with(place));
    for (const auto& text : told) {
        CHECK(text.find("SECRET") == std::string::npos);
    }
    // With --strict the same is an error.
    const ReadFile strict("good;one 1\n" + line + "\n", {.strict = true});
    CHECK(strict.error() ==
          "can't read test.folded: line 2: " + told[1].substr(place.size()) + " (--strict)");
    return told[1].substr(place.size());
}

}  // namespace

TEST_CASE("every kind of bad line has its reason") {
    CHECK(reason("SECRET;without a count") == "there is no count at its end");
    CHECK(reason("SECRET;b x12") == "there is no count at its end");
    CHECK(reason("SECRET;b 12x") == "there is no count at its end");
    CHECK(reason("SECRET;b 1e5") == "there is no count at its end");
    CHECK(reason("SECRET;b +5") == "there is no count at its end");
    CHECK(reason("SECRET;b .5") == "there is no count at its end");
    CHECK(reason("SECRET;b 1.2.3") == "there is no count at its end");
    CHECK(reason("SECRET;b 0x10") == "there is no count at its end");
    CHECK(reason("SECRET;b -") == "there is no count at its end");
    CHECK(reason("SECRET;b nan") == "there is no count at its end");
    CHECK(reason("123") == "there is no blank between a stack and a count");
    CHECK(reason("SECRET;b -5") ==
          "its count is negative, as in austin's memory mode; a share of a whole can't be made of "
          "it");
    CHECK(reason("SECRET;b -5.5") ==
          "its count is negative, as in austin's memory mode; a share of a whole can't be made of "
          "it");
    CHECK(reason("SECRET;b 18446744073709551616") == "its count is more than 2^64-1");
    CHECK(reason("SECRET;b 99999999999999999999999999.5") == "its count is more than 2^64-1");
    CHECK(reason("SECRET;b 18446744073709551615.99999999") == "its count is more than 2^64-1");
    CHECK(reason("P1;T0:2;SECRET.py:f:3 120,1,-4096") ==
          "it has three metrics, as in austin's full mode; record one metric, or split the file "
          "by metric first");
    CHECK(reason("process 7:\"python SECRET;a 3") ==
          "the quote of its process frame is never closed");
}

TEST_CASE("a line without a second count among lines that have two") {
    std::string text;
    for (int i = 0; i < 1000; ++i) {
        text += "a;b 1 2\n";
    }
    stacks::ReadOptions options{.threads = 1};
    const TempFolder folder;
    const auto read = stacks::read_profile({folder.write("two", text + "SECRET 3\n")}, options);
    REQUIRE(read);
    CHECK(read->profile.total == 2000);
    const auto told = stacks::describe(read->files[0]);
    REQUIRE(told.size() == 3);
    CHECK(without_folder(told[1], folder.path()) ==
          "two:1001: it has one count where the other lines have two");
}

TEST_CASE("a line longer than memory should hold is skipped and the next ones are used") {
    const stacks::ReadOptions options{.block_size = 64, .longest_line = 200};
    const std::string good = "a;b 3\n";
    const ReadFile middle(good + std::string(5000, 'x') + " 4\n" + good, options);
    CHECK(stacks_of(middle.profile()) == Stacks{{"a | b", "6"}});
    CHECK(middle.told() ==
          Texts{"test.folded: 1 of 3 lines left out, 2 used; what they weigh is not known",
                "test.folded:2: it is longer than 1.5 GiB"});
    const ReadFile last(good + std::string(5000, 'x') + " 4", options);
    CHECK(stacks_of(last.profile()) == Stacks{{"a | b", "3"}});
    CHECK(last.told().back() == "test.folded:2: it is longer than 1.5 GiB");
    CHECK(ReadFile(std::string(5000, 'x'), options).error() ==
          "can't read test.folded: none of its lines (1) is a folded stack with a count; line 1: "
          "it is longer than 1.5 GiB");
}

TEST_CASE("many bad lines: the first few by number, and the weight that is known") {
    std::string text = "a 1\n";
    for (int i = 0; i < 8; ++i) {
        text += "junk\n";
    }
    const ReadFile file(text);
    CHECK(file.told() ==
          Texts{"test.folded: 8 of 9 lines left out, 1 used; what they weigh is not known",
                "test.folded:2: there is no count at its end",
                "test.folded:3: there is no count at its end",
                "test.folded:4: there is no count at its end",
                "test.folded:5: there is no count at its end",
                "test.folded:6: there is no count at its end", "test.folded: and 3 more"});
    CHECK(ReadFile("a 1\nb -5\nc -7.5\n").told().front() ==
          "test.folded: 2 of 3 lines left out, 1 used; their negative counts are -12 together");
    CHECK(ReadFile("a 1\nb -5\njunk\n").told().front() ==
          "test.folded: 2 of 3 lines left out, 1 used; their negative counts are -5 together, "
          "what the others weigh is not known");
    // A sum that is over 2^64-1 stays there.
    CHECK(ReadFile("a 1\nb -18446744073709551615\nc -9\n").told().front() ==
          "test.folded: 2 of 3 lines left out, 1 used; their negative counts are "
          "-18446744073709551615 together");
}

TEST_CASE("files with nothing usable are errors that say why") {
    CHECK(ReadFile("").error() ==
          "can't read test.folded: it is empty: the profiler took no samples, or wrote nothing");
    CHECK(ReadFile("\n\n").error() == "can't read test.folded: none of its lines (2) is a stack");
    CHECK(ReadFile("# a\n").error() == "can't read test.folded: none of its lines (1) is a stack");
    CHECK(ReadFile("junk\nmore\n").error() ==
          "can't read test.folded: none of its lines (2) is a folded stack with a count; line 1: "
          "there is no count at its end");
    CHECK(ReadFile("a 0\nb 0.0\n").error() == "can't read test.folded: all counts are 0");
    CHECK(ReadFile(Texts{"a 1\n", ""}).error() ==
          "can't read test2: it is empty: the profiler took no samples, or wrote nothing");
}

TEST_CASE("files of another kind are named") {
    const std::string wanted = "; folded stacks are needed: lines of `frame;frame;frame count`";
    const std::string json = "this is JSON (a speedscope or Chrome trace file, or a heap dump)";
    const std::vector<std::pair<std::string, std::string>> kinds = {
        {"<?xml version=\"1.0\"?>\n<svg width=\"1\"></svg>\n", "this is an SVG picture"},
        {"<svg xmlns=\"x\">", "this is an SVG picture"},
        {"<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\">", "this is an SVG picture"},
        {"<!DOCTYPE html><html>", "this is an XML or HTML document"},
        {"<?xml version=\"1.0\"?><plist>", "this is an XML or HTML document"},
        {"{\"$schema\": \"x\"}", json},
        {"  {\n \"a\": 1}", json},
        {"{}", json},
        {"[{\"ph\": \"B\"}]", json},
        {"[[{\"ph\": \"B\"}]]", json},
        {std::string("MOJ\x03\x01", 5),
         "this is austin's binary MOJO format; convert it with mojo2austin first"},
        {std::string("\xFF\xFE"
                     "a\0",
                     4),
         "this is UTF-16 text; convert it to UTF-8 first"},
    };
    for (const auto& [text, said] : kinds) {
        INFO(text);
        const TempFolder folder;
        const auto read = stacks::read_profile({folder.write("f", text)});
        REQUIRE_FALSE(read);
        CHECK(without_folder(read.error().text(), folder.path()) ==
              "can't read f: " + said + wanted);
    }
    // Frames may look like these.
    CHECK(read_stacks("{closure};[unknown] 3\n") == Stacks{{"{closure} | [unknown]", "3"}});
    CHECK(read_stacks("[unknown];a 3\n") == Stacks{{"[unknown] | a", "3"}});
    CHECK(read_stacks("MOJ;a 3\n") == Stacks{{"MOJ | a", "3"}});
    CHECK(read_stacks("<module> (x.py:1);a 3\n") == Stacks{{"<module> (x.py:1) | a", "3"}});
}

TEST_CASE("files that can't be opened or read") {
    const TempFolder folder;
    const auto missing = stacks::read_profile({folder.path("missing")});
    REQUIRE_FALSE(missing);
    CHECK(without_folder(missing.error().text(), folder.path()) ==
          "can't open missing: No such file or directory");
    const auto directory = stacks::read_profile({folder.path()});
    REQUIRE_FALSE(directory);
    CHECK(directory.error().text().ends_with(": Is a directory"));
}

TEST_CASE("patterns that are none") {
    const auto wrong = stacks::Pattern::compile("a(b");
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().text() == "can't read the regular expression \"a(b\": Unmatched ( or \\(");
}
