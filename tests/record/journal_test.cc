#include "mapdiag/record/journal.h"

#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "mapdiag/record/record_json.h"
#include "record/builders.h"
#include "support/catch.h"
#include "support/temp_folder.h"

using namespace mapdiag;
using namespace mapdiag::record;
using mapdiag::test::kMiB;
using mapdiag::test::RecordBuilder;

namespace {

// A record in which every field differs from its default.
RunRecord full_record() {
    return RecordBuilder::v2()
        .killed(9, true)
        .with_limit(400 * kMiB, "/sys/fs/cgroup/a", true)
        .with_peak(399 * kMiB)
        .with_events({1, 2, 812, 1, 3, 4, 5})
        .with_machine_kills(3)
        .with_above({"/sys/fs/cgroup/a", 400 * kMiB, 300 * kMiB, {0, 0, 7, 1, 0, 0, {}}})
        .with_time(12.345678, 8.5, 1.25)
        .with([](RunRecord& r) {
            r.entity = "q\"é";
            r.steps_down = {{Placement::own_cgroup_v2, "no memory controller"}};
            r.timed_out = true;
            r.held_to = {64 * kMiB, 12.0, 3.0, 0.5, true};
            r.stack_dumps = {{9.5, "time limit", "logs/E.time-limit.stacks", 1, "x"}};
            r.sampling_interval_s = 0.015;
            r.swap_limit = Reading<Limit>::of({500 * kMiB, "/sys/fs/cgroup/b", false}, "b");
            r.swap_peak = Reading<std::uint64_t>::of(5, "memory.swap.peak");
            r.killer_disabled = true;
            r.stuck_at_limit = true;
            r.machine_memory = Reading<std::uint64_t>::of(1U << 30, "MemTotal");
            r.throttled_s = Reading<double>::of(0.5, "cpu.stat");
            r.cores = Reading<double>::of(2, "affinity");
            r.memory_pressure_s = Reading<double>::of(0.25, "memory.pressure");
            r.io_pressure_s = Reading<double>::of(0.75, "io.pressure");
            r.major_faults = Reading<std::uint64_t>::of(17, "memory.stat");
            r.process_limit_hits = Reading<std::uint64_t>::of(2, "pids.events");
            r.cpu_time_limit_s = Reading<std::uint64_t>::of(60, "RLIMIT_CPU");
            r.file_size_limit = Reading<std::uint64_t>::of(99, "RLIMIT_FSIZE");
            r.leftovers = {{77, "sleep", true, true}};
            r.signals = {{3.5, 15, 4242, true, "timeout"}};
            r.out = {10, 1, "the reader is gone"};
            r.err = {20, 2, "x"};
            r.log = {"logs/E.log", 3, "No space left on device", "", StderrHint::disk_full};
            r.output_file = OutputFileState{"", true, 5, true, true};
            r.troubles = {"can't do this"};
            r.profile.state = ProfileState::written;
            r.profile.found = FoundProfiler{ProfilerSource::uv, "/usr/bin/uv", "0.4.3"};
            r.profile.looked_at = {{ProfilerSource::variable, "/x", "not there"}};
            r.profile.python_seen = true;
            r.profile.samples = 12;
            r.profile.path = "logs/E.folded";
            ProfiledProcess process;
            process.pid = 12;
            process.program = "linkml-map";
            process.outcome = ProfileOutcome::sampled;
            process.samples = 12;
            r.profile.processes = {process};
        })
        .build();
}

JournalWriter writer_at(const std::string& path, const RunRecord& record) {
    auto writer = JournalWriter::create(path, record, "0.1.0");
    REQUIRE(writer);
    return std::move(*writer);
}

std::string whole_journal() {
    const test::TempFolder folder;
    const auto record = full_record();
    auto writer = writer_at(folder.path("E.diag.jsonl"), record);
    REQUIRE(writer.started(record));
    Sample sample;
    sample.at_s = 0.1;
    sample.memory = 50 * kMiB;
    sample.split.anon = 40 * kMiB;
    sample.cpu_s = 0.05;
    sample.processes = 3;
    REQUIRE(writer.sample(sample));
    sample.at_s = 0.2;
    sample.memory = 70 * kMiB;
    sample.under_oom = true;
    REQUIRE(writer.sample(sample));
    sample.at_s = 0.3;
    sample.memory = 60 * kMiB;
    REQUIRE(writer.sample(sample));
    REQUIRE(writer.event({0.25,
                          "limit_near",
                          {{"share", 0.9},
                           {"bytes", std::int64_t{42}},
                           {"dumped", true},
                           {"note", std::string("x")}}}));
    REQUIRE(writer.end(record));
    REQUIRE(writer.sync());
    return folder.read("E.diag.jsonl");
}

// Equal records give equal JSON: no field is compared by hand, so none can be forgotten.
void check_same(const RunRecord& a, const RunRecord& b) {
    CHECK(record_to_json(a) == record_to_json(b));
}

}  // namespace

