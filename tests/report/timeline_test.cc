#include "mapdiag/report/timeline.h"

#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <numeric>

#include "mapdiag/record/record_json.h"
#include "mapdiag/support/text.h"
#include "record/builders.h"
#include "support/catch.h"

#include "timeline/columns.h"

using namespace mapdiag;
using namespace mapdiag::record;
using namespace mapdiag::report;
using mapdiag::test::kMiB;
using mapdiag::test::RecordBuilder;

namespace {

Sample sample(double at_s, std::uint64_t mib, double cpu_s) {
    Sample made;
    made.at_s = at_s;
    made.memory = mib * kMiB;
    made.cpu_s = cpu_s;
    return made;
}

// Ten seconds: memory grows to 100 MiB, one core is busy in the second half.
Journal journal() {
    Journal journal;
    journal.record = RecordBuilder::v2()
                         .with_limit(200 * kMiB, "/a")
                         .with_time(10, 5, 0)
                         .with([](RunRecord& r) { r.signals = {{7.5, SIGTERM, 9, true, ""}}; })
                         .build();
    journal.samples = {sample(1, 10, 0), sample(5, 50, 0), sample(10, 100, 5)};
    return journal;
}

Timeline timeline(const Journal& of) {
    auto made = make_timeline(of);
    REQUIRE(made);
    return *made;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (const auto line : split(text, '\n')) {
        lines.emplace_back(line);
    }
    return lines;
}

// Characters, not bytes.
std::size_t width_of(const std::string& line) {
    std::size_t width = 0;
    for (std::size_t at = 0; at < line.size(); at += utf8_length(line.substr(at))) {
        ++width;
    }
    return width;
}

}  // namespace

TEST_CASE("a time line has what the journal has") {
    auto of = journal();
    of.events = {
        {6, "last_gasp", {{"memory", std::int64_t{95 << 20}}, {"limit", std::int64_t{100 << 20}}}}};
    of.samples[2].memory_kills = 2;
    of.samples[1].under_oom = true;
    const auto made = timeline(of);
    CHECK(made.end_s == 10);
    CHECK(made.highest == 100 * kMiB);
    CHECK(made.limit == 200 * kMiB);
    std::vector<std::string> marks;
    for (const auto& mark : made.marks) {
        marks.push_back(mark.text);
    }
    CHECK(marks ==
          std::vector<std::string>{"stopped at its limit, nobody kills it",
                                   "last gasp: 95.0 MiB of 100.0 MiB in use without file cache",
                                   "SIGTERM passed on", "memory kills: 2 so far", "exited with 0"});
}

TEST_CASE("without a sample of memory there is no time line") {
    Journal empty = journal();
    empty.samples = {Sample{}};
    CHECK(make_timeline(empty).error().text().find("holds no sample of memory") !=
          std::string::npos);
}

TEST_CASE("a hostile journal gives no moment outside of the run") {
    auto of = journal();
    of.samples.push_back(sample(std::nan(""), 999, 1));
    of.samples.push_back(sample(-5, 999, 1));
    of.samples.push_back(sample(2, 20, 1e300));
    of.events = {{std::nan(""), "x", {}}, {-1, "y", {}}, {1e300, "late", {}}};
    const auto made = timeline(of);
    CHECK(made.highest == 100 * kMiB);
    CHECK(timeline_text(made, 80).find('\n') != std::string::npos);
    CHECK(timeline_svg(made).find("nan") == std::string::npos);
}

TEST_CASE("columns keep the highest memory and all of the CPU time") {
    const auto made = timeline(journal());
    const auto memory = memory_columns(made, 20);
    CHECK(!memory[0]);
    CHECK(*memory[2] == Approx(10 * kMiB));
    CHECK(*memory[9] == Approx(10 * kMiB));
    CHECK(*memory[10] == Approx(50 * kMiB));
    CHECK(*memory[19] == Approx(100 * kMiB));
    for (const std::size_t count : {1U, 7U, 20U, 333U}) {
        const auto cores = cpu_columns(made, count);
        double sum = 0;
        for (const auto& column : cores) {
            sum += column.value_or(0) * made.end_s / static_cast<double>(count);
        }
        CHECK(sum == Approx(5));
        CHECK(*cores.back() == Approx(count == 1 ? 0.5 : 1));
    }
}

TEST_CASE("no CPU time is no busy core") {
    auto of = journal();
    for (auto& each : of.samples) {
        each.cpu_s.reset();
    }
    CHECK(cpu_columns(timeline(of), 10).empty());
    CHECK(timeline_text(timeline(of), 80).find("cores │not available") != std::string::npos);
}

TEST_CASE("the drawing fits the width, and the limit is a line in it") {
    for (const std::size_t width : {60U, 80U, 200U}) {
        const auto lines = lines_of(timeline_text(timeline(journal()), width));
        for (std::size_t i = 1; i < 14; ++i) {
            INFO(lines[i]);
            CHECK(width_of(lines[i]) <= width);
        }
        CHECK(lines[1].ends_with("╌╌ limit"));
        CHECK(lines[1].starts_with(" 200.0 MiB │"));
        CHECK(lines[10].starts_with("       0 B │"));
        // Half of the height is reached at the end.
        CHECK(lines[6].find("█") != std::string::npos);
        CHECK(lines[5].find("█") == std::string::npos);
        CHECK(lines[11].find("1.00 at most") != std::string::npos);
    }
}

TEST_CASE("a limit that is far away does not press the picture flat") {
    auto of = journal();
    of.record.limit = Reading<Limit>::of({4000 * kMiB, "/a", true}, "/a");
    const auto text = timeline_text(timeline(of), 80);
    CHECK(text.find("limit 3.91 GiB, far above this picture") != std::string::npos);
    CHECK(text.find("╌") == std::string::npos);
    CHECK(lines_of(text)[1].starts_with(" 100.0 MiB │"));
}

TEST_CASE("marks that fall together share a plus sign") {
    auto of = journal();
    for (int i = 0; i < 60; ++i) {
        of.events.push_back({5, "thing", {}});
    }
    const auto lines = lines_of(timeline_text(timeline(of), 80));
    CHECK(lines[12].find('+') != std::string::npos);
    CHECK(lines.size() == 15 + 62);
}

TEST_CASE("the SVG is one picture in which nothing of a name is markup") {
    auto of = journal();
    of.record.entity = "<script>&\"\x01";
    const auto svg = timeline_svg(timeline(of));
    CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    CHECK(svg.ends_with("</svg>\n"));
    CHECK(svg.find("<script") == std::string::npos);
    CHECK(svg.find("&lt;script&gt;&amp;&quot;\\x01") != std::string::npos);
    CHECK(svg.find("limit 200.0 MiB") != std::string::npos);
}

TEST_CASE("the JSON has every sample, and null for what is not known") {
    auto of = journal();
    of.record.limit = Reading<Limit>::unavailable("no limit is set");
    const auto json = record::Json::parse(timeline_json(timeline(of)));
    CHECK(json["format"] == "mapdiag-timeline");
    CHECK(json["version"] == kTimelineVersion);
    CHECK(json["limit_bytes"].is_null());
    CHECK(json["samples"].size() == 3);
    CHECK(json["samples"][0]["anon"].is_null());
    CHECK(json["marks"].size() == 2);
}
