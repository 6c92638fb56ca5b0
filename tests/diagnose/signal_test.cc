#include <csignal>

#include "judge.h"

using namespace mapdiag;
using namespace mapdiag::record;
using mapdiag::test::cause_id;
using mapdiag::test::cause_text;
using mapdiag::test::RecordBuilder;

TEST_CASE("SIGKILL with 0 memory kills has an unknown sender") {
    const auto record = RecordBuilder::v1().killed(SIGKILL).build();
    CHECK(cause_id(record) == "sigkill-not-memory");
    CHECK(cause_text(record) ==
          "SIGKILL from an unknown sender: 0 memory kills were counted in the job's cgroup, so it "
          "was not the memory killer of this cgroup; the kernel does not tell who sends SIGKILL (a "
          "scheduler, a container that is stopped, `kill -9`)");
}

TEST_CASE("SIGKILL without an own cgroup") {
    auto builder = RecordBuilder::process_tree("Read-only file system");
    builder.killed(SIGKILL);
    SECTION("no kill on the whole machine clears the memory killer") {
        CHECK(cause_id(builder.with_machine_kills(0).build()) == "sigkill-not-memory-shared");
        CHECK(cause_text(builder.build()).find("on the whole machine") != std::string::npos);
    }
    SECTION("kills on the machine leave it open") {
        CHECK(cause_id(builder.with_machine_kills(2).build()) == "sigkill-unknown");
        CHECK(cause_text(builder.build()) ==
              "SIGKILL; can't tell whether by the kernel's memory killer or by somebody else, "
              "because 2 memory kills were counted on this machine during the run, and the job had "
              "no cgroup of its own to tell whether it was one of the victims");
    }
    SECTION("unless none of them was in the shared group") {
        builder.with_machine_kills(2).with_above(
            {"/sys/fs/cgroup/memory", {}, {}, {{}, {}, 0, {}, 0, {}, {}}});
        CHECK(cause_id(builder.build()) == "sigkill-not-memory-shared");
    }
    SECTION("no counter at all leaves it open") {
        builder.with([](RunRecord& r) {
            r.machine_oom_kills = Reading<std::uint64_t>::unavailable("no such counter");
        });
        CHECK(cause_id(builder.build()) == "sigkill-unknown");
        CHECK(cause_text(builder.build()).find("no counter of memory kills can be read here") !=
              std::string::npos);
    }
}

TEST_CASE("a cgroup without a counter of kills proves nothing") {
    // cgroup v1 before Linux 4.13.
    auto builder = RecordBuilder::v1();
    builder.killed(SIGKILL).with_events({{}, {}, 3, {}, {}, {}, {}}).with_machine_kills(1);
    CHECK(cause_id(builder.build()) == "sigkill-unknown");
}

TEST_CASE("a signal that came through mapdiag") {
    auto builder = RecordBuilder::v2();
    builder.killed(SIGTERM);
    SECTION("passed on") {
        builder.with([](RunRecord& r) { r.signals = {{3.0, SIGTERM, 4242, true, "timeout"}}; });
        CHECK(cause_id(builder.build()) == "signal-passed-on");
        CHECK(
            cause_text(builder.build()) ==
            "SIGTERM reached mapdiag after 3.00 s from process 4242 (timeout), and mapdiag passed "
            "it on");
    }
    SECTION("to the whole group, by a terminal") {
        builder.killed(SIGINT).with([](RunRecord& r) { r.signals = {{1, SIGINT, 0, false, ""}}; });
        CHECK(
            cause_text(builder.build()) ==
            "SIGINT reached mapdiag after 1.00 s from the kernel (a terminal), and the job had it "
            "from there, too");
    }
    SECTION("another signal than the one that ended it does not count") {
        builder.with([](RunRecord& r) { r.signals = {{1, SIGHUP, 7, true, ""}}; });
        CHECK(cause_id(builder.build()) == "signal-elsewhere");
        CHECK(cause_text(builder.build()) ==
              "SIGTERM (signal 15) was sent to the job by somebody else or by itself: it did not "
              "come through mapdiag");
    }
}