TEST_CASE("what was written is read again") {
    const auto journal = parse_journal(whole_journal(), "E.diag.jsonl");
    REQUIRE(journal);
    CHECK(journal->has_end);
    CHECK(journal->mapdiag_version == "0.1.0");
    CHECK(journal->notes.empty());
    check_same(journal->record, full_record());
    REQUIRE(journal->samples.size() == 3);
    CHECK(journal->samples[1].memory == 70 * kMiB);
    CHECK(journal->samples[1].under_oom);
    CHECK(journal->samples[0].processes == 3);
    CHECK(journal->samples[0].split.anon == 40 * kMiB);
    CHECK_FALSE(journal->samples[0].split.file);
    REQUIRE(journal->events.size() == 1);
    CHECK(journal->events[0].kind == "limit_near");
    REQUIRE(journal->events[0].fields.size() == 4);
    CHECK(std::get<double>(journal->events[0].fields[0].value) == 0.9);
    CHECK(std::get<std::int64_t>(journal->events[0].fields[1].value) == 42);
    CHECK(std::get<bool>(journal->events[0].fields[2].value));
    CHECK(std::get<std::string>(journal->events[0].fields[3].value) == "x");
}

TEST_CASE("every key of the record has a value of its own in the full record") {
    // Guards the round trip: a field that the reader forgets would stay at its default.
    const auto full = record_to_json(full_record());
    const auto empty = record_to_json(RunRecord{});
    for (const auto& [key, value] : full.items()) {
        INFO(key);
        if (key != "placement" && key != "sees_root") {
            CHECK(value != empty[key]);
        }
    }
}

TEST_CASE("all endings are read again") {
    for (const Ending& ending :
         {Ending{}, Ending{NotStarted{127, "can't run x: No such file or directory"}},
          Ending{Exited{0}}, Ending{Exited{255}}, Ending{Killed{15, false}},
          Ending{WrapperKilled{}}}) {
        RunRecord record;
        read_record(Json::object({{"ending", ending_to_json(ending)}}), record);
        CHECK(ending_to_json(record.ending) == ending_to_json(ending));
    }
}

TEST_CASE("endings that no kernel reports are none") {
    for (const auto* text : {R"({"how":"exited","code":256})", R"({"how":"exited","code":-1})",
                             R"({"how":"killed","signal":0})", R"({"how":"killed","signal":65})",
                             R"({"how":"x"})", R"("exited")", R"({})"}) {
        RunRecord record;
        read_record(Json::object({{"ending", Json::parse(text)}}), record);
        INFO(text);
        CHECK(std::holds_alternative<std::monostate>(record.ending));
    }
}

TEST_CASE("a figure that was not available is null with its reason") {
    const auto record = RecordBuilder::process_tree("Read-only file system").build();
    const auto json = record_to_json(record);
    CHECK(json["events"]["value"].is_null());
    CHECK(json["events"]["reason"] == "the job had no cgroup of its own");
    CHECK(one_line(json).find("\"oom_kill\":0") == std::string::npos);
    const auto v1 = record_to_json(RecordBuilder::v1().build());
    CHECK(v1["events"]["value"]["oom_kill"] == 0);
    CHECK(v1["events"]["value"]["oom"].is_null());
}

TEST_CASE("a journal holds no text of the job") {
    auto record = full_record();
    record.log.last_stderr_line = "SECRET No space left on device";
    record.log.hint = StderrHint::none;
    record.output_file->path = "/data/SECRET.yaml";
    const auto line = one_line(record_to_json(record));
    CHECK(line.find("SECRET") == std::string::npos);
    CHECK(line.find("\"stderr_hint\":\"disk_full\"") != std::string::npos);
}

