#include <csignal>

#include "report/runs.h"
#include "support/catch.h"
#include "support/temp_folder.h"

using namespace mapdiag;
using namespace mapdiag::record;
using mapdiag::test::judged;
using mapdiag::test::kMiB;
using mapdiag::test::memory_killed;
using mapdiag::test::RecordBuilder;

namespace {

void write_journal(const test::TempFolder& folder, const std::string& name,
                   const RunRecord& record) {
    folder.write(name, "");
    auto writer = JournalWriter::create(folder.path(name), record, "0.1.0");
    REQUIRE(writer);
    REQUIRE(writer->started(record));
    REQUIRE(writer->end(record));
}

RunRecord named(RecordBuilder builder, const std::string& entity) {
    return judged(std::move(builder), entity).journal.record;
}

}  // namespace

TEST_CASE("every journal below a folder, worst first") {
    const test::TempFolder folder;
    write_journal(folder, "a/Well.diag.jsonl", named(RecordBuilder::v2(), "Well"));
    write_journal(folder, "b/Memory.diag.jsonl", named(memory_killed(), "Memory"));
    write_journal(folder, "b/c/Failed.diag.jsonl", named(RecordBuilder::v2().exited(1), "Failed"));
    write_journal(folder, "Killed.diag.jsonl",
                  named(RecordBuilder::v2().killed(SIGTERM), "Killed"));
    write_journal(folder, "NoEnd.diag.jsonl",
                  named(RecordBuilder::v2().with([](RunRecord& r) { r.ending = {}; }), "NoEnd"));
    folder.write("Bad.diag.jsonl", "hello\n");
    folder.write("other.txt", "x");
    const auto report = report::make_report(folder.path());
    REQUIRE(report);
    std::vector<std::string> order;
    for (const auto& run : report->runs) {
        order.push_back(run.journal.record.entity);
    }
    CHECK(order == std::vector<std::string>{"", "Memory", "NoEnd", "Killed", "Failed", "Well"});
    CHECK(report->any_failed());
    CHECK_FALSE(report->runs.back().failed());
    SECTION("one journal can be named, too") {
        const auto one = report::make_report(folder.path("a/Well.diag.jsonl"));
        REQUIRE(one);
        CHECK(one->runs.size() == 1);
        CHECK_FALSE(one->any_failed());
    }
}

TEST_CASE("what can't be reported says why") {
    const test::TempFolder folder;
    CHECK(report::make_report(folder.path()).error().text() ==
          "can't report " + folder.path() + ": no *.diag.jsonl file below it");
    CHECK(report::make_report("/nonexistent").error().text() ==
          "can't open /nonexistent: No such file or directory");
}

TEST_CASE("a run that exited with 0 has failed when its output is not right") {
    auto empty = RecordBuilder::v2();
    empty.with([](RunRecord& r) { r.output_file = OutputFileState{"", true, 0, false, false}; });
    CHECK(judged(empty, "E").failed());
    auto worker = RecordBuilder::v2();
    worker.with_machine_kills(1).with_events({0, 0, 1, 1, 1, 0, {}});
    CHECK(judged(worker, "E").failed());
    auto old = RecordBuilder::v2();
    old.with([](RunRecord& r) { r.output_file = OutputFileState{"", true, 5, true, false}; });
    CHECK_FALSE(judged(old, "E").failed());
}

TEST_CASE("the table") {
    report::Report report;
    report.runs = {judged(memory_killed(), "Memory"),
                   judged(RecordBuilder::process_tree("no").exited(3), "Größe"),
                   judged(RecordBuilder::v2(), "Well"), test::unreadable("logs/x.diag.jsonl")};
    CHECK(report::report_table(report) ==
          "ENTITY        ENDED         WALL   CPU          PEAK     LIMIT  SHARE  CAUSE\n"
          "Memory        SIGKILL     10.0 s  90 %      90.0 MiB  90.0 MiB  100 %  memory limit\n"
          "Größe         exit 3      10.0 s  90 %  >= 105.0 MiB       n/a    n/a  exit status\n"
          "Well          exit 0      10.0 s  90 %     110.0 MiB       n/a    n/a  ended well\n"
          "x.diag.jsonl  unreadable     n/a   n/a           n/a       n/a    n/a  journal not "
          "readable\n"
          "\n"
          "Memory: killed by the kernel's memory killer (SIGKILL, 1 memory kill) at the limit of "
          "90.0 MiB that /a sets (peak 90.0 MiB)\n"
          "Memory: warning: the output is incomplete and must not be used: the run was cut short\n"
          "logs/x.diag.jsonl: can't read logs/x.diag.jsonl: not a journal of mapdiag\n"
          "\n"
          "4 runs, 3 failed\n"
          "No two of these runs overlapped.\n");
}

TEST_CASE("what runs needed together") {
    report::Report report;
    report.runs = {judged(RecordBuilder::v2(), "Well")};
    report.overlap = report::Overlap{{"A", "B"}, 320 * kMiB, 170 * kMiB, 400 * kMiB, "/a", 2};
    const auto last_line = [&] {
        const auto table = report::report_table(report);
        return table.substr(table.rfind('\n', table.size() - 2) + 1);
    };
    CHECK(
        last_line() ==
        "2 runs overlapped (A, B): their peaks add up to 320.0 MiB, 80.0 % of the 400.0 MiB of /a. "
        "Runs as large as the largest (170.0 MiB) fit into it 2 at once (make -j2).\n");
    report.overlap->shared_bytes.reset();
    CHECK(last_line() ==
          "2 runs overlapped (A, B): their peaks add up to 320.0 MiB; what limit they share is not "
          "known\n");
    report.overlap->entities.assign(10, "A");
    CHECK(last_line().find("A, A, A, A, A, A, A, A and 2 more") != std::string::npos);
}

TEST_CASE("damage in a journal is told beside its run") {
    auto run = judged(RecordBuilder::v2(), "Well");
    run.journal.notes = {"line 7 is damaged and was left out"};
    report::Report report;
    report.runs = {run};
    CHECK(
        report::report_table(report).find(
            "Well: warning: journal logs/Well.diag.jsonl: line 7 is damaged and was left out\n") !=
        std::string::npos);
}

TEST_CASE("explain prints every finding with its proofs") {
    auto run = judged(memory_killed(), "Memory");
    run.journal.notes = {"line 7 is damaged and was left out"};
    const auto text = report::explain_text(run);
    CHECK(text.starts_with(
        "Memory: SIGKILL, linkml-map with 12 arguments, started at 2026-12-01T04:25:23Z\n"
        "\n"
        "cause [memory-own-limit]\n"
        "  killed by the kernel's memory killer (SIGKILL, 1 memory kill) at the limit of 90.0 MiB "
        "that /a sets (peak 90.0 MiB)\n"
        "    ending = killed by SIGKILL (signal 9)  (wait status of the job)\n"
        "    memory kills in the job's own cgroup and below = 1  (memory.events)\n"));
    for (const auto& finding : run.findings) {
        CHECK(text.find('[' + std::string(finding.id) + ']') != std::string::npos);
    }
    CHECK(text.ends_with("\nnote: line 7 is damaged and was left out\n"));
}
