#include "../../src/run/measurement.h"

#include "run/fake_group.h"
#include "support/catch.h"
#include "support/temp_folder.h"

using namespace mapdiag;
using namespace mapdiag::run;
using namespace std::chrono_literals;
using mapdiag::test::FakeGroup;

namespace {

constexpr std::uint64_t kMiB = 1U << 20;

Sampler sampled(const FakeGroup& group, int times = 3) {
    const auto start = Clock::time_point(1h);
    Sampler sampler([&] { return measure_group(group); }, [](const record::Sample&) {}, {}, start);
    for (int i = 1; i <= times; ++i) {
        sampler.measure_now(start + i * 1s);
    }
    return sampler;
}

}  // namespace

TEST_CASE("a kernel without memory.peak gives the highest sample, with its interval") {
    FakeGroup group;
    group.usage_value = 100 * kMiB;
    record::RunRecord record;
    record_group(record, group, sampled(group));
    REQUIRE(record.peak);
    CHECK(*record.peak == 100 * kMiB);
    CHECK(record.peak.source() ==
          "highest sample of memory.current; can't read memory.peak: No such file or directory");
    CHECK(record.sampling_interval_s == 1);
}

TEST_CASE("the kernel's own peak has no sampling interval") {
    FakeGroup group;
    group.peak_value = 123 * kMiB;
    group.usage_value = 100 * kMiB;
    record::RunRecord record;
    record_group(record, group, sampled(group));
    CHECK(*record.peak == 123 * kMiB);
    CHECK(record.peak.source() == "memory.peak of the job's own cgroup");
    CHECK(!record.sampling_interval_s);
    CHECK(record.peak_sample->memory == 100 * kMiB);

    group.kernel_version = 1;
    record_group(record, group, sampled(group));
    CHECK(record.peak.source() == "memory.max_usage_in_bytes of the job's own cgroup");
}

TEST_CASE("what a group does not tell is not available, with its reason, never 0") {
    const FakeGroup group;
    record::RunRecord record;
    record_group(record, group, sampled(group));
    CHECK(record.peak.reason() == "can't read memory.peak: No such file or directory");
    CHECK(record.peak_sample.reason() == "the run ended before the first sample");
    CHECK(record.swap_peak.reason() == "not accounted by this kernel");
    CHECK(record.events.reason() == "can't read memory.events: No such file or directory");
    CHECK(record.memory_pressure_s.reason() ==
          "can't read memory.pressure: No such file or directory");
    CHECK_FALSE(record.user_s);
    CHECK_FALSE(record.throttled_s);

    record_reaped(record, {.job = {.user_s = 1, .system_s = 2, .max_rss_bytes = 9 * kMiB},
                           .orphans_user_s = 0.5,
                           .orphans_system_s = 0.25,
                           .inherited_bytes = 9 * kMiB});
    CHECK(*record.user_s == 1.5);
    CHECK(*record.system_s == 2.25);
    CHECK(record.largest_process.reason() ==
          "it is not above the 9.00 MiB that a process inherits from mapdiag as its first peak");
}

TEST_CASE("swap is the kernel's peak, else the highest sample") {
    FakeGroup group;
    group.swap_accounted = true;
    record::RunRecord record;
    record_group(record, group, sampled(group));
    CHECK(record.swap_peak.reason() == "the run ended before the first sample");
    group.split_value = linux_os::GroupSplit{.swap = 5 * kMiB};
    record_group(record, group, sampled(group));
    CHECK(*record.swap_peak == 5 * kMiB);
    CHECK(record.swap_peak.source() == "highest sample of swap");
    group.swap_peak_value = 7 * kMiB;
    record_group(record, group, sampled(group));
    CHECK(*record.swap_peak == 7 * kMiB);
    CHECK(record.swap_peak.source() == "memory.swap.peak");
}

TEST_CASE("the group's CPU time wins over that of the reaped processes") {
    FakeGroup group;
    group.cpu_value = linux_os::GroupCpu{3, 4, 0.5};
    record::RunRecord record;
    record_group(record, group, sampled(group));
    record_reaped(record, {.job = {.user_s = 1, .system_s = 2, .max_rss_bytes = 20 * kMiB}});
    CHECK(*record.user_s == 3);
    CHECK(*record.system_s == 4);
    CHECK(*record.throttled_s == 0.5);
    CHECK(*record.largest_process == 20 * kMiB);

    group.cpu_value = linux_os::GroupCpu{3, 4, {}};
    record_group(record, group, sampled(group));
    CHECK(record.throttled_s.reason() == "the group has no CPU controller");
}

