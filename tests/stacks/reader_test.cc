// What the reader makes of files as they come. Every call reads each text in one go and in small
// pieces by several threads, and compares.
#include <zlib.h>

#include "mapdiag/support/compress.h"
#include "stacks_fixture.h"

using namespace mapdiag;
using namespace mapdiag::test;

namespace {

Stacks folded_file(const std::string& name, stacks::ReadOptions options = {}) {
    options.keep_command_lines = true;
    return read_stacks(read_whole(kStacksFolder + "data/" + name), options);
}

std::string sum_of(const Stacks& stacks) {
    std::uint64_t sum = 0;
    for (const auto& [text, weight] : stacks) {
        sum += std::stoull(weight);
    }
    return std::to_string(sum);
}

}  // namespace

TEST_CASE("plain lines: frames, counts, equal stacks summed") {
    CHECK(read_stacks("a;b 3\na;c 4\na;b 5\n") == Stacks{{"a | b", "8"}, {"a | c", "4"}});
    CHECK(read_stacks("a 1\n") == Stacks{{"a", "1"}});
    CHECK(read_stacks("with blanks;in frames too 2\n") ==
          Stacks{{"with blanks | in frames too", "2"}});
    CHECK(read_stacks("a;b\t7\n") == Stacks{{"a | b", "7"}});
    CHECK(read_stacks("a 007\n") == Stacks{{"a", "7"}});
}

TEST_CASE("line ends: CRLF, none at the end, blanks before it") {
    const Stacks expected = {{"a | b", "3"}, {"a | c", "4"}};
    CHECK(read_stacks("a;b 3\r\na;c 4\r\n") == expected);
    CHECK(read_stacks("a;b 3\na;c 4") == expected);
    CHECK(read_stacks("a;b 3\r\na;c 4\r") == expected);
    CHECK(read_stacks("a;b 3  \na;c 4\t \t\r\n") == expected);
    CHECK(read_stacks("\n\na;b 3\n   \n\t\na;c 4\n\n") == expected);
}

TEST_CASE("comments are no stacks, frames that begin with # are") {
    CHECK(read_stacks("# austin: 3.7.0\n# mode: wall\n#\n#\tx 5\na 1\n#1 2\n#x;b 3\n") ==
          Stacks{{"a", "1"}, {"#1", "2"}, {"#x | b", "3"}});
}

TEST_CASE("nameless frames are dropped, and a stack of nothing else is marked") {
    CHECK(read_stacks("a;b; 3\na;;b 4\n;a;b 5\n") == Stacks{{"a | b", "12"}});
    CHECK(read_stacks(" 2\n;;; 5\n ; 4\n; ;\t; 1\n") == Stacks{{"[no frames]", "12"}});
    CHECK(read_stacks("a; ;b 3\n") == Stacks{{"a | b", "3"}});
}

TEST_CASE("fractions are kept exactly, to six decimals") {
    CHECK(read_stacks("a 1.5\nb 2\n") == Stacks{{"a", "1.5"}, {"b", "2"}});
    CHECK(read_stacks("a 0.1\na 0.2\n") == Stacks{{"a", "0.3"}});
    CHECK(read_stacks("a 0.5\na 0.5\nb 0.25\n") == Stacks{{"a", "1"}, {"b", "0.25"}});
    CHECK(read_stacks("a 1.000\nb 2\n c 3\n") == Stacks{{"a", "1"}, {"b", "2"}, {" c", "3"}});
    const ReadFile rounded("a 0.1234565\nb 0.9999999\nc 1.00000000\n");
    CHECK(stacks_of(rounded.profile()) == Stacks{{"a", "0.123457"}, {"b", "1"}, {"c", "1"}});
    CHECK(rounded.told() == Texts{"test.folded: 2 counts rounded to 6 decimals"});
    const ReadFile one("a 0.1234567\n");
    CHECK(one.told() == Texts{"test.folded: 1 count rounded to 6 decimals"});
}

