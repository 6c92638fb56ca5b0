#include "mapdiag/record/record.h"

#include "mapdiag/record/signal_names.h"
#include "support/catch.h"

using namespace mapdiag::record;

TEST_CASE("every placement has a name of its own that leads back to it") {
    for (const auto placement :
         {Placement::own_cgroup_v2, Placement::own_cgroup_v1, Placement::systemd_scope,
          Placement::shared_cgroup, Placement::process_tree, Placement::none}) {
        CHECK(find_placement(placement_name(placement)) == placement);
    }
    CHECK(std::string(placement_name(Placement::own_cgroup_v1)) == "own cgroup (v1)");
    CHECK_FALSE(find_placement("elsewhere"));
}

TEST_CASE("a reading that was never taken says so") {
    const Reading<int> reading;
    CHECK_FALSE(reading.available());
    CHECK(reading.reason() == "it was not read");
}

TEST_CASE("the last line on stderr names the resource that ran out") {
    CHECK(stderr_hint_of("OSError: [Errno 28] No space left on device") == StderrHint::disk_full);
    CHECK(stderr_hint_of("cp: error writing 'x': No space left on device") ==
          StderrHint::disk_full);
    CHECK(stderr_hint_of("OSError: [Errno 122] Disk quota exceeded") == StderrHint::disk_quota);
    CHECK(stderr_hint_of("OSError: [Errno 24] Too many open files: 'x'") == StderrHint::open_files);
    CHECK(stderr_hint_of("sh: 1: Cannot fork") == StderrHint::processes);
    CHECK(stderr_hint_of("RuntimeError: can't start new thread") == StderrHint::processes);
    CHECK(stderr_hint_of("OSError: [Errno 27] File too large") == StderrHint::file_too_large);
    CHECK(stderr_hint_of("MemoryError") == StderrHint::memory_refused);
    CHECK(stderr_hint_of("duckdb.OutOfMemoryException: Out of Memory Error: x") ==
          StderrHint::memory_refused);
    CHECK(stderr_hint_of("ValueError: 28") == StderrHint::none);
    CHECK(stderr_hint_of("[Errno 2] No such file or directory") == StderrHint::none);
    for (const auto hint :
         {StderrHint::none, StderrHint::disk_full, StderrHint::disk_quota, StderrHint::open_files,
          StderrHint::processes, StderrHint::file_too_large, StderrHint::memory_refused}) {
        CHECK(find_stderr_hint(stderr_hint_name(hint)) == hint);
    }
}

TEST_CASE("signals have their names") {
    CHECK(signal_with_number(9) == "SIGKILL (signal 9)");
    CHECK(signal_with_number(15) == "SIGTERM (signal 15)");
    CHECK(signal_with_number(34) == "SIGRTMIN (signal 34)");
    CHECK(signal_with_number(40) == "SIGRTMIN+6 (signal 40)");
    CHECK(signal_with_number(99) == "signal 99");
}