TEST_CASE("stuck needs both a job that waits at its limit and a disabled killer") {
    FakeGroup group;
    group.under_oom_value = true;
    record::RunRecord record;
    record_group(record, group, sampled(group));
    CHECK_FALSE(record.stuck_at_limit);
    group.killer_disabled_value = true;
    record_group(record, group, sampled(group));
    CHECK(record.stuck_at_limit);
}

TEST_CASE("limits say whose they are") {
    Place place;
    place.version = 2;
    record::RunRecord record;
    record_limits(record, place);
    CHECK(record.limit.reason() == "no limit is set");
    place.version = 0;
    record_limits(record, place);
    CHECK(record.limit.reason() == "no cgroup that controls memory can be seen");

    auto group = std::make_unique<FakeGroup>();
    place.limits.memory = linux_os::GroupLimit{400 * kMiB, "/sys/fs/cgroup/a"};
    group->carry(place.limits);
    place.group = std::move(group);
    record_limits(record, place);
    CHECK(record.limit->bytes == 400 * kMiB);
    CHECK(record.limit->owner == "/sys/fs/cgroup/a");
    CHECK(record.limit->carried);
}

TEST_CASE("counters of groups above are differences, and a counter that is not there stays empty") {
    const test::TempFolder folder;
    folder.write("g/memory.events.local", "low 0\nhigh 0\nmax 40\noom 3\noom_kill 5\n");
    folder.write("g/memory.current", "1000\n");
    Place place;
    place.version = 2;
    place.above.push_back({folder.path("g"), 2000, {.max = 35, .oom = 3, .oom_kill = 4}});
    place.above.push_back({folder.path("gone"), std::nullopt, {.max = 1}});
    record::RunRecord record;
    record_surroundings(record, place, std::nullopt);
    REQUIRE(record.ancestors.size() == 2);
    CHECK(record.ancestors[0].local.max == 5U);
    CHECK(record.ancestors[0].local.oom == 0U);
    CHECK(record.ancestors[0].local.oom_kill == 1U);
    CHECK(!record.ancestors[0].local.oom_group_kill);
    CHECK(record.ancestors[0].usage_at_end == 1000U);
    CHECK(!record.ancestors[1].local.max);
    CHECK(record.machine_oom_kills.reason() == "/proc/vmstat has no oom_kill counter");

    // What is the job's own is no use by others.
    auto group = std::make_unique<FakeGroup>();
    group->usage_value = 400;
    place.group = std::move(group);
    record.ancestors.clear();
    record_surroundings(record, place, std::nullopt);
    CHECK(record.ancestors[0].usage_at_end == 600U);
}

TEST_CASE("a process tree tells a sampled sum and why the rest can't be had") {
    const test::TempFolder folder;
    folder.write("100/statm", "1000 600 100 1 0 500 0\n");
    folder.write("100/task/100/children", "");
    const linux_os::ProcFs proc(folder.path());
    ProcessTree tree(proc, 100);
    const auto start = Clock::time_point(1h);
    Sampler sampler([&] { return tree.measure({100}, 1s); }, [](const record::Sample&) {}, {},
                    start);
    record::RunRecord record;
    record_tree(record, tree, sampler);
    CHECK(record.peak.reason() == "the run ended before the first sample");

    sampler.measure_now(start + 1s);
    sampler.measure_now(start + 2s);
    record_tree(record, tree, sampler);
    CHECK(*record.peak == 600 * 4096);
    CHECK(record.peak.source() == "resident set of the job's processes");
    CHECK(record.sampling_interval_s == 1);
    CHECK(record.events.reason() == "the job had no cgroup of its own");
}