TEST_CASE("counts up to 2^64-1, and an error instead of a wrap") {
    CHECK(read_stacks("a 18446744073709551615\n") == Stacks{{"a", "18446744073709551615"}});
    CHECK(read_stacks("a 18446744073709551614\na 1\n") == Stacks{{"a", "18446744073709551615"}});
    CHECK(ReadFile("a 18446744073709551615\nb 1\n").error() ==
          "can't add up test.folded: the counts are more than 2^64-1 together");
    CHECK(ReadFile(Texts{"a 18446744073709551615\n", "b 1\n"}).error() ==
          "can't add up the 2 files: the counts are more than 2^64-1 together");
    CHECK(ReadFile("a 9223372036854775808.5\n").error() ==
          "can't add up test.folded: the counts are too large to be added with 1 decimal");
    CHECK(ReadFile("a 9223372036854775808.25\n").error() ==
          "can't add up test.folded: the counts are too large to be added with 2 decimals");
}

TEST_CASE("a second count column is taken, or the first where asked for") {
    const std::string text = "a;b 1 2\nc 3 4\n";
    const ReadFile second(text);
    CHECK(stacks_of(second.profile()) == Stacks{{"a | b", "2"}, {"c", "4"}});
    CHECK(second.told() ==
          Texts{"test.folded: every line has two counts (before and after); the second is used"});
    const ReadFile first(text, {.first_of_two_counts = true});
    CHECK(stacks_of(first.profile()) == Stacks{{"a | b", "1"}, {"c", "3"}});
    CHECK(first.told() ==
          Texts{"test.folded: every line has two counts (before and after); the first is used"});
    // One line without a second count, and the numbers are parts of names.
    const TempFolder folder;
    const auto names = stacks::read_profile({folder.write("f", "step 1 2\nstep 3 4\nc 3\n")});
    REQUIRE(names);
    CHECK(stacks_of(names->profile) == Stacks{{"step 1", "2"}, {"step 3", "4"}, {"c", "3"}});
}

TEST_CASE("bytes that are not text: NUL, invalid UTF-8, a byte order mark") {
    CHECK(read_stacks(std::string("a\0b;c 3\n", 8)) == Stacks{{std::string("a\0b | c", 7), "3"}});
    CHECK(read_stacks("a\xff;\xc3 3\n") == Stacks{{"a\xff | \xc3", "3"}});
    CHECK(read_stacks("\xEF\xBB\xBF"
                      "a 3\n") == Stacks{{"a", "3"}});
    const ReadFile nul(std::string("a 3\0\n", 5));
    CHECK(nul.error() ==
          "can't read test.folded: none of its lines (1) is a folded stack with a count; line 1: "
          "there is no count at its end");
}

TEST_CASE("lines that other tools tear apart are one frame") {
    const auto profile = profile_of("a 1\na b;x 2\na;c 3\n");
    const auto tree = make_tree(profile, nullptr, {.min_percent = 0});
    Texts names;
    for (const auto& node : tree.nodes) {
        names.push_back(node.kind == stacks::NodeKind::root
                            ? "all"
                            : std::string(profile.table.text(node.frame)));
    }
    CHECK(names == Texts{"all", "a", "c", "a b", "x"});
}

TEST_CASE("flamegraph.pl's and inferno's suffixes stay with the frame") {
    CHECK(read_stacks("main;read_[k] 3\nLFoo;::bar_[j] 2\n") ==
          Stacks{{"main | read_[k]", "3"}, {"LFoo | ::bar_[j]", "2"}});
}

TEST_CASE("py-spy: command lines with blanks, quotes and semicolons are one frame") {
    const auto stacks = folded_file("sub-threads.folded");
    CHECK(sum_of(stacks) == "107");
    const std::string process =
        "process 21400:\"python /tmp/mapdiag-samples/odd.py 1.5 arg; with \"quotes\" 12\"";
    for (const auto& [text, weight] : stacks) {
        INFO(text);
        CHECK(text.starts_with(process + " | thread (214"));
    }
    CHECK(stacks.contains(process + " | thread (21405): worker; one 7 | Thread._bootstrap "
                                    "(threading.py:1002) | Thread._bootstrap_inner "
                                    "(threading.py:1045) | Thread.run (threading.py:982) | "
                                    "busy (odd.py:23) | Pump.turn (odd.py:13) | "
                                    "Pump.turn.<locals>.inner (odd.py:12)"));
}