TEST_CASE("a journal that mapdiag could not end is ended by the watcher's line") {
    auto bytes = whole_journal();
    bytes.resize(bytes.find("{\"type\":\"end\"") - 20);  // cut within the line before
    const auto journal = parse_journal(bytes + wrapper_killed_end_line(7.5), "j");
    REQUIRE(journal);
    CHECK(journal->has_end);
    CHECK(std::holds_alternative<WrapperKilled>(journal->record.ending));
    CHECK(journal->record.wall_s == 7.5);
    CHECK(journal->record.entity == "q\"é");
    CHECK(journal->record.limit->bytes == 400 * kMiB);
    CHECK_FALSE(journal->record.peak.available());
    CHECK(journal->record.peak.reason() == "mapdiag ended before it could be read");
    REQUIRE(journal->record.peak_sample);
    CHECK(journal->record.peak_sample->memory == 70 * kMiB);
    REQUIRE(journal->notes.size() == 1);
    CHECK(journal->notes[0] == "line 6 is damaged and was left out");
}

TEST_CASE("a journal without an end is what it is") {
    auto bytes = whole_journal();
    bytes.resize(bytes.find("{\"type\":\"end\""));
    const auto journal = parse_journal(bytes, "j");
    REQUIRE(journal);
    CHECK_FALSE(journal->has_end);
    CHECK(std::holds_alternative<std::monostate>(journal->record.ending));
    CHECK(journal->record.wall_s == Approx(0.3));
    CHECK(journal->record.peak_sample->memory == 70 * kMiB);
    CHECK(journal->notes.empty());
}

TEST_CASE("a journal cut at any byte is read up to its last whole line") {
    const auto bytes = whole_journal();
    const auto header_end = bytes.find('\n');
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        INFO("cut at byte " << size);
        const auto journal = parse_journal(bytes.substr(0, size), "j");
        if (size < header_end) {
            REQUIRE_FALSE(journal);
            continue;
        }
        REQUIRE(journal);
        const auto lines = static_cast<std::size_t>(
            std::count(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size), '\n'));
        const bool at_line_end = bytes[size] == '\n' || bytes[size - 1] == '\n';
        CHECK(journal->notes.size() == (at_line_end ? 0 : 1));
        if (!at_line_end) {
            CHECK(journal->notes[0] ==
                  "line " + std::to_string(lines + 1) + " (the last one) is cut and was left out");
        }
    }
}

TEST_CASE("every line of a journal is one object with its type first") {
    const auto bytes = whole_journal();
    REQUIRE(bytes.back() == '\n');
    std::size_t lines = 0;
    for (std::size_t at = 0; at < bytes.size(); at = bytes.find('\n', at) + 1) {
        const auto line = bytes.substr(at, bytes.find('\n', at) - at);
        INFO(line);
        CHECK(Json::parse(line).is_object());
        CHECK(line.starts_with("{\"type\":\""));
        ++lines;
    }
    CHECK(lines == 7);
    CHECK(bytes.starts_with(R"({"type":"header","format":"mapdiag-journal","version":1,)"));
}

TEST_CASE("a journal replaces an older one of the same name") {
    const test::TempFolder folder;
    folder.write("E.diag.jsonl", std::string(100000, 'x'));
    auto writer = writer_at(folder.path("E.diag.jsonl"), full_record());
    CHECK(read_journal(folder.path("E.diag.jsonl")));
}

TEST_CASE("a journal that can't be made says why") {
    const auto writer = JournalWriter::create("/nonexistent/E.diag.jsonl", RunRecord{}, "0.1.0");
    REQUIRE_FALSE(writer);
    CHECK(writer.error().text() ==
          "can't open /nonexistent/E.diag.jsonl: No such file or directory");
}

TEST_CASE("a full disk is an error of the line that did not fit") {
    auto writer = JournalWriter::create("/dev/full", RunRecord{}, "0.1.0");
    REQUIRE_FALSE(writer);
    CHECK(writer.error().text() == "can't write /dev/full: No space left on device");
}
