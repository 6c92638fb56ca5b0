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
    CHECK(
        cause_text(RecordBuilder::v2().killed(SIGSEGV, true).build()) ==
        "it crashed: SIGSEGV (signal 11), core dumped; unless somebody sent it that signal, which "
        "the kernel does not tell");
    CHECK(cause_text(RecordBuilder::v2().killed(SIGABRT).build())
              .starts_with("it gave up by itself (abort): SIGABRT (signal 6), no core file; "));
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

TEST_CASE("a limit on CPU time is blamed only where it can have been used up") {
    auto cpu = RecordBuilder::v2();
    cpu.killed(SIGXCPU).with_time(100, 59, 1);
    CHECK(cause_id(cpu.build()) == "sigxcpu-unknown");
    CHECK(cause_text(cpu.build())
              .starts_with("SIGXCPU (signal 24): can't tell whether a CPU time limit"));
    cpu.with(
        [](RunRecord& r) { r.cpu_time_limit_s = Reading<std::uint64_t>::of(60, "RLIMIT_CPU"); });
    CHECK(cause_text(cpu.build()) ==
          "its CPU time limit (RLIMIT_CPU, `ulimit -t` 60 s) was used up: SIGXCPU (signal 24)");
    cpu.with_time(100, 20, 1);
    CHECK(cause_id(cpu.build()) == "sigxcpu-unknown");
    // Less than any limit can be: somebody sent it.
    cpu.with_time(100, 0.5, 0.1);
    CHECK(cause_id(cpu.build()) == "signal-elsewhere");
}

TEST_CASE("SIGKILL with all CPU time used up may be the kernel's") {
    auto cpu = RecordBuilder::v2();
    cpu.killed(SIGKILL).with_time(100, 59, 1).with([](RunRecord& r) {
        r.cpu_time_limit_s = Reading<std::uint64_t>::of(60, "RLIMIT_CPU");
    });
    const std::string words = "its CPU time limit of 60 s (`ulimit -t`) may be what did it";
    CHECK(cause_text(cpu.build()).find(words) != std::string::npos);
    cpu.with_time(100, 20, 1);
    CHECK(cause_text(cpu.build()).find(words) == std::string::npos);
}

TEST_CASE("a limit on file sizes is blamed only where there is one") {
    auto size = RecordBuilder::v2();
    size.killed(SIGXFSZ);
    CHECK(cause_id(size.build()) == "sigxfsz-unknown");
    size.with([](RunRecord& r) {
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
          "SIGPIPE (signal 13), which the kernel sends to a program that writes to a pipe whose "
          "reader is gone (mapdiag's own readers were there)");
    builder.with([](RunRecord& r) { r.out.failure = "Broken pipe"; });
    CHECK(cause_text(builder.build()) ==
          "SIGPIPE (signal 13): it wrote to a pipe whose reader was gone: what reads mapdiag's "
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