TEST_CASE("py-spy: a command line of several lines is one record") {
    const auto stacks = folded_file("sub-multiline.folded");
    REQUIRE(stacks.size() == 1);
    CHECK(stacks.begin()->second == "81");
    CHECK(stacks.begin()->first ==
          "process 21416:\"python -c import time\ne = time.time() + 1.5\ndef spin():\n    while "
          "time.time() < e: pass\n\nspin()  # 42\n\" | <module> (<string>:6) | spin "
          "(<string>:4)");
    // Its lines count, so that later numbers are those of an editor.
    const ReadFile file(read_whole(kStacksFolder + "data/sub-multiline.folded") + "junk\n");
    CHECK(file.notes().lines == 8);
    CHECK(file.told() ==
          Texts{"test.folded: 1 of 8 lines left out, 1 used; what they weigh is not known",
                "test.folded:8: there is no count at its end"});
}

TEST_CASE("py-spy: a tree of processes, the shell's command with a semicolon") {
    const auto stacks = folded_file("sub-tree.folded");
    for (const auto& [text, weight] : stacks) {
        INFO(text);
        CHECK(text.starts_with(
            "process 21422:\"sh -c python '/tmp/mapdiag-samples/odd.py' 1.5; true\" | process "
            "21423:\"python /tmp/mapdiag-samples/odd.py 1.5\" | "));
    }
}

TEST_CASE("py-spy: file names with a semicolon are joined again") {
    for (const auto& [text, weight] : folded_file("oddfile.folded")) {
        INFO(text);
        CHECK(text.find("(odd |") == std::string::npos);
        CHECK((text == "[no frames]" || text.find("name 3.py:") == std::string::npos ||
               text.find("(odd; name 3.py:") != std::string::npos));
    }
}

TEST_CASE("py-spy: what samples of every kind of recording add up to") {
    // As awk '{ sum += $NF }' has them.
    const std::map<std::string, std::string> sums = {
        {"full.folded", "98"},     {"function.folded", "92"},      {"gil.folded", "70"},
        {"native.folded", "115"},  {"nolineno.folded", "92"},      {"oddfile.folded", "129"},
        {"plain.folded", "110"},   {"sub-multiline.folded", "81"}, {"sub-threads.folded", "107"},
        {"sub-tree.folded", "69"}, {"sub.folded", "100"},          {"threads-idle.folded", "195"},
        {"threads.folded", "133"},
    };
    for (const auto& [name, sum] : sums) {
        INFO(name);
        CHECK(sum_of(folded_file(name)) == sum);
    }
}

TEST_CASE("command lines are reduced to the program unless they are asked for") {
    CHECK(read_stacks("process 12:\"/usr/bin/python3 -m x secret\";a 3\n") ==
          Stacks{{"process 12 (python3) | a", "3"}});
    CHECK(read_stacks("process 12:\"python\";a 3\n") == Stacks{{"process 12 (python) | a", "3"}});
    CHECK(read_stacks("process 12:\"\";a 3\n") == Stacks{{"process 12 | a", "3"}});
    CHECK(read_stacks("process 12:\"python x\" 3\n") == Stacks{{"process 12 (python)", "3"}});
    CHECK(read_stacks("process 1:\"sh -c a; b\";process 2:\"py \"q\" 7\";f 3\n") ==
          Stacks{{"process 1 (sh) | process 2 (py) | f", "3"}});
    CHECK(read_stacks("process pool;a 3\nprocess 12;b 4\n") ==
          Stacks{{"process pool | a", "3"}, {"process 12 | b", "4"}});
}

