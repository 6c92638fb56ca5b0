// Who killed it, and against whose limit: each rule with its near misses. The counters are those
// that were measured on kernels with cgroup v1 and v2.
#include <csignal>

#include "judge.h"

using namespace mapdiag;
using namespace mapdiag::record;
using mapdiag::test::cause_id;
using mapdiag::test::cause_text;
using mapdiag::test::kMiB;
using mapdiag::test::RecordBuilder;

namespace {

MemoryEvents v2_events(std::uint64_t max, std::uint64_t oom, std::uint64_t oom_kill) {
    return {0, 0, max, oom, oom_kill, 0, {}};
}
MemoryEvents v1_events(std::uint64_t failcnt, std::uint64_t oom_kill) {
    return {{}, {}, failcnt, {}, oom_kill, {}, {}};
}

RecordBuilder v2_killed(MemoryEvents events) {
    auto builder = RecordBuilder::v2();
    builder.killed(SIGKILL).with_limit(256 * kMiB, "/sys/fs/cgroup/a").with_peak(255 * kMiB);
    builder.with_machine_kills(events.oom_kill.value_or(0)).with_events(events);
    return builder;
}

RecordBuilder v1_killed(MemoryEvents events) {
    auto builder = RecordBuilder::v1();
    builder.killed(SIGKILL).with_limit(256 * kMiB, "/sys/fs/cgroup/memory/a");
    builder.with_peak(256 * kMiB).with_machine_kills(events.oom_kill.value_or(0));
    builder.with_events(events);
    return builder;
}

void set_own(RunRecord& record, MemoryEvents events) {
    record.own_events = Reading<MemoryEvents>::of(events, "memory.events.local");
}

}  // namespace

TEST_CASE("v2: a hit of its own limit") {
    const auto record = v2_killed(v2_events(35, 1, 1)).build();
    CHECK(cause_id(record) == "memory-own-limit");
    CHECK(cause_text(record) ==
          "killed by the kernel's memory killer (SIGKILL, 1 memory kill) at the limit of 256.0 MiB "
          "that /sys/fs/cgroup/a sets (peak 255.0 MiB)");
}

TEST_CASE("v1: a hit of its own limit") {
    CHECK(cause_id(v1_killed(v1_events(51, 1)).build()) == "memory-own-limit");
}

TEST_CASE("v1: failcnt stays 0 where the limits of memory and swap are equal") {
    auto builder = v1_killed(v1_events(0, 1));
    builder.with([](RunRecord& r) { r.swap_limit = r.limit; });
    CHECK(cause_id(builder.build()) == "memory-own-limit");
    SECTION("memsw.failcnt, where it was read, proves it") {
        auto events = v1_events(0, 1);
        events.swap_max = 12;
        CHECK(cause_id(v1_killed(events).build()) == "memory-own-limit");
    }
    SECTION("a peak far below that limit leaves it open") {
        builder.with_peak(100 * kMiB);
        CHECK(cause_text(builder.build()) ==
              "killed by the kernel's memory killer (SIGKILL, 1 memory kill) can't tell at whose "
              "limit, because cgroup v1 counts no hit of a limit of memory with swap, and no group "
              "was seen full (peak 100.0 MiB)");
    }
    const auto with_above = [&](const char* path, std::uint64_t limit, std::uint64_t others) {
        builder.with_above({path, limit, others, v1_events(0, 0)});
    };
    SECTION("what others had of the limit that was carried over counts, too") {
        builder.with_peak(230 * kMiB);
        with_above("/sys/fs/cgroup/memory/a", 256 * kMiB, 24 * kMiB);
        CHECK(cause_id(builder.build()) == "memory-own-limit");
    }
    SECTION("a group further up that was full is the one") {
        builder.with_peak(200 * kMiB);
        with_above("/sys/fs/cgroup/memory/a", 256 * kMiB, 1 * kMiB);
        with_above("/sys/fs/cgroup/memory", 300 * kMiB, 98 * kMiB);
        CHECK(cause_text(builder.build()) ==
              "killed by the kernel's memory killer (SIGKILL, 1 memory kill) at the limit of 300.0 "
              "MiB that /sys/fs/cgroup/memory sets, further up than the job's own cgroup; others "
              "in that cgroup used about 100.0 MiB (peak 200.0 MiB)");
    }
    SECTION("two full groups leave it open") {
        with_above("/sys/fs/cgroup/memory", 258 * kMiB, 1 * kMiB);
        CHECK(cause_text(builder.build()).contains("and more than one group was full"));
    }
}

