#include "report/runs.h"
#include "support/catch.h"
#include "support/temp_folder.h"

using namespace mapdiag;
using mapdiag::test::judged;
using mapdiag::test::memory_killed;
using mapdiag::test::RecordBuilder;

namespace {

report::Report report_of(std::vector<report::ReportedRun> runs) {
    report::Report report;
    report.runs = std::move(runs);
    return report;
}

}  // namespace

TEST_CASE("names in the Markdown table have no meaning to Markdown") {
    const auto text = report::report_markdown(
        report_of({judged(RecordBuilder::v2(), "a|b<c>&*d*[x](y)")}), 100'000);
    CHECK(
        text.starts_with("### mapdiag\n\n| ENTITY | ENDED | WALL | CPU | PEAK | LIMIT | SHARE | "
                         "CAUSE |\n|---|---|---:|---:|---:|---:|---:|---|\n"));
    CHECK(text.find("| a\\|b&lt;c&gt;&amp;\\*d\\*\\[x\\]\\(y\\) | exit 0 | 10\\.0 s |") !=
          std::string::npos);
}

TEST_CASE("the Markdown table keeps within its room and counts what it leaves out") {
    std::vector<report::ReportedRun> runs(100, judged(RecordBuilder::v2(), "E"));
    const auto report = report_of(std::move(runs));
    const auto text = report::report_markdown(report, 1000);
    CHECK(text.size() <= 1000);
    CHECK(text.find(" more\\] | | | | | | | |\n") != std::string::npos);
    CHECK(report::report_markdown(report, 100'000).find(" more\\]") == std::string::npos);
    CHECK(report::report_markdown(report, 50).empty());
}

TEST_CASE("annotations for the runs that failed, escaped") {
    CHECK(
        report::report_annotations(report_of({judged(RecordBuilder::v2(), "Well"),
                                              judged(RecordBuilder::v2().exited(1), "a:b,c%")})) ==
        "::error title=mapdiag%3A a%3Ab%2Cc%25::exited with 1 by itself\n");
    CHECK(report::report_annotations(report_of({test::unreadable("x")})) ==
          "::error title=mapdiag%3A x::can't read x: not a journal of mapdiag\n");
}

TEST_CASE("the step's summary is appended to, within its 1 MiB") {
    const test::TempFolder folder;
    const auto report = report_of({judged(memory_killed(), "E")});
    folder.write("summary", "before\n");
    REQUIRE(report::append_step_summary(report, folder.path("summary")));
    CHECK(folder.read("summary").starts_with("before\n### mapdiag\n"));
    REQUIRE(report::append_step_summary(report, folder.path("new")));
    folder.write("full", std::string((1 << 20) - 10, 'x'));
    const auto refused = report::append_step_summary(report, folder.path("full"));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text() == "can't append to " + folder.path("full") +
                                        ": its 1 MiB for the step's summary is used up");
    CHECK(report::append_step_summary(report, "/nonexistent/x").error().text() ==
          "can't open /nonexistent/x: No such file or directory");
}
