#include "profiler/folded_merge.h"

#include <algorithm>

#include "support/catch.h"
#include "support/temp_folder.h"

using mapdiag::run::FoldedMerge;
using mapdiag::test::TempFolder;

namespace {

std::string written(const FoldedMerge& merge) {
    const TempFolder folder;
    REQUIRE(merge.write(folder.path("E.folded")));
    CHECK(folder.file_count() == 1);
    const auto text = folder.read("E.folded");
    // Totals are conserved, and lines are stacks.
    CHECK(static_cast<std::uint64_t>(std::ranges::count(text, '\n')) == merge.stacks());
    return text;
}

}  // namespace

TEST_CASE("equal stacks of several files are summed and sorted") {
    FoldedMerge merge;
    CHECK(merge.add("b (m.py:2) 1\na (m.py:1);b (m.py:2) 3\n").samples == 4);
    CHECK(merge.add("a (m.py:1);b (m.py:2) 4\n").samples == 4);
    CHECK(written(merge) == "a (m.py:1);b (m.py:2) 7\nb (m.py:2) 1\n");
    CHECK(merge.samples() == 8);
    CHECK(merge.stacks() == 2);
}

TEST_CASE("samples without a frame are kept under a name of their own") {
    FoldedMerge merge;
    const auto counts = merge.add(" 2\na (m.py:1) 3\n");
    CHECK(counts.without_frame == 2);
    CHECK(merge.samples() == 5);
    CHECK(merge.samples_with_frames() == 3);
    CHECK(written(merge) == "[no Python frame] 2\na (m.py:1) 3\n");
}

TEST_CASE("root frames are put before every stack") {
    FoldedMerge merge;
    merge.add("a (m.py:1) 3\n 1\n", "process 7 (x);");
    CHECK(written(merge) == "process 7 (x);[no Python frame] 1\nprocess 7 (x);a (m.py:1) 3\n");
}

TEST_CASE("command lines in frames are reduced, whatever they hold") {
    struct Row {
        const char* raw;
        const char* reduced;
        std::uint64_t mended;
    };
    const std::vector<Row> rows = {
        {"process 1:\"python /x/a.py secret\";<module> (a.py:3);w (a.py:1) 12\n",
         "process 1 (python);<module> (a.py:3);w (a.py:1) 12\n", 0},
        {"process 1:\"/bin/sh -c 'python x'; y\";process 22:\"/usr/bin/python3 x\";m (x:1) 4\n",
         "process 1 (sh);process 22 (python3);m (x:1) 4\n", 0},
        // argv with the quote and separator that end it, and with what looks like a stack.
        {"process 1:\"python a\";secret (a.py:1) 5 b\";f (a.py:1) 2\n",
         "process 1 (python);f (a.py:1) 2\n", 0},
        {"process 1:\"\";f (a.py:1) 2\n", "process 1 (?);f (a.py:1) 2\n", 0},
        // A program given by -c: its line ends tear the line, and "# 42" looks like a count.
        {"process 5:\"python -c import time\ndef spin():\n    secret 7\nspin()  # 42\n\";spin "
         "(<string>:4) 81\n",
         "process 5 (python);spin (<string>:4) 81\n", 1},
    };
    for (const auto& row : rows) {
        FoldedMerge merge;
        const auto counts = merge.add(row.raw);
        INFO(row.raw);
        CHECK(written(merge) == row.reduced);
        CHECK(counts.mended_lines == row.mended);
        CHECK(counts.lost_lines == 0);
    }
}

TEST_CASE("names that hold separators stay whole") {
    FoldedMerge merge;
    const auto counts = merge.add(
        "<module> (odd; name 3.py:34);busy (odd; name 3.py:24) 27\n"
        "<module> (two\n 5\nlines.py:3) 4\n");
    CHECK(counts.samples == 31);
    CHECK(counts.mended_lines == 1);
    CHECK(written(merge) ==
          "<module> (odd; name 3.py:34);busy (odd; name 3.py:24) 27\n"
          "<module> (two\\n 5\\nlines.py:3) 4\n");
}

TEST_CASE("what is no stack is counted") {
    FoldedMerge merge;
    const auto counts = merge.add("a (m.py:1) 3\nno count\nat all");
    CHECK(counts.samples == 3);
    CHECK(counts.lost_lines == 2);
    CHECK(merge.add("").samples == 0);
    CHECK(written(merge) == "a (m.py:1) 3\n");
}

TEST_CASE("sums do not overflow") {
    FoldedMerge merge;
    merge.add("a (m.py:1) 18446744073709551615\na (m.py:1) 18446744073709551615\n");
    CHECK(merge.samples() == 18446744073709551615U);
}

TEST_CASE("a profile that can't be written is an error and leaves nothing") {
    const TempFolder folder;
    FoldedMerge merge;
    merge.add("a (m.py:1) 3\n");
    CHECK_FALSE(merge.write(folder.path("missing/E.folded")));
    CHECK(folder.file_count() == 0);
}