TEST_CASE("v1: a limit of memory with swap further up than that of memory leaves no counter") {
    auto builder = v1_killed(v1_events(0, 1));
    builder.with_peak(100 * kMiB);
    builder.with([](RunRecord& r) {
        r.sees_root = true;
        r.swap_limit = Reading<Limit>::of({300 * kMiB, "/sys/fs/cgroup/memory", false}, "");
    });
    CHECK(cause_id(builder.build()) == "memory-unknown-limit");
    SECTION("without any such limit nothing was hit, so the machine was full") {
        builder.with(
            [](RunRecord& r) { r.swap_limit = Reading<Limit>::unavailable("no limit is set"); });
        CHECK(cause_id(builder.build()) == "memory-machine");
    }
}

TEST_CASE("a limit that is the job's own group's alone is named so") {
    const auto record = v2_killed(v2_events(3, 1, 1))
                            .with_limit(256 * kMiB, "/sys/fs/cgroup/a/mapdiag.1", false)
                            .build();
    CHECK(cause_text(record) ==
          "killed by the kernel's memory killer (SIGKILL, 1 memory kill) at the limit of 256.0 MiB "
          "of its own cgroup (peak 255.0 MiB)");
}

TEST_CASE("v2: no local oom of its own, and the parent's rose") {
    const auto record =
        v2_killed(v2_events(0, 0, 1))
            .with_peak(90 * kMiB)
            .with_above({"/sys/fs/cgroup/a/b", {}, {}, v2_events(0, 0, 0)})
            .with_above({"/sys/fs/cgroup/a", 200 * kMiB, 10 * kMiB, v2_events(35, 1, 0)})
            .build();
    CHECK(cause_id(record) == "memory-limit-above");
    CHECK(cause_text(record) ==
          "killed by the kernel's memory killer (SIGKILL, 1 memory kill) at the limit of 200.0 MiB "
          "that /sys/fs/cgroup/a sets, further up than the job's own cgroup; others in that cgroup "
          "used about 110.0 MiB (peak 90.0 MiB)");
}

TEST_CASE("v1: no failcnt of its own, and the parent's rose") {
    const auto record =
        v1_killed(v1_events(0, 1))
            .with_peak(90 * kMiB)
            .with_above({"/sys/fs/cgroup/memory/a", 200 * kMiB, {}, v1_events(40, 0)})
            .build();
    CHECK(cause_id(record) == "memory-limit-above");
}

TEST_CASE("v1: the owner of the carried limit was hit, too: it is its limit either way") {
    const auto record =
        v1_killed(v1_events(40, 1))
            .with_above({"/sys/fs/cgroup/memory/a", 256 * kMiB, {}, v1_events(3, 0)})
            .build();
    CHECK(cause_id(record) == "memory-own-limit");
}

TEST_CASE("v1: two limits were hit and nothing tells them apart") {
    const auto record =
        v1_killed(v1_events(40, 1))
            .with_above({"/sys/fs/cgroup/memory/b", 300 * kMiB, {}, v1_events(3, 0)})
            .build();
    CHECK(cause_id(record) == "memory-unknown-limit");
    CHECK(
        cause_text(record) ==
        "killed by the kernel's memory killer (SIGKILL, 1 memory kill) can't tell at whose limit, "
        "because both the limit on the job's own cgroup and that of /sys/fs/cgroup/memory/b "
        "stopped somebody, and cgroup v1 does not say which of the two led to the kill (peak "
        "256.0 MiB)");
}

TEST_CASE("v2: the own local oom decides, whatever rose further up") {
    const auto record = v2_killed(v2_events(35, 1, 1))
                            .with_above({"/sys/fs/cgroup/b", 300 * kMiB, {}, v2_events(5, 1, 0)})
                            .build();
    CHECK(cause_id(record) == "memory-own-limit");
}

TEST_CASE("two groups above were hit") {
    const auto record = v2_killed(v2_events(0, 0, 1))
                            .with_above({"/a/b", 300 * kMiB, {}, v2_events(5, 1, 0)})
                            .with_above({"/a", 400 * kMiB, {}, v2_events(5, 1, 0)})
                            .build();
    CHECK(cause_id(record) == "memory-unknown-limit");
}

