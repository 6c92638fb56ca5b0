#include "mapdiag/run/containment.h"

#include "mapdiag/linux/containment.h"
#include "support/catch.h"
#include "support/temp_folder.h"

#include "limits/last_gasp.h"
#include "limits/time_limit.h"
#include "run/fake_group.h"

using namespace mapdiag;
using namespace mapdiag::run;
using namespace std::chrono_literals;
using Step = TimeLimit::Step;

namespace {

constexpr std::uint64_t kMiB = 1U << 20;

Containment read(const ContainmentOptions& options) {
    auto made = read_containment(options);
    REQUIRE(made);
    return *made;
}

std::string refusal(const ContainmentOptions& options) {
    const auto made = read_containment(options);
    REQUIRE(!made);
    return made.error().text();
}

std::uint64_t bytes_of(const std::string& text, std::uint64_t whole, std::uint64_t room) {
    return memory_limit_bytes(*read({.memory_limit = text}).memory, whole, room);
}

}  // namespace

TEST_CASE("a memory limit is a size, a share or what is left") {
    CHECK(bytes_of("512M", 0, 0) == 512 * kMiB);
    CHECK(bytes_of("1.5G", 0, 0) == 1536 * kMiB);
    CHECK(bytes_of("50%", 400 * kMiB, 0) == 200 * kMiB);
    CHECK(bytes_of("100%", 400 * kMiB, 0) == 400 * kMiB);
    // A twentieth stays free, 64 MiB at least, but never more than a quarter of what is left.
    CHECK(bytes_of("auto", 0, 4000 * kMiB) == 3800 * kMiB);
    CHECK(bytes_of("auto", 0, 400 * kMiB) == 336 * kMiB);
    CHECK(bytes_of("auto", 0, 100 * kMiB) == 75 * kMiB);
    // Whole pages, one at least.
    CHECK(bytes_of("10000", 0, 0) == 8192);
    CHECK(bytes_of("auto", 0, 0) == 4096);
}

TEST_CASE("wrong limits are refused with what was wrong") {
    CHECK(refusal({.memory_limit = "64Q"}) ==
          "can't use --memory-limit \"64Q\": it is neither a size (512M, 2G) nor a share (80%) nor "
          "auto");
    for (const auto* share : {"0%", "101%", "-5%", "x%", "nan%", "%"}) {
        CHECK(refusal({.memory_limit = share}).ends_with("a share is above 0 % and at most 100 %"));
    }
    CHECK(refusal({.memory_limit = "100"}).ends_with("it is less than a page of memory"));
    CHECK(refusal({.time_limit = "soon"})
              .ends_with("it is no duration above 0 (30, 1.5s, 250ms, 2m, 1h)"));
    CHECK(refusal({.time_limit = "0"}).starts_with("can't use --time-limit"));
    CHECK(refusal({.kill_after = "3"}) == "can't use --kill-after \"3\": there is no --time-limit");
    for (const auto* cores : {"0", "-1", "many", "inf", "1e9", ""}) {
        CHECK(refusal({.cpu_limit = cores}).starts_with("can't use --cpu-limit"));
    }
}

TEST_CASE("limits that are given are taken, the others are not there") {
    CHECK(!read({}).any());
    const auto all = read({"1G", "1.5s", "250ms", "0.5"});
    CHECK(all.any());
    CHECK(all.needs_group());
    CHECK(all.time == 1500ms);
    CHECK(all.kill_after == 250ms);
    CHECK(all.cores == 0.5);
    const auto time = read({.time_limit = "2m"});
    CHECK(!time.needs_group());
    CHECK(time.kill_after == 10s);
}

TEST_CASE("DuckDB is told four fifths, with a unit") {
    CHECK(duckdb_limit(1024 * kMiB) == "819MiB");
    CHECK(duckdb_limit(4096) == "1MiB");
}

TEST_CASE("the last gasp is 90 percent unless said otherwise") {
    CHECK(read_last_gasp(std::nullopt).value() == 0.9);
    CHECK(read_last_gasp("50%").value() == 0.5);
    CHECK(read_last_gasp("75").value() == 0.75);
    CHECK(!read_last_gasp("0").value());
    CHECK(read_last_gasp("120").error().text() ==
          "can't use --last-gasp \"120\": it is no share from 0 to 100 %");
}

