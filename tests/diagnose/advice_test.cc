#include <csignal>

#include "judge.h"

using namespace mapdiag;
using namespace mapdiag::record;
using mapdiag::test::kMiB;
using mapdiag::test::RecordBuilder;
using mapdiag::test::says;
using mapdiag::test::text_of;

namespace {

RecordBuilder killed_at_limit() {
    auto builder = RecordBuilder::v2();
    builder.killed(SIGKILL).with_limit(256 * kMiB, "/a").with_peak(255 * kMiB);
    builder.with_machine_kills(1).with_events({0, 0, 35, 1, 1, 0, {}});
    return builder;
}

// `at(i)` MiB of anonymous memory, one sample a second.
template <class At>
std::vector<Sample> time_line(std::size_t count, At at) {
    std::vector<Sample> samples(count);
    for (std::size_t i = 0; i < count; ++i) {
        samples[i].at_s = static_cast<double>(i);
        samples[i].split.anon = static_cast<std::uint64_t>(at(i)) * kMiB;
        samples[i].memory = *samples[i].split.anon + 100 * kMiB;
    }
    return samples;
}

std::string growth_of(const std::vector<Sample>& samples) {
    const auto record = RecordBuilder::v2().with_limit(1000 * kMiB).build();
    return text_of(test::judge(record, samples), "growing");
}

}  // namespace

TEST_CASE("after a memory kill: which limit to raise") {
    CHECK(text_of(killed_at_limit().build(), "raise-limit") ==
          "raise the memory limit of /a above 256.0 MiB (how much it needs is not known: it was "
          "killed on the way up), or make the job need less: a smaller --chunk-size, or a fixed "
          "$LINKML_MAP_DUCKDB_MEMORY_LIMIT");
    auto above = killed_at_limit();
    above.with_events({0, 0, 0, 0, 1, 0, {}})
        .with_above({"/b", 300 * kMiB, {}, {0, 0, 5, 1, 0, 0, {}}});
    CHECK(text_of(above.build(), "raise-limit")
              .starts_with("raise the memory limit of /b above 300.0 MiB"));
    CHECK(text_of(above.build(), "raise-limit").find("run fewer jobs in it at once, or") !=
          std::string::npos);
    CHECK_FALSE(says(RecordBuilder::v2().killed(SIGKILL).build(), "raise-limit"));
    auto machine = killed_at_limit();
    machine.with_events({0, 0, 0, 0, 1, 0, {}});
    CHECK(says(machine.build(), "machine-full"));
    CHECK_FALSE(says(machine.build(), "raise-limit"));
}

TEST_CASE("a limit that mapdiag set is raised where the user set it") {
    auto builder = RecordBuilder::v2();
    builder.killed(9).with_limit(256 * kMiB, "/a/job", false).with_peak(256 * kMiB);
    builder.with_events({0, 0, 5, 1, 1, 0}).with_machine_kills(1).with([](RunRecord& r) {
        r.held_to.memory = 256 * kMiB;
    });
    CHECK(text_of(builder.build(), "raise-limit").starts_with("raise --memory-limit above 256.0"));
    CHECK(text_of(builder.build(), "memory-own-limit")
              .find("at the limit of 256.0 MiB that --memory-limit set") != std::string::npos);
}

TEST_CASE("a job that the CPU quota stopped was not idle") {
    auto builder = RecordBuilder::v2();
    builder.with_time(10, 1, 0).with([](RunRecord& r) {
        r.throttled_s = Reading<double>::of(8, "cpu.stat");
        r.held_to.cores = 0.1;
    });
    CHECK(!says(builder.build(), "mostly-idle"));
    CHECK(text_of(builder.build(), "throttled") ==
          "the CPU quota stopped it for 8.00 s (80.0 % of the wall clock): raise --cpu-limit, or "
          "let it use fewer threads");
}

TEST_CASE("near the limit, and alive") {
    auto builder = RecordBuilder::v2();
    builder.with_limit(256 * kMiB, "/a").with_peak(255 * kMiB);
    SECTION("with memory that the job needs") {
        builder.with_split({240 * kMiB, 2 * kMiB, 0, 5 * kMiB, {}, {}});
        CHECK(
            text_of(builder.build(), "near-limit") ==
            "the run lived at 99.6 % of its limit: the next larger input may be killed; raise the "
            "memory limit of /a, or make the job need less: a smaller --chunk-size, or a fixed "
            "$LINKML_MAP_DUCKDB_MEMORY_LIMIT");
    }
    SECTION("with file cache, which is no need") {
        builder.with_split({50 * kMiB, 200 * kMiB, 0, 5 * kMiB, {}, {}});
        CHECK(
            text_of(builder.build(), "near-limit") ==
            "the peak is 99.6 % of the limit, but about 200.0 MiB of it was file cache, which the "
            "kernel gives back: that is no need for more memory");
    }
    SECTION("not below 90 %") {
        builder.with_peak(220 * kMiB);
        CHECK_FALSE(says(builder.build(), "near-limit"));
    }
    SECTION("not where a kill says more") {
        CHECK_FALSE(says(killed_at_limit().build(), "near-limit"));
    }
}