TEST_CASE("a kill at no limit is the whole machine's") {
    CHECK(cause_id(v2_killed(v2_events(0, 0, 1)).build()) == "memory-machine");
    CHECK(cause_id(v1_killed(v1_events(0, 1)).with_peak(90 * kMiB).build()) == "memory-machine");
    SECTION("unless groups further up are hidden") {
        for (const auto sees : {std::optional<bool>(false), std::optional<bool>()}) {
            auto builder = v2_killed(v2_events(0, 0, 1));
            builder.with([&](RunRecord& r) { r.sees_root = sees; });
            CHECK(cause_id(builder.build()) == "memory-unknown-limit");
        }
    }
}

TEST_CASE("a kill in a group that the job made is at that group's limit") {
    SECTION("told by the difference to the own counters") {
        auto v1 = v1_killed(v1_events(9, 1));
        v1.with_peak(61 * kMiB).with([](RunRecord& r) { set_own(r, v1_events(0, 0)); });
        CHECK(cause_id(v1.build()) == "memory-inner-limit");
        auto v2 = v2_killed(v2_events(9, 1, 1));
        v2.with_peak(61 * kMiB).with([](RunRecord& r) { set_own(r, v2_events(0, 0, 0)); });
        CHECK(cause_id(v2.build()) == "memory-inner-limit");
    }
    SECTION("told by a peak far from the limit, where only the sum is known") {
        auto builder = v1_killed(v1_events(9, 1));
        builder.with_peak(61 * kMiB).with(
            [](RunRecord& r) { r.own_events = Reading<MemoryEvents>::unavailable("not read"); });
        CHECK(cause_id(builder.build()) == "memory-inner-limit");
        builder.with(
            [](RunRecord& r) { r.limit = Reading<Limit>::unavailable("no limit is set"); });
        CHECK(cause_id(builder.build()) == "memory-inner-limit");
    }
}

TEST_CASE("SIGKILL from outside at 99 % of the limit is no memory kill") {
    auto builder = v2_killed(v2_events(812, 0, 0));
    builder.with_peak(254 * kMiB);
    CHECK(cause_id(builder.build()) == "sigkill-not-memory");
    SECTION("failcnt without a kill neither") {
        CHECK(cause_id(v1_killed(v1_events(5000, 0)).build()) == "sigkill-not-memory");
    }
    SECTION("nor somebody else's kill on this machine or in a shared group") {
        builder.with_machine_kills(7).with_above({"/a", 300 * kMiB, {}, v2_events(5, 3, 3)});
        CHECK(cause_id(builder.build()) == "sigkill-not-memory");
    }
}

TEST_CASE("a worker was killed and the job hid it") {
    auto builder = v1_killed(v1_events(51, 1));
    builder.exited(0);
    CHECK(cause_id(builder.build()) == "memory-worker-killed");
    CHECK(
        cause_text(builder.build()) ==
        "the kernel's memory killer took 1 process of the job, and the job hid it and exited with "
        "0: killed at the limit of 256.0 MiB that /sys/fs/cgroup/memory/a sets (peak 256.0 MiB)");
    builder.exited(137);
    CHECK(cause_id(builder.build()) == "memory-worker-killed");
    CHECK(cause_text(builder.build()).find("the job then exited with 137") != std::string::npos);
    builder.killed(SIGTERM);
    CHECK(cause_id(builder.build()) == "memory-worker-killed");
}

TEST_CASE("stuck at its limit with the killer off") {
    auto builder = v1_killed(v1_events(900, 0));
    builder.killed(SIGTERM).with([](RunRecord& r) {
        r.stuck_at_limit = true;
        r.killer_disabled = true;
    });
    CHECK(cause_id(builder.build()) == "memory-stuck");
    CHECK(cause_text(builder.build()) ==
          "stuck at its limit of 256.0 MiB with the memory killer off (oom_kill_disable): it slept "
          "there until the end, and the job was killed by SIGTERM (signal 15)");
    CHECK(test::says(builder.build(), "killer-off"));
}

TEST_CASE("every memory cause shows its counters") {
    const auto findings = test::judge(v2_killed(v2_events(35, 1, 1)).build());
    const auto& proofs = findings.front().proofs;
    const auto value = [&](const char* reading) {
        const auto found = std::ranges::find(proofs, reading, &diagnose::Proof::reading);
        REQUIRE(found != proofs.end());
        return found->value;
    };
    CHECK(value("memory kills in the job's own cgroup and below") == "1");
    CHECK(value("times out of memory at the limit of the job's own cgroup") == "1");
    CHECK(value("peak") == "255.0 MiB (267386880 bytes)");
    CHECK(value("memory limit in force") ==
          "256.0 MiB (268435456 bytes), carried by the job's own cgroup");
}
