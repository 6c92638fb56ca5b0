// Journals that mapdiag did not write, or that were damaged: nothing in them may harm the reader.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "mapdiag/record/journal.h"
#include "mapdiag/record/record_json.h"
#include "support/catch.h"

using namespace mapdiag::record;

namespace {

const std::string kHeader =
    R"({"type":"header","format":"mapdiag-journal","version":1,"mapdiag":"0.1.0","entity":"E"})"
    "\n";

std::string error_of(const std::string& bytes) {
    const auto journal = parse_journal(bytes, "x.diag.jsonl");
    REQUIRE_FALSE(journal);
    return journal.error().text();
}

Journal read_below_header(const std::string& lines) {
    auto journal = parse_journal(kHeader + lines, "x.diag.jsonl");
    REQUIRE(journal);
    return std::move(*journal);
}

}  // namespace

TEST_CASE("what is no journal is refused with the reason") {
    CHECK(
        error_of("") ==
        "can't read x.diag.jsonl: it is empty: mapdiag was killed as the run began, or never ran");
    CHECK(
        error_of("{\"type\":\"hea") ==
        "can't read x.diag.jsonl: it was cut within its first line: mapdiag was killed as the run "
        "began");
    const std::string none =
        "can't read x.diag.jsonl: not a journal of mapdiag: its first line is no header";
    CHECK(error_of("hello\n") == none);
    CHECK(error_of("{}\n") == none);
    CHECK(error_of("[1,2]\n") == none);
    CHECK(error_of(R"({"type":"header","format":"other","version":1})") == none);
    CHECK(error_of(R"({"type":"header","format":"mapdiag-journal","version":"1"})") == none);
}

TEST_CASE("a newer format is refused with what to do") {
    CHECK(error_of(R"({"type":"header","format":"mapdiag-journal","version":2})") ==
          "can't read x.diag.jsonl: its format version is 2, this mapdiag reads 1 at most: use a "
          "newer mapdiag");
}

TEST_CASE("unknown keys and types are ignored") {
    const auto journal = read_below_header(
        "{\"type\":\"future\",\"a\":1}\n"
        "{\"type\":\"sample\",\"at_s\":1,\"new\":[{}]}\n");
    CHECK(journal.notes.empty());
    CHECK(journal.samples.size() == 1);
}

TEST_CASE("damaged lines are left out with a note, and the notes are bounded") {
    const auto journal = read_below_header(
        "{\"type\":\"sample\",\"at_s\":1}\nnonsense\n[]\n\n"
        "{\"type\":\"sample\",\"at_s\":2}\n");
    CHECK(journal.samples.size() == 2);
    REQUIRE(journal.notes.size() == 2);
    CHECK(journal.notes[0] == "line 3 is damaged and was left out");
    std::string many;
    for (int i = 0; i < 1000; ++i) {
        many += "x\n";
    }
    CHECK(read_below_header(many).notes.size() == 20);
}

TEST_CASE("deep nesting is damage") {
    const std::string deep(100'000, '[');
    const auto journal = read_below_header("{\"type\":\"sample\",\"x\":" + deep + "\n");
    CHECK(journal.notes.size() == 1);
    CHECK(journal.samples.empty());
    const auto in_string = read_below_header("{\"type\":\"sample\",\"x\":\"" + deep + "\\\"[\"}\n");
    CHECK(in_string.samples.size() == 1);
}

TEST_CASE("wrong types count as missing") {
    const auto journal = read_below_header(
        R"({"type":"end","wall_s":"long","peak":{"value":-1,"source":"s"},"events":7,)"
        R"("limit":{"value":{"bytes":1.5}},"user_s":{"value":null,"reason":"why"},)"
        R"("signals":[1,{"signal":99999999999}],"steps_down":{},"ending":{"how":"exited","code":3},)"
        R"("output_file":[],"profile":"x","troubles":[1,"t"],"log":3})"
        "\n");
    const auto& record = journal.record;
    CHECK(record.wall_s == 0);
    CHECK_FALSE(record.peak.available());
    CHECK(record.peak.reason() == "the journal does not hold it");
    CHECK_FALSE(record.events.available());
    CHECK_FALSE(record.limit.available());
    CHECK(record.user_s.reason() == "why");
    REQUIRE(record.signals.size() == 1);
    CHECK(record.signals[0].signal == 0);
    CHECK(std::get<Exited>(record.ending).code == 3);
    CHECK_FALSE(record.output_file);
    CHECK(record.troubles == std::vector<std::string>{"t"});
}

TEST_CASE("text from a journal is printable and bounded") {
    const auto journal =
        read_below_header("{\"type\":\"start\",\"entity\":\"a\\u001b[31m\\nb\",\"cgroup\":\"" +
                          std::string(100'000, 'c') + "\"}\n");
    CHECK(journal.record.entity == "a\\x1b[31m\\nb");
    CHECK(journal.record.cgroup.size() == 4096);
}

TEST_CASE("the corpus of the fuzz target is read without harm") {
    std::size_t count = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(MAPDIAG_SOURCE_DIR "/tests/fuzz/corpus/journal")) {
        std::ostringstream bytes;
        bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
        INFO(entry.path());
        const auto journal = parse_journal(bytes.str(), "fuzz");
        if (journal) {
            CHECK(record_to_json(journal->record).is_object());
        } else {
            CHECK_FALSE(journal.error().text().empty());
        }
        ++count;
    }
    CHECK(count >= 5);
}