TEST_CASE("cores become a quota that the kernel takes") {
    const auto is = [](double cores, std::uint64_t quota, std::uint64_t period) {
        const auto made = linux_os::quota_of(cores);
        return made.quota_us == quota && made.period_us == period;
    };
    CHECK(is(2, 200'000, 100'000));
    CHECK(is(0.5, 50'000, 100'000));
    CHECK(is(0.01, 1'000, 100'000));
    CHECK(is(0.001, 1'000, 1'000'000));
}

TEST_CASE("the time limit asks for stacks, waits for them, terminates, and kills") {
    const auto start = Clock::time_point(1h);
    TimeLimit limit(10s, 2s, start);
    CHECK(limit.next(start + 9s, false) == Step::nothing);
    CHECK(!limit.reached());
    CHECK(limit.until_next(start + 9s) == 1s);
    CHECK(limit.next(start + 10s, false) == Step::dump);
    CHECK(limit.reached());
    CHECK(limit.next(start + 11s, true) == Step::nothing);
    CHECK(limit.until_next(start + 11s) == 20ms);
    CHECK(limit.next(start + 12s, false) == Step::terminate);
    CHECK(limit.next(start + 13s, false) == Step::nothing);
    CHECK(!limit.killed());
    CHECK(limit.next(start + 14s, false) == Step::kill);
    CHECK(limit.next(start + 15s, false) == Step::kill);
    CHECK(limit.killed());
}

TEST_CASE("stacks that do not come are not waited for longer than five seconds") {
    const auto start = Clock::time_point(1h);
    TimeLimit limit(1s, 2s, start);
    CHECK(limit.next(start + 1s, true) == Step::dump);
    CHECK(limit.next(start + 5s, true) == Step::nothing);
    CHECK(limit.next(start + 6s, true) == Step::terminate);
}

TEST_CASE("the last gasp comes once, and not for file cache") {
    const auto start = Clock::time_point(1h);
    test::FakeGroup group;
    LastGasp gasp(0.9, 100 * kMiB, start);
    CHECK(!gasp.is_due(start, group));  // no figure: nothing is known
    group.usage_value = 99 * kMiB;
    group.split_value = linux_os::GroupSplit{.anon = 50 * kMiB, .file = 40 * kMiB};
    CHECK(!gasp.is_due(start + 1s, group));
    group.split_value = linux_os::GroupSplit{.anon = 95 * kMiB, .file = 4 * kMiB};
    CHECK(!gasp.is_due(start + 1s + 50ms, group));  // not yet time to look again
    CHECK(gasp.is_due(start + 2s, group));
    CHECK(gasp.memory() == 95 * kMiB);
    CHECK(gasp.limit() == 100 * kMiB);
    CHECK(!gasp.is_due(start + 3s, group));
}

TEST_CASE("what is left is the tightest of the groups above and the machine") {
    const test::TempFolder folder;
    const auto proc = folder.path();
    folder.write("meminfo", "MemTotal: 2097152 kB\nMemFree: 5 kB\nMemAvailable: 1048576 kB\n");
    CHECK(linux_os::machine_memory(proc) == 2048 * kMiB);
    CHECK(linux_os::find_memory_room({}, 2, proc).value() == 1024 * kMiB);
    folder.write("a/memory.current", std::to_string(300 * kMiB) + "\n");
    folder.write("a/memory.stat", "file " + std::to_string(150 * kMiB) + "\nshmem " +
                                      std::to_string(30 * kMiB) + "\nfile_dirty " +
                                      std::to_string(20 * kMiB) + "\n");
    // 300 are in use, of which 100 can be dropped.
    const linux_os::GroupAbove limited = {folder.path("a"), 500 * kMiB, {}};
    const linux_os::GroupAbove free = {folder.path("a"), std::nullopt, {}};
    CHECK(linux_os::find_memory_room({free, limited}, 2, proc).value() == 300 * kMiB);
    folder.write("b/memory.usage_in_bytes", "100\n");
    folder.write("b/memory.stat", "total_cache 200\n");
    CHECK(linux_os::find_memory_room({{folder.path("b"), 50, {}}}, 1, proc).value() == 50);
    CHECK(!linux_os::find_memory_room({}, 2, folder.path("nowhere")));
}
