#include "profiler/stack_dump.h"

#include "run/fake_profiler_system.h"
#include "support/catch.h"

using namespace mapdiag;
using namespace mapdiag::run;
using namespace std::chrono_literals;

namespace {

const std::string kDump =
    "Process 13: python step.py --secret x\nPython v9 y\nPython v3.11.2 (/usr/bin/python3.11)\n\n"
    "Thread 13 (active): \"MainThread\"\n    work (step.py:3)\n    <module> (step.py:9)\n";
const std::string kShown =
    "Process 13 (step.py)\nPython v3.11.2 (/usr/bin/python3.11)\n\n"
    "Thread 13 (active): \"MainThread\"\n    work (step.py:3)\n    <module> (step.py:9)\n\n";

// Polls until it is over; moves the clock on.
DumpOutcome finish(StackDump& dump, test::FakeSystem& system) {
    for (int round = 0; round < 100; ++round) {
        if (auto outcome = dump.poll(system.time, system)) {
            return *outcome;
        }
        system.time += 100ms;
    }
    FAIL("the dump never ended");
    return {};
}

}  // namespace

TEST_CASE("no argument of the job gets into a dump") {
    CHECK(read_dump(kDump, {13, "step.py"}) == kShown);
    CHECK(!read_dump("Error: Permission Denied\n", {13, "step.py"}));
    CHECK(!read_dump("Process 13: python x\n", {13, "step.py"}));
}

TEST_CASE("the stacks of all Pythons come into one file") {
    test::FakeSystem system;
    system.at_start = [](test::FakeProcess& process) {
        process.output = kDump;
        process.end = linux_os::HelperExited{0};
    };
    const auto path = system.folder.path("E.last-gasp.stacks");
    StackDump dump("/bin/py-spy", {{13, "step.py"}, {13, "step.py"}}, path, system.time);
    const auto outcome = finish(dump, system);
    CHECK(outcome.path == path);
    CHECK(outcome.processes == 2);
    CHECK(outcome.failure.empty());
    CHECK(system.folder.read("E.last-gasp.stacks") == kShown + kShown);
    CHECK(system.helpers.front()->has("dump"));
    CHECK(!system.helpers.front()->has("--locals"));
}

TEST_CASE("a dump that is refused is tried again, at last without stopping the process") {
    test::FakeSystem system;
    system.at_start = [](test::FakeProcess& process) {
        if (process.has("--nonblocking")) {
            process.output = kDump;
            process.end = linux_os::HelperExited{0};
        } else {
            process.fail("Error: EPERM: Operation not permitted\n");
        }
    };
    StackDump dump("/bin/py-spy", {{13, "step.py"}}, system.folder.path("x"), system.time);
    CHECK(finish(dump, system).processes == 1);
    CHECK(system.helpers.size() == 4);
}

TEST_CASE("where no stacks come, there is no file but a reason") {
    test::FakeSystem system;
    SECTION("py-spy refuses") {
        system.at_start = [](test::FakeProcess& process) {
            process.fail("Error: Permission Denied\n");
        };
    }
    SECTION("py-spy hangs") {}
    SECTION("py-spy is not there") {
        system.executables.clear();
    }
    const auto path = system.folder.path("x");
    StackDump dump("/bin/py-spy", {{13, "step.py"}}, path, system.time);
    const auto outcome = finish(dump, system);
    CHECK(outcome.path.empty());
    CHECK(outcome.processes == 0);
    CHECK(!outcome.failure.empty());
    CHECK(!std::filesystem::exists(path));
}

TEST_CASE("a file that can't be written is the reason") {
    test::FakeSystem system;
    system.at_start = [](test::FakeProcess& process) {
        process.output = kDump;
        process.end = linux_os::HelperExited{0};
    };
    StackDump dump("/bin/py-spy", {{13, "step.py"}}, "/proc/nowhere/x", system.time);
    const auto outcome = finish(dump, system);
    CHECK(outcome.path.empty());
    CHECK(outcome.processes == 0);
    CHECK(outcome.failure.find("/proc/nowhere/x") != std::string::npos);
}
