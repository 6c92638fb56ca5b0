#include "report/runs.h"
#include "support/catch.h"

using namespace mapdiag;
using namespace mapdiag::record;
using mapdiag::test::judged;
using mapdiag::test::kMiB;
using mapdiag::test::RecordBuilder;

namespace {

report::ReportedRun run_at(const std::string& entity, const std::string& start, double wall_s,
                           std::uint64_t peak, bool limited = true) {
    auto builder = RecordBuilder::v2();
    builder.with_peak(peak).with_time(wall_s, wall_s / 2, 0).with([&](RunRecord& r) {
        r.started_at = start;
        r.machine_memory = Reading<std::uint64_t>::of(8192 * kMiB, "MemTotal");
    });
    if (limited) {
        builder.with_limit(400 * kMiB, "/a");
    }
    return judged(builder, entity);
}

}  // namespace

TEST_CASE("peaks of runs that overlapped are added up") {
    const auto overlap = report::find_overlap({
        run_at("A", "2026-12-01T04:25:23.000Z", 10, 150 * kMiB),
        run_at("B", "2026-12-01T04:25:25.500Z", 10, 160 * kMiB),
        run_at("C", "2026-12-01T04:25:30.000Z", 10, 170 * kMiB),
        run_at("D", "2026-12-01T04:26:30.000Z", 10, 390 * kMiB),
    });
    REQUIRE(overlap);
    CHECK(overlap->entities == std::vector<std::string>{"A", "B", "C"});
    CHECK(overlap->sum_of_peaks == 480 * kMiB);
    CHECK(overlap->largest_peak == 170 * kMiB);
    CHECK(overlap->shared_bytes == 400 * kMiB);
    CHECK(overlap->shared_owner == "/a");
    CHECK(overlap->most_at_once == 2);
}

TEST_CASE("runs one after the other do not overlap") {
    CHECK_FALSE(report::find_overlap({run_at("A", "2026-12-01T04:25:23.000Z", 1.0, kMiB),
                                      run_at("B", "2026-12-01T04:25:24.000Z", 1.0, kMiB)}));
    SECTION("nor those that may have been one after the other, at whole seconds") {
        CHECK_FALSE(report::find_overlap({run_at("A", "2026-12-01T04:25:23Z", 1.5, kMiB),
                                          run_at("B", "2026-12-01T04:25:24Z", 1.5, kMiB)}));
        CHECK(report::find_overlap({run_at("A", "2026-12-01T04:25:23Z", 4, kMiB),
                                    run_at("B", "2026-12-01T04:25:24Z", 4, kMiB)}));
    }
    CHECK_FALSE(report::find_overlap({run_at("A", "2026-12-01T04:25:23.000Z", 10, kMiB)}));
    CHECK_FALSE(report::find_overlap({}));
}

TEST_CASE("without a common limit the machine is what they share") {
    const auto overlap = report::find_overlap({
        run_at("A", "2026-12-01T04:25:23.000Z", 10, 1024 * kMiB, false),
        run_at("B", "2026-12-01T04:25:23.000Z", 10, 1024 * kMiB),
    });
    REQUIRE(overlap);
    CHECK(overlap->shared_owner == "the machine");
    CHECK(overlap->most_at_once == 8);
}

TEST_CASE("a start that is no time is left out") {
    for (const auto* start : {"", "yesterday", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z",
                              "2026-12-01T25:00:00Z", "2026-12-01T04:25:23"}) {
        INFO(start);
        CHECK_FALSE(report::find_overlap(
            {run_at("A", start, 10, kMiB), run_at("B", "2026-12-01T04:25:23.000Z", 10, kMiB)}));
    }
}

TEST_CASE("over midnight and over a leap day") {
    CHECK(report::find_overlap({run_at("A", "2028-02-29T23:59:59.000Z", 5, kMiB),
                                run_at("B", "2028-03-01T00:00:01.000Z", 5, kMiB)}));
}