TEST_CASE("crashes tell whether there is a core file") {
    CHECK(cause_text(RecordBuilder::v2().killed(SIGSEGV, true).build()) ==
          "it crashed: SIGSEGV (signal 11), core dumped");
    CHECK(cause_text(RecordBuilder::v2().killed(SIGABRT).build()) ==
          "it gave up by itself (abort): SIGABRT (signal 6), no core file");
    for (const int signal : {SIGBUS, SIGILL, SIGFPE, SIGSYS, SIGTRAP}) {
        CHECK(cause_id(RecordBuilder::v2().killed(signal).build()) == "crash");
    }
    SECTION("one that somebody sent is none") {
        auto builder = RecordBuilder::v2();
        builder.killed(SIGABRT).with(
            [](RunRecord& r) { r.signals = {{1, SIGABRT, 77, true, ""}}; });
        CHECK(cause_id(builder.build()) == "signal-passed-on");
    }
}

TEST_CASE("limits on CPU time and file size") {
    auto cpu = RecordBuilder::v2();
    cpu.killed(SIGXCPU);
    CHECK(cause_text(cpu.build()) ==
          "its CPU time limit (RLIMIT_CPU, `ulimit -t`) was used up: SIGXCPU (signal 24)");
    cpu.with(
        [](RunRecord& r) { r.cpu_time_limit_s = Reading<std::uint64_t>::of(60, "RLIMIT_CPU"); });
    CHECK(cause_text(cpu.build()) ==
          "its CPU time limit (RLIMIT_CPU, `ulimit -t` 60 s) was used up: SIGXCPU (signal 24)");
    auto size = RecordBuilder::v2();
    size.killed(SIGXFSZ).with([](RunRecord& r) {
        r.file_size_limit = Reading<std::uint64_t>::of(1024 * 1024, "RLIMIT_FSIZE");
    });
    CHECK(cause_text(size.build()) ==
          "it wrote a file larger than its limit (RLIMIT_FSIZE, `ulimit -f` 1.00 MiB): SIGXFSZ "
          "(signal 25)");
}

TEST_CASE("a broken pipe") {
    auto builder = RecordBuilder::v2();
    builder.killed(SIGPIPE);
    CHECK(cause_text(builder.build()) ==
          "it wrote to a pipe whose reader was gone (SIGPIPE (signal 13))");
    builder.with([](RunRecord& r) { r.out.failure = "Broken pipe"; });
    CHECK(cause_text(builder.build()) ==
          "it wrote to a pipe whose reader was gone (SIGPIPE (signal 13)): what reads mapdiag's "
          "output ended early");
}

TEST_CASE("runs without an ending of their own") {
    const auto ended = [](Ending ending) {
        auto builder = RecordBuilder::v2();
        builder.with([&](RunRecord& r) { r.ending = ending; });
        return builder.build();
    };
    CHECK(cause_text(ended(NotStarted{127, "can't run x: No such file or directory"})) ==
          "the command was never started: can't run x: No such file or directory");
    CHECK(cause_id(ended(WrapperKilled{})) == "mapdiag-killed");
    CHECK(cause_text(ended(WrapperKilled{}))
              .starts_with("mapdiag itself was killed (SIGKILL or a crash) 10.0 s after the start, "
                           "and its watcher "
                           "ended the job with it; can't tell who did it, because"));
    CHECK(cause_id(ended({})) == "no-end");
    auto timed_out = RecordBuilder::v2();
    timed_out.killed(SIGTERM).with([](RunRecord& r) { r.timed_out = true; });
    CHECK(cause_text(timed_out.build()) ==
          "mapdiag's own time limit ended it, after 10.0 s: SIGTERM");
    timed_out.with([](RunRecord& r) { r.held_to = {{}, 9.0, 1.0, {}, true}; });
    CHECK(cause_text(timed_out.build()) ==
          "mapdiag's own time limit of 9.00 s (--time-limit) ended it, after 10.0 s: SIGTERM, and "
          "1.00 s later SIGKILL to all that was left");
}