TEST_CASE("the right size of a run that ended well") {
    auto builder = RecordBuilder::v2();
    builder.with_peak(200 * kMiB).with_split({150 * kMiB, 40 * kMiB, 0, 5 * kMiB, {}, {}});
    CHECK(text_of(builder.build(), "right-size") ==
          "a memory limit of 208.0 MiB would fit this run with a quarter of headroom");
    builder.with_limit(1024 * kMiB);
    CHECK(text_of(builder.build(), "right-size") ==
          "a memory limit of 208.0 MiB would fit this run with a quarter of headroom; 4 such runs "
          "fit at once in the limit in force of 1.00 GiB");
    builder.with_limit(201 * kMiB);
    CHECK(text_of(builder.build(), "right-size") ==
          "a memory limit of 208.0 MiB would fit this run with a quarter of headroom; the limit in "
          "force of 201.0 MiB is less than that");
    CHECK_FALSE(says(builder.exited(1).build(), "right-size"));
    CHECK_FALSE(says(RecordBuilder::v2().with_peak(10 * kMiB).build(), "right-size"));
}

TEST_CASE("growth without end, told from a plateau and from a spike") {
    CHECK(growth_of(time_line(60, [](std::size_t i) { return 50 + 10 * i; })) ==
          "memory grew without end, at 600.0 MiB a minute in the second half of the run; at that "
          "rate the limit of 1000.0 MiB is reached after 36.0 s more");
    CHECK(
        growth_of(time_line(60, [](std::size_t i) { return i < 20 ? 50 + 10 * i : 250; })).empty());
    CHECK(growth_of(time_line(60, [](std::size_t i) { return i == 40 ? 500 : 50; })).empty());
    CHECK(growth_of(time_line(60, [](std::size_t) { return 100; })).empty());
    CHECK(growth_of(time_line(10, [](std::size_t i) { return 50 + 10 * i; })).empty());
    CHECK(growth_of({}).empty());
}

TEST_CASE("swap") {
    auto builder = RecordBuilder::v2();
    builder.with_split({50 * kMiB, {}, {}, {}, 32 * kMiB, {}});
    CHECK(text_of(builder.build(), "swapping")
              .starts_with("32.0 MiB of the job's memory were in swap at the highest sample"));
    builder.with_split({50 * kMiB, {}, {}, {}, 1 * kMiB, {}});
    CHECK_FALSE(says(builder.build(), "swapping"));
}

TEST_CASE("where the time went") {
    CHECK(
        text_of(RecordBuilder::v2().with_time(3, 0.01, 0.01).build(), "mostly-idle") ==
        "mostly idle: 3.00 s of wall clock, 0.02 s of CPU time (0.7 % of one core); it waited for "
        "something else (disk, network, a lock, a sleep, a processor that others had): look at a "
        "profile with idle stacks");
    CHECK_FALSE(says(RecordBuilder::v2().with_time(0.5, 0, 0).build(), "mostly-idle"));
    CHECK_FALSE(says(RecordBuilder::v2().with_time(4, 1, 0).build(), "mostly-idle"));

    auto throttled = RecordBuilder::v2();
    throttled.with([](RunRecord& r) { r.throttled_s = Reading<double>::of(2, "cpu.stat"); });
    CHECK(
        text_of(throttled.build(), "throttled") ==
        "the CPU quota stopped it for 2.00 s (20.0 % of the wall clock): raise cpu.max, or let it "
        "use fewer threads");
    throttled.with([](RunRecord& r) { r.throttled_s = Reading<double>::of(0.9, "cpu.stat"); });
    CHECK_FALSE(says(throttled.build(), "throttled"));

    auto one = RecordBuilder::v2();
    one.with_time(100, 95, 3).with([](RunRecord& r) { r.cores = Reading<double>::of(8, "mask"); });
    CHECK(text_of(one.build(), "one-core") ==
          "one core was busy, of 8 that it may use: more entities at once would use the others");
    CHECK_FALSE(says(one.with_time(100, 195, 3).build(), "one-core"));
    CHECK_FALSE(says(one.with_time(5, 5, 0).build(), "one-core"));

    auto stalls = RecordBuilder::v2();
    stalls.with([](RunRecord& r) {
        r.memory_pressure_s = Reading<double>::of(4, "memory.pressure");
        r.io_pressure_s = Reading<double>::of(5, "io.pressure");
    });
    CHECK(text_of(stalls.build(), "memory-stalls") ==
          "some process waited for memory for 4.00 s (40.0 % of the wall clock): the kernel kept "
          "making room below the limit; raise the limit");
    CHECK(text_of(stalls.build(), "disk-stalls")
              .starts_with("some process waited for a disk for 5.00 s (50.0 % of the wall clock)"));
    stalls.with_events({0, 68, 0, 0, 0, 0, {}});
    CHECK(
        text_of(stalls.build(), "memory-stalls").ends_with("memory.high slows it down; raise it"));
}
