#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "report/runs.h"
#include "support/catch.h"

using namespace mapdiag;
using namespace mapdiag::record;
using mapdiag::test::judged;
using mapdiag::test::kMiB;
using mapdiag::test::memory_killed;
using mapdiag::test::RecordBuilder;
using nlohmann::json;

namespace {

json json_of(std::vector<report::ReportedRun> runs) {
    report::Report report;
    report.runs = std::move(runs);
    return json::parse(report::report_json(report));
}

}  // namespace

TEST_CASE("the report as JSON") {
    const auto all =
        json_of({judged(memory_killed(), "q\"é"), test::unreadable("logs/x.diag.jsonl")});
    CHECK(all["format"] == "mapdiag-report");
    CHECK(all["version"] == 1);
    CHECK(all["failed"] == true);
    CHECK(all["overlap"].is_null());
    const auto& run = all["runs"][0];
    CHECK(run["entity"] == "q\"é");
    CHECK(run["failed"] == true);
    CHECK(run["ending"]["signal_name"] == "SIGKILL");
    CHECK(run["peak_bytes"] == 90 * kMiB);
    CHECK(run["peak_is"] == "exact");
    CHECK(run["limit_bytes"] == 90 * kMiB);
    CHECK(run["limit_owner"] == "/a");
    CHECK(run["share_of_limit"] == 1.0);
    CHECK(run["memory_events"]["oom_kill"] == 1);
    CHECK(run["findings"][0]["id"] == "memory-own-limit");
    CHECK(run["not_available"] == json{{"swap_peak_bytes", "not accounted"}});
    CHECK(all["runs"][1] == json{{"journal", "logs/x.diag.jsonl"},
                                 {"unreadable",
                                  "can't read logs/x.diag.jsonl: not a journal of "
                                  "mapdiag"},
                                 {"failed", true}});
}

TEST_CASE("what was not available is null with a reason, never 0") {
    const auto all = json_of({judged(RecordBuilder::process_tree("Read-only file system"), "E")});
    const auto& run = all["runs"][0];
    CHECK(run["memory_events"].is_null());
    CHECK(run["not_available"]["memory_events"] == "the job had no cgroup of its own");
    CHECK(run["limit_bytes"].is_null());
    CHECK(run["share_of_limit"].is_null());
    CHECK(run["peak_is"] == "sampled, at least");
    CHECK(all.dump().find("oom_kill") == std::string::npos);
    const auto v1 = json_of({judged(RecordBuilder::v1(), "E")});
    CHECK(v1["runs"][0]["memory_events"]["oom"].is_null());
    CHECK(v1["runs"][0]["memory_events"]["oom_kill"] == 0);
}

TEST_CASE("an overlap as JSON") {
    report::Report report;
    report.runs = {judged(RecordBuilder::v2(), "E")};
    report.overlap = report::Overlap{{"A", "B"}, 3, 2, {}, "", {}};
    const auto all = json::parse(report::report_json(report));
    CHECK(all["overlap"]["sum_of_peaks_bytes"] == 3);
    CHECK(all["overlap"]["shared_bytes"].is_null());
    CHECK(all["overlap"]["shared_owner"].is_null());
    CHECK(all["overlap"]["most_at_once"].is_null());
}

TEST_CASE("docs/report.md describes exactly the keys that there are") {
    std::ostringstream text;
    text << std::ifstream(MAPDIAG_SOURCE_DIR "/docs/report.md").rdbuf();
    const auto doc = text.str();
    const auto begin = doc.find("```json\n");
    REQUIRE(begin != std::string::npos);
    const auto end = doc.find("```", begin + 8);
    const auto schema = json::parse(doc.substr(begin + 8, end - begin - 8));
    const auto keys = [](const json& object) {
        std::set<std::string> names;
        for (const auto& [key, value] : object.items()) {
            names.insert(key);
        }
        return names;
    };
    report::Report report;
    report.runs = {judged(memory_killed(), "E")};
    report.overlap = report::Overlap{{"A", "B"}, 3, 2, {}, "", {}};
    const auto all = json::parse(report::report_json(report));
    CHECK(keys(schema["properties"]) == keys(all));
    CHECK(keys(schema["$defs"]["run"]["properties"]) == keys(all["runs"][0]));
    CHECK(keys(schema["$defs"]["overlap"]["properties"]) == keys(all["overlap"]));
    CHECK(keys(schema["$defs"]["finding"]["properties"]) == keys(all["runs"][0]["findings"][0]));
    CHECK(keys(schema["$defs"]["memory_events"]["properties"]) ==
          keys(all["runs"][0]["memory_events"]));
    CHECK(keys(schema["$defs"]["highest_sample"]["properties"]) ==
          keys(all["runs"][0]["highest_sample"]));
}