TEST_CASE("austin: one metric is read") {
    CHECK(read_stacks("# austin: 3.7.0\n\nP42;T0:77;/a/m.py:main:3;/a/m.py:f:9 120\n"
                      "P42;T0:77;/a/m.py:main:3;/a/m.py:f:9 80\n\n# duration: 200\n") ==
          Stacks{{"P42 | T0:77 | /a/m.py:main:3 | /a/m.py:f:9", "200"}});
}

TEST_CASE("several files are read as one, each with notes of its own") {
    const ReadFile files(Texts{"a;b 1\njunk\n", "a;b 2 3\nc 4 5\n", "a;b 1.5\n"});
    CHECK(stacks_of(files.profile()) == Stacks{{"a | b", "5.5"}, {"c", "5"}});
    CHECK(files.told(0) ==
          Texts{"test.folded: 1 of 2 lines left out, 1 used; what they weigh is not known",
                "test.folded:2: there is no count at its end"});
    CHECK(files.told(1) ==
          Texts{"test2: every line has two counts (before and after); the second is used"});
    CHECK(files.told(2).empty());
}

TEST_CASE("gzip and zstd files are read as they are") {
    const TempFolder folder;
    std::string text;
    for (int i = 0; i < 3000; ++i) {
        text += "a;b" + std::to_string(i % 50) + " 2\n";
    }
    const auto expected = read_stacks(text);
    for (const auto* const name : {"p.gz", "p.zst", "p"}) {
        auto file = PackedOutput::create(folder.path(name));
        REQUIRE(file);
        REQUIRE(file->write(text));
        REQUIRE(file->commit());
        const auto read = stacks::read_profile({folder.path(name)});
        REQUIRE(read);
        CHECK(stacks_of(read->profile) == expected);
        CHECK(stacks::describe(read->files[0]).empty());
    }
    // Cut short: what was unpacked is used, but not the line in which it ends.
    for (const auto* const name : {"p.gz", "p.zst"}) {
        const auto packed = folder.read(name);
        const auto path =
            folder.write(std::string("cut-") + name, packed.substr(0, packed.size() - 9));
        const auto read = stacks::read_profile({path});
        if (read) {
            const auto told = stacks::describe(read->files[0]);
            REQUIRE_FALSE(told.empty());
            CHECK(told[0].find("cut short") != std::string::npos);
            CHECK(read->profile.total <= 6000);
        } else {
            CHECK(read.error().text().find("nothing usable: ") != std::string::npos);
        }
        const auto strict = stacks::read_profile({path}, {.strict = true});
        CHECK_FALSE(strict);
    }
}

TEST_CASE("a frame that nobody can read is cut, and others that begin like it stay others") {
    const std::string longest(1U << 17U, 'x');
    CHECK(read_stacks("m;" + longest + " 3\n") == Stacks{{"m | " + longest, "3"}});
    const auto cut =
        read_stacks("m;" + longest + "a 3\nm;" + longest + "b 4\nm;" + longest + "a 5\n");
    REQUIRE(cut.size() == 2);
    for (const auto& [text, weight] : cut) {
        CHECK(text.starts_with("m | " + std::string(1000, 'x') + " [... 131073 bytes, "));
        CHECK(text.size() < 1100);
        CHECK((weight == "8" || weight == "4"));
    }
}

TEST_CASE("equal stacks of a long file become one while it is read") {
    std::string text;
    for (int i = 0; i < 20000; ++i) {
        text += i % 2 == 0 ? "a;b 1\n" : "a;c 0.5\n";
    }
    const TempFolder folder;
    const auto path = folder.write("f", text);
    const auto read =
        stacks::read_profile({path}, {.threads = 2, .block_size = 4096, .merge_from = 100});
    REQUIRE(read);
    CHECK(read->profile.stack_count() == 2);
    CHECK(stacks_of(read->profile) == Stacks{{"a | b", "10000"}, {"a | c", "5000"}});
    CHECK(read->files[0].stacks == 20000);
}
