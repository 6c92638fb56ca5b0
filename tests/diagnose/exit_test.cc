#include <csignal>

#include "judge.h"

using namespace mapdiag;
using namespace mapdiag::record;
using mapdiag::test::cause_id;
using mapdiag::test::cause_text;
using mapdiag::test::RecordBuilder;

namespace {

RunRecord launcher(const char* program, int status) {
    auto builder = RecordBuilder::v2();
    builder.exited(status).with_time(0.31, 0.1, 0.1).with([&](RunRecord& r) {
        r.program = program;
        r.python_seen = false;
        r.profile.state = ProfileState::no_python;
        r.log.last_stderr_line = "error: No solution found";
    });
    return builder.build();
}

RunRecord failed_with(const char* last_line, int status = 1) {
    auto builder = RecordBuilder::v2();
    builder.exited(status).with([&](RunRecord& r) { r.log.last_stderr_line = last_line; });
    return builder.build();
}

}  // namespace

TEST_CASE("a plain end needs no line of its own") {
    const auto well = test::judge(RecordBuilder::v2().build());
    CHECK(well.front().id == "exit-zero");
    CHECK(well.front().plain);
    const auto failed = test::judge(RecordBuilder::v2().exited(7).build());
    CHECK(failed.front().id == "exit-failure");
    CHECK(failed.front().text == "exited with 7 by itself");
    CHECK(failed.front().plain);
}

TEST_CASE("a plain 137 is no kill") {
    const auto record = RecordBuilder::v2().exited(137).build();
    CHECK(cause_id(record) == "exit-like-signal");
    CHECK(
        cause_text(record) ==
        "exited with 137 by itself, no signal ended it. Can't tell more, because 137 is a plain "
        "status as well as what shells and launchers give for a child that SIGKILL ended; 0 memory "
        "kills were counted in the job's cgroup, so the memory killer took no such child");
    CHECK(cause_id(RecordBuilder::v2().exited(128).build()) == "exit-failure");
    CHECK(cause_id(RecordBuilder::v2().exited(129).build()) == "exit-like-signal");
    CHECK(cause_id(RecordBuilder::v2().exited(193).build()) == "exit-failure");
    CHECK(cause_id(RecordBuilder::v2().exited(255).build()) == "exit-failure");
}

TEST_CASE("an exit after a request to end") {
    auto builder = RecordBuilder::v2();
    builder.exited(5).with(
        [](RunRecord& r) { r.signals = {{1, SIGUSR1, 9, true, ""}, {3, SIGTERM, 42, true, ""}}; });
    CHECK(cause_id(builder.build()) == "exit-after-signal");
    CHECK(cause_text(builder.build()) ==
          "exited with 5 by itself after SIGTERM came from process 42 at 3.00 s and mapdiag passed "
          "it "
          "on");
    builder.exited(0);
    CHECK(cause_id(builder.build()) == "exit-after-signal");
    builder.with([](RunRecord& r) { r.signals = {{1, SIGUSR1, 9, true, ""}}; });
    CHECK(cause_id(builder.build()) == "exit-zero");
}

TEST_CASE("a launcher that never reached Python") {
    CHECK(
        cause_text(launcher("uvx", 2)) ==
        "uvx failed before any Python ran: it exited with 2 after 0.31 s, and no Python was seen; "
        "its last line on stderr: error: No solution found");
    SECTION("other programs need no Python, and their stderr is not quoted") {
        CHECK(cause_id(launcher("sh", 2)) == "exit-failure");
        CHECK(cause_text(launcher("sh", 2)).find("No solution") == std::string::npos);
    }
    SECTION("with a Python it is the mapping's own failure") {
        auto record = launcher("uv", 2);
        record.profile.python_seen = true;
        CHECK(cause_id(record) == "exit-failure");
    }
    SECTION("where nobody looked for a Python, nothing is said of one") {
        auto record = launcher("uv", 2);
        record.profile.state = ProfileState::off;
        CHECK(cause_id(record) == "exit-failure");
    }
    CHECK(cause_id(launcher("uv", 0)) == "exit-zero");
}

TEST_CASE("a resource that ran out, as the last line on stderr names it") {
    CHECK(cause_text(failed_with("OSError: [Errno 28] No space left on device")) ==
          "exited with 1 after its last line on stderr said that no space was left on a disk "
          "(ENOSPC)");
    CHECK(cause_id(failed_with("OSError: [Errno 122] Disk quota exceeded")) == "disk-full");
    CHECK(cause_id(failed_with("OSError: [Errno 24] Too many open files")) == "open-files");
    CHECK(cause_id(failed_with("sh: 0: Cannot fork")) == "processes");
    CHECK(cause_id(failed_with("OSError: [Errno 27] File too large")) == "file-too-large");
    CHECK(cause_id(failed_with("MemoryError")) == "memory-refused");
    CHECK(cause_id(failed_with("MemoryError", 0)) == "exit-zero");
    SECTION("the line itself is never quoted") {
        CHECK(cause_text(failed_with("SECRET: No space left on device")).find("SECRET") ==
              std::string::npos);
    }
    SECTION("from a journal only its kind is known") {
        auto record = failed_with("");
        record.log.hint = StderrHint::disk_full;
        CHECK(cause_id(record) == "disk-full");
    }
}