TEST_CASE("shared pages count once where the proportional sets were read at the highest sum") {
    const test::TempFolder folder;
    for (const auto* pid : {"100", "101"}) {
        folder.write(std::string(pid) + "/statm", "1000 500 100 1 0 500 0\n");
        folder.write(std::string(pid) + "/smaps_rollup", "Rss: 2000 kB\nPss:       1100 kB\n");
    }
    const linux_os::ProcFs proc(folder.path());
    ProcessTree tree(proc, 100);
    const auto sample = tree.measure({100, 101, 102}, 1s);
    CHECK(sample.memory == 2U * 500 * 4096);
    CHECK(sample.processes == 2U);
    CHECK(tree.highest_proportional() == 2U * 1100 * 1024);

    Sampler sampler([&] { return sample; }, [](const record::Sample&) {}, {}, Clock::now());
    record::RunRecord record;
    record_tree(record, tree, sampler);
    CHECK(*record.peak == 2 * 1100 * 1024);
    CHECK(record.peak.source() ==
          "sum of proportional set sizes of the job's processes; their resident sets added up to "
          "3.91 MiB");

    folder.write("100/statm", "9000 9000 100 1 0 500 0\n");
    folder.write("100/smaps_rollup", "");
    folder.write("101/smaps_rollup", "");
    (void)tree.measure({100, 101}, 1s);
    record_tree(record, tree, sampler);
    CHECK(*record.peak == (9000 + 500) * 4096);
    CHECK(record.peak.source() ==
          "sum of resident sets of the job's processes, in which pages that they share count once "
          "for each");
}

namespace {

// A record of a job that was seen with 100 MiB, and the group that it shares.
struct SharedCase {
    test::TempFolder folder;
    record::RunRecord record;

    linux_os::SharedGroup open(std::uint64_t at_start) {
        folder.write("a/memory.peak", std::to_string(at_start) + "\n");
        record.placement = record::Placement::process_tree;
        record.peak = record::Reading<std::uint64_t>::of(100 * kMiB, "resident set");
        auto group = linux_os::SharedGroup::open(
            {.folder = folder.path("a"), .mount_point = folder.path(), .read_only = true}, 2);
        REQUIRE(group);
        return std::move(*group);
    }
    void rise_to(std::uint64_t bytes) {
        folder.write("a/memory.peak", std::to_string(bytes) + "\n");
    }
};

}  // namespace

TEST_CASE("a shared group whose peak rose and is near the job's processes bounds the job") {
    SharedCase test;
    const auto group = test.open(50 * kMiB);
    test.rise_to(130 * kMiB);
    record_shared(test.record, group, false);
    CHECK(test.record.placement == record::Placement::shared_cgroup);
    CHECK(*test.record.peak == 130 * kMiB);
    CHECK(test.record.peak.source() ==
          "memory.peak of " + test.folder.path("a") + ", which rose during the run");
    CHECK(test.record.steps_down.empty());
}

TEST_CASE("a shared group that says little of the job is not its figure, and why is said") {
    SharedCase test;
    const auto group = test.open(120 * kMiB);
    record_shared(test.record, group, false);
    CHECK(test.record.placement == record::Placement::process_tree);
    CHECK(*test.record.peak == 100 * kMiB);
    REQUIRE(test.record.steps_down.size() == 1);
    CHECK(test.record.steps_down[0].placement == record::Placement::shared_cgroup);
    CHECK(test.record.steps_down[0].reason ==
          "the 120.0 MiB that " + test.folder.path("a") +
              " used at its highest may be from before the run");
    test.rise_to(900 * kMiB);
    record_shared(test.record, group, false);
    CHECK(test.record.steps_down[1].reason ==
          "others use " + test.folder.path("a") +
              " too, and the 900.0 MiB that it used at its highest say little of the job");
}

TEST_CASE("a shared group that was asked for gives its figure whatever it says") {
    SharedCase test;
    const auto group = test.open(900 * kMiB);
    record_shared(test.record, group, true);
    CHECK(test.record.placement == record::Placement::shared_cgroup);
    CHECK(test.record.peak.source() ==
          "memory.peak of " + test.folder.path("a") + ", which may be from before the run");
    test.folder.write("a/memory.peak", "x");
    record_shared(test.record, group, true);
    CHECK(test.record.peak.reason() ==
          "can't read a number from " + test.folder.path("a/memory.peak") + ": \"x\"");
}
