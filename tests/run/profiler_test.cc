#include "mapdiag/run/profiler.h"

#include "fake_profiler_system.h"
#include "support/catch.h"

using namespace std::chrono_literals;
using mapdiag::linux_os::HelperExited;
using mapdiag::linux_os::HelperKilled;
using mapdiag::record::DenialCause;
using mapdiag::record::ProfileOutcome;
using mapdiag::record::ProfileRecord;
using mapdiag::record::ProfilerSource;
using mapdiag::record::ProfileState;
using mapdiag::run::Profiler;
using mapdiag::run::ProfilerOptions;
using mapdiag::test::FakeProcess;
using mapdiag::test::FakeSystem;

namespace {

constexpr const char* kPython = "/usr/bin/python3.11";

// A profiler on a machine of the test's own.
struct Bench {
    FakeSystem system;
    ProfilerOptions options;
    std::unique_ptr<Profiler> profiler;

    Bench() {
        options.search_path = "/usr/local/bin:/bin";
        options.folded_path = system.folder.path("logs/E.folded");
    }
    Profiler& get() {
        if (!profiler) {
            profiler = std::make_unique<Profiler>(options, system);
        }
        return *profiler;
    }
    void poll(std::chrono::milliseconds later = 10ms) {
        system.time += later;
        get().poll(system.time, system.job_pids());
    }
    void poll_for(std::chrono::milliseconds time) {
        for (auto at = 0ms; at < time; at += 10ms) {
            poll();
        }
    }
    // The job has ended: its processes are gone.
    ProfileRecord finish() {
        for (const auto pid : system.job_pids()) {
            system.remove(pid);
        }
        auto record = get().finish(system.time + 10s);
        check_invariants(record);
        return record;
    }
    // What holds however a run went.
    void check_invariants(const ProfileRecord& record) {
        for (const auto& helper : system.helpers) {
            CHECK((helper->end || !helper->is_py_spy()));
        }
        const bool written = record.state == ProfileState::written;
        CHECK(std::filesystem::exists(options.folded_path) == written);
        CHECK(record.path == (written ? options.folded_path : ""));
        CHECK((record.samples > 0) == written);
        // Nothing of py-spy's own files stays behind.
        std::size_t files = 0;
        if (std::filesystem::exists(system.folder.path("logs"))) {
            for (const auto& entry :
                 std::filesystem::directory_iterator(system.folder.path("logs"))) {
                files += entry.is_regular_file() ? 1 : 0;
            }
        }
        CHECK(files == (written ? 1 : 0));
        std::uint64_t samples = 0;
        for (const auto& process : record.processes) {
            samples += process.helper ? 0 : process.samples;
        }
        CHECK((!written || samples == record.samples));
    }
    std::string folded() { return system.folder.read("logs/E.folded"); }
};

}  // namespace

TEST_CASE("a shell that becomes a Python is profiled at once, and only then") {
    Bench bench;
    bench.system.add(10, 1, "/bin/sh", {"sh", "-c", "x"});
    bench.poll();
    CHECK(bench.system.helpers.empty());
    bench.system.become(10, kPython, {"/v/bin/python", "/v/bin/linkml-map", "secret"});
    bench.poll();
    REQUIRE(bench.system.py_spys().size() == 1);
    const auto& py_spy = *bench.system.py_spys()[0];
    CHECK(py_spy.command[0] == "/bin/py-spy");
    CHECK(py_spy.option("--pid") == "10");
    CHECK(py_spy.option("--rate") == "100");
    CHECK(py_spy.option("--format") == "raw");
    CHECK(py_spy.has("--idle"));
    CHECK_FALSE(py_spy.has("--subprocesses"));
    CHECK(bench.get().owns(py_spy.pid));
    CHECK_FALSE(bench.get().owns(10));

    const auto record = bench.finish();
    CHECK(record.state == ProfileState::written);
    REQUIRE(record.processes.size() == 1);
    CHECK(record.processes[0].program == "linkml-map");
    CHECK(record.processes[0].python_version == "3.11");
    CHECK(record.processes[0].outcome == ProfileOutcome::sampled);
    CHECK(record.processes[0].samplings == 100);
    CHECK(record.processes[0].attached_after_s == Approx(0.01));
    CHECK(record.python_seen);
    CHECK(record.found->source == ProfilerSource::search_path);
    CHECK(bench.folded() == "<module> (m.py:1);work (m.py:9) 100\n");
    CHECK(py_spy.signals == std::vector<int>{SIGINT});
}

TEST_CASE("a process in the middle of an exec is left alone until it is whole") {
    Bench bench;
    bench.system.add(10, 1, "/bin/sh", {"sh", "-c", "x"});
    bench.poll();
    bench.system.become(10, kPython);
    bench.system.forget_arguments(10);
    bench.poll();
    CHECK(bench.system.helpers.empty());
    bench.system.become(10, kPython, {"/v/bin/python", "/v/bin/linkml-map"});
    bench.poll_for(400ms);
    CHECK(bench.system.py_spys().size() == 1);
    CHECK(bench.finish().processes.at(0).program == "linkml-map");

    // One that stays without arguments is a Python all the same.
    Bench other;
    other.system.add(10, 1, kPython);
    other.system.forget_arguments(10);
    other.poll_for(60ms);
    CHECK(other.system.py_spys().size() == 1);
    other.finish();
}

TEST_CASE("what was asked for reaches py-spy") {
    Bench bench;
    bench.options.settings = {
        .rate = 20, .idle = false, .subprocesses = false, .native = true, .nonblocking = false};
    bench.system.add(10, 1, kPython);
    bench.poll();
    const auto native = bench.system.py_spys().at(0);
    CHECK(native->option("--rate") == "20");
    CHECK_FALSE(native->has("--idle"));
    CHECK(native->has("--native"));
    CHECK_FALSE(native->has("--nonblocking"));
    CHECK(bench.finish().settings.rate == 20);

    Bench other;
    other.options.settings.nonblocking = true;
    other.system.add(10, 1, kPython);
    other.poll();
    CHECK(other.system.py_spys().at(0)->has("--nonblocking"));
    other.finish();
}

TEST_CASE("a py-spy that ends with its process is not sent anything") {
    Bench bench;
    bench.system.add(10, 1, kPython);
    bench.poll();
    bench.system.py_spys()[0]->finish();
    const auto record = bench.finish();
    CHECK(record.state == ProfileState::written);
    CHECK(bench.system.py_spys()[0]->signals.empty());
}

TEST_CASE("later Pythons get a py-spy of their own, and equal stacks are summed") {
    Bench bench;
    bench.system.add(9, 1, "/bin/sh");
    bench.system.add(10, 9, kPython);
    bench.poll();
    bench.system.py_spys()[0]->finish();
    bench.system.remove(10);
    bench.poll();
    bench.system.add(11, 9, kPython);
    bench.poll();
    REQUIRE(bench.system.py_spys().size() == 2);
    const auto record = bench.finish();
    CHECK(record.samples == 200);
    CHECK(record.stacks == 1);
    CHECK(record.processes.size() == 2);
}

TEST_CASE("what a profiled Python starts is left out, or taken in below its process") {
    for (const bool subprocesses : {false, true}) {
        Bench bench;
        bench.options.settings.subprocesses = subprocesses;
        bench.system.add(10, 1, kPython, {"python", "main.py"});
        bench.poll();
        bench.system.add(11, 10, "/bin/sh");
        bench.system.add(12, 11, kPython, {"python", "-m", "child"});
        bench.poll();
        CHECK(bench.system.py_spys().size() == (subprocesses ? 2 : 1));
        if (!subprocesses) {
            // It becomes another Python, as a fork does: one process all the same.
            bench.system.become(12, "/usr/bin/python3.12", {"python", "-m", "child"});
            bench.poll();
        }
        const auto record = bench.finish();
        CHECK(record.left_out_children == (subprocesses ? 0 : 1));
        CHECK(bench.folded() ==
              (subprocesses ? "process 10 (main.py);<module> (m.py:1);work (m.py:9) 100\n"
                              "process 10 (main.py);process 12 (child);<module> (m.py:1);work "
                              "(m.py:9) 100\n"
                            : "<module> (m.py:1);work (m.py:9) 100\n"));
    }
}

TEST_CASE("uv's own short Pythons are no map step") {
    Bench bench;
    bench.system.add(9, 1, "/x/uv");
    // Asked what it is: not profiled at all.
    bench.system.add(20, 9, kPython, {"python", "-I", "-B", "-c", "get_interpreter_info"});
    bench.poll();
    CHECK(bench.system.helpers.empty());
    bench.system.remove(20);
    // A build: profiled, since nobody can know yet, and left out.
    bench.system.add(21, 9, kPython, {"python", "-c", "build"});
    bench.poll();
    REQUIRE(bench.system.py_spys().size() == 1);
    bench.system.py_spys()[0]->profile = "build (setup.py:1) 7\n";
    bench.system.py_spys()[0]->finish();
    bench.system.remove(21);
    bench.poll();
    bench.system.add(22, 9, "/bin/sh");
    bench.poll();
    bench.system.become(22, kPython, {"python", "/x/linkml-map"});
    bench.poll();
    const auto record = bench.finish();
    CHECK(bench.folded() == "<module> (m.py:1);work (m.py:9) 100\n");
    REQUIRE(record.processes.size() == 2);
    CHECK(record.processes[0].helper);
    CHECK_FALSE(record.processes[1].helper);
}

TEST_CASE("an exec of another Python in the same process gets a new py-spy") {
    Bench bench;
    bench.system.add(10, 1, kPython, {"python", "launcher.py"});
    bench.poll();
    bench.system.become(10, "/usr/bin/python3.12", {"python", "step.py"});
    bench.poll();
    // The first one is ended before the second one begins: there is one tracer at a time.
    CHECK(bench.system.py_spys().size() == 1);
    CHECK(bench.system.py_spys()[0]->signals == std::vector<int>{SIGINT});
    bench.poll();
    REQUIRE(bench.system.py_spys().size() == 2);
    const auto record = bench.finish();
    CHECK(record.samples == 200);
    CHECK(record.processes.at(1).program == "step.py");
}

TEST_CASE("an exec of the very same interpreter is noticed") {
    Bench bench;
    bench.system.add(10, 1, kPython, {"python", "a.py"});
    bench.poll();
    bench.system.become(10, kPython, {"python", "b.py"});
    bench.poll_for(400ms);
    CHECK(bench.system.py_spys().size() == 2);
    CHECK(bench.finish().processes.at(1).program == "b.py");
}

TEST_CASE("a py-spy that sees no Python yet is tried again while the process lives") {
    Bench bench;
    int attempts = 0;
    bench.system.at_start = [&](FakeProcess& process) {
        if (process.is_py_spy() && ++attempts < 4) {
            process.fail("Error: Failed to find python version from target process\n");
        }
    };
    bench.system.add(10, 1, kPython);
    bench.poll_for(2000ms);
    CHECK(attempts == 4);
    const auto record = bench.finish();
    CHECK(record.state == ProfileState::written);
    CHECK(record.processes[0].attempts == 4);
}

TEST_CASE("attempts are bounded, and the reason of the last stays known") {
    Bench bench;
    int attempts = 0;
    bench.system.at_start = [&](FakeProcess& process) {
        attempts += process.is_py_spy() ? 1 : 0;
        process.fail("Error: Failed to find python version from target process\n");
    };
    bench.system.add(10, 1, kPython);
    bench.poll_for(120000ms);
    CHECK(attempts == 13);
    const auto record = bench.finish();
    CHECK(record.state == ProfileState::empty);
    CHECK(record.processes[0].outcome == ProfileOutcome::no_interpreter);
}

TEST_CASE("a refusal names what forbids it, whatever py-spy says") {
    struct Row {
        const char* words;
        const char* scope;
        std::uint64_t capabilities;
        std::uint32_t seccomp;
        std::uint32_t user;
        DenialCause cause;
    };
    const std::string none;
    const std::vector<Row> rows = {
        {"Permission Denied: Try sudo\n", "1\n", 0, 0, 0, DenialCause::yama},
        // The misleading one.
        {"Error: Failed to find python version from target process\n", "1\n", 0, 0, 0,
         DenialCause::yama},
        {"Permission Denied\n", "3\n", ~0ULL, 0, 0, DenialCause::yama},
        {"Permission Denied\n", nullptr, 0, 0, 0, DenialCause::capability},
        {"Permission Denied\n", "0\n", 0, 2, 0, DenialCause::capability},
        {"Permission Denied\n", nullptr, 0, 0, 1000, DenialCause::other_user},
        {"Permission Denied\n", "1\n", ~0ULL, 2, 0, DenialCause::seccomp},
        {"Permission Denied\n", nullptr, ~0ULL, 0, 0, DenialCause::unknown},
    };
    for (const auto& row : rows) {
        INFO(row.words << (row.scope == nullptr ? "" : row.scope));
        Bench bench;
        if (row.scope != nullptr) {
            bench.system.folder.write("proc/sys/kernel/yama/ptrace_scope", row.scope);
        }
        bench.system.status = {.effective_user = row.user,
                               .effective_capabilities = row.capabilities,
                               .seccomp_mode = row.seccomp};
        bench.system.at_start = [&](FakeProcess& process) {
            process.is_py_spy() ? process.fail(row.words) : process.fail("py-spy 0.4.3\n", 0);
        };
        bench.system.add(10, 1, kPython);
        bench.poll_for(5000ms);
        const auto record = bench.finish();
        REQUIRE(record.processes.size() == 1);
        CHECK(record.processes[0].outcome == ProfileOutcome::denied);
        CHECK(record.processes[0].denial.cause == row.cause);
        CHECK(record.processes[0].attempts <= 3);
        CHECK(record.found->version == "0.4.3");
    }
}

TEST_CASE("a Python of another user, whose executable can't be read, is seen and refused") {
    Bench bench;
    bench.system.add(10, 1, "/usr/bin/setpriv", {"setpriv", "python3", "step.py"});
    bench.poll();
    bench.system.become(10, kPython, {"/usr/bin/python3", "step.py"});
    std::filesystem::remove(bench.system.folder.path("proc/10/exe"));
    bench.system.add(11, 1, "/usr/bin/sleep", {"sleep", "9"});
    std::filesystem::remove(bench.system.folder.path("proc/11/exe"));
    bench.system.status.effective_capabilities = 0;
    bench.system.memory_readable = false;
    bench.poll();
    REQUIRE(bench.system.py_spys().size() == 1);
    bench.system.py_spys()[0]->fail("Error: Permission denied (os error 13)\n");
    bench.poll();
    const auto record = bench.finish();
    CHECK(record.python_seen);
    REQUIRE(record.processes.size() == 1);
    CHECK(record.processes[0].program == "step.py");
    CHECK(record.processes[0].outcome == ProfileOutcome::denied);
}

TEST_CASE("an unsupported Python is not tried again") {
    Bench bench;
    bench.system.at_start = [](FakeProcess& process) {
        process.fail("Error: Unsupported version of Python: 3.99.0\n");
    };
    bench.system.add(10, 1, kPython);
    bench.poll_for(2000ms);
    CHECK(bench.system.py_spys().size() == 1);
    const auto record = bench.finish();
    CHECK(record.processes[0].outcome == ProfileOutcome::unsupported_python);
    CHECK(record.processes[0].python_version == "3.99.0");
}

TEST_CASE("a py-spy that is killed is not started again") {
    Bench bench;
    bench.system.add(10, 1, kPython);
    bench.poll();
    bench.system.py_spys()[0]->end = HelperKilled{SIGKILL};
    bench.poll_for(3000ms);
    CHECK(bench.system.py_spys().size() == 1);
    const auto record = bench.finish();
    CHECK(record.processes[0].outcome == ProfileOutcome::died);
    CHECK(record.processes[0].signal == SIGKILL);
}

TEST_CASE("a py-spy that ignores SIGINT is killed in bounded time") {
    Bench bench;
    bench.system.add(10, 1, kPython);
    bench.poll();
    bench.system.py_spys()[0]->writes_on_interrupt = false;
    const auto before = bench.system.time;
    const auto record = bench.finish();
    CHECK(bench.system.time - before < 5s);
    CHECK(record.processes[0].outcome == ProfileOutcome::hung);
    const auto& signals = bench.system.py_spys()[0]->signals;
    CHECK(signals == std::vector<int>{SIGINT, SIGINT, SIGINT, SIGKILL});
}

TEST_CASE("the deadline holds even while a py-spy is writing") {
    Bench bench;
    bench.system.add(10, 1, kPython);
    bench.poll();
    const auto py_spy = bench.system.py_spys()[0];
    py_spy->writes_on_interrupt = false;
    bench.system.remove(10);
    const auto before = bench.system.time;
    const auto record = bench.get().finish(bench.system.time + 500ms);
    CHECK(bench.system.time - before < 2s);
    CHECK(record.processes[0].outcome == ProfileOutcome::hung);
}

TEST_CASE("a process that is gone while others live ends its py-spy") {
    Bench bench;
    bench.system.add(9, 1, "/bin/sh");
    bench.system.add(10, 9, kPython);
    bench.poll();
    bench.system.set_state(10, 'Z');
    bench.poll_for(500ms);
    CHECK(bench.system.py_spys()[0]->signals == std::vector<int>{SIGINT});
    CHECK(bench.finish().state == ProfileState::written);
}

TEST_CASE("a SIGINT that comes before py-spy has attached means too short a run") {
    Bench bench;
    bench.system.add(10, 1, kPython);
    bench.poll();
    const auto py_spy = bench.system.py_spys()[0];
    py_spy->writes_on_interrupt = false;
    bench.system.remove(10);
    py_spy->fail(
        "Error: Failed to get process executable name. Check that the process is "
        "running.\n");
    const auto record = bench.finish();
    CHECK(record.state == ProfileState::empty);
    CHECK(record.processes[0].outcome == ProfileOutcome::too_short);
}

TEST_CASE("a job that py-spy left stopped is continued, once") {
    Bench bench;
    bench.system.add(10, 1, kPython);
    bench.poll();
    bench.system.set_state(10, 'T');
    bench.poll_for(100ms);
    CHECK(bench.system.continued.empty());
    bench.system.py_spys()[0]->fail("", 0);
    bench.poll();
    CHECK(bench.system.continued == std::vector<std::int32_t>{10});
    bench.system.set_state(10, 'S');
    bench.poll_for(3000ms);
    CHECK(bench.system.py_spys().size() == 1);
    const auto record = bench.finish();
    CHECK(record.processes[0].stopped_job);
    CHECK(record.processes[0].outcome == ProfileOutcome::failed);
}

TEST_CASE("a stop by the user is not undone") {
    Bench bench;
    bench.system.add(10, 1, kPython);
    bench.poll();
    bench.system.set_state(10, 'T');
    bench.poll_for(3000ms);
    bench.system.py_spys()[0]->fail("", 0);
    bench.poll();
    CHECK(bench.system.continued.empty());
    bench.finish();
}

TEST_CASE("a py-spy that holds the job for seconds is killed") {
    Bench bench;
    bench.system.add(10, 1, kPython);
    bench.poll();
    const auto py_spy = bench.system.py_spys()[0];
    bench.system.set_state(10, 't');
    bench.system.folder.write("proc/10/status",
                              "TracerPid:\t" + std::to_string(py_spy->pid) + "\n");
    bench.poll_for(4000ms);
    CHECK(py_spy->signals.empty());
    bench.poll_for(2000ms);
    CHECK(py_spy->signals == std::vector<int>{SIGKILL});
    bench.system.set_state(10, 'S');
    CHECK(bench.finish().processes[0].outcome == ProfileOutcome::hung);
}

TEST_CASE("an empty profile is none") {
    for (const auto* profile : {"", " 12\n"}) {
        Bench bench;
        bench.system.add(10, 1, kPython);
        bench.poll();
        bench.system.py_spys()[0]->profile = profile;
        bench.system.py_spys()[0]->finish();
        const auto record = bench.finish();
        CHECK(record.state == ProfileState::empty);
        CHECK(record.processes[0].outcome == ProfileOutcome::no_samples);
        CHECK(record.processes[0].samplings == 100);
    }
}

TEST_CASE("a profile of an earlier run is removed, and what a killed mapdiag left") {
    Bench bench;
    bench.system.folder.write("logs/E.folded", "old 1\n");
    bench.system.folder.write("logs/.E.folded.77-1.raw", "old 1\n");
    // That one belongs to a process that lives.
    bench.system.add(78, 1, "/bin/sh");
    const auto other = bench.system.folder.write("logs/.E.folded.78-1.raw", "new 1\n");
    bench.poll();
    CHECK_FALSE(std::filesystem::exists(bench.system.folder.path("logs/E.folded")));
    CHECK_FALSE(std::filesystem::exists(bench.system.folder.path("logs/.E.folded.77-1.raw")));
    CHECK(std::filesystem::exists(other));
    std::filesystem::remove(other);
    CHECK(bench.finish().state == ProfileState::no_python);
}

TEST_CASE("a folder that can't be written is said before anything is recorded") {
    Bench bench;
    bench.system.folder.write("file", "x");
    bench.options.folded_path = bench.system.folder.path("file/E.folded");
    bench.system.add(10, 1, kPython);
    bench.poll_for(200ms);
    CHECK(bench.system.helpers.empty());
    const auto record = bench.finish();
    CHECK(record.state == ProfileState::not_written);
    CHECK(record.trouble.find("file/.E.folded.4242-1.raw") != std::string::npos);
}

TEST_CASE("not more than the allowed number of py-spys run at once") {
    Bench bench;
    bench.options.at_most_at_once = 2;
    for (int pid = 10; pid < 14; ++pid) {
        bench.system.add(pid, 1, kPython);
    }
    bench.poll();
    CHECK(bench.system.py_spys().size() == 2);
    bench.system.py_spys()[0]->finish();
    bench.system.remove(10);
    bench.poll_for(200ms);
    CHECK(bench.system.py_spys().size() == 3);
    const auto record = bench.finish();
    CHECK(record.over_limit == 1);
    CHECK(record.limit_at_once == 2);
}

TEST_CASE("py-spy is looked for where it may be, in the promised order") {
    Bench bench;
    bench.options.py_spy = "/opt/py-spy";
    bench.options.py_spy_variable = "/other/py-spy";
    bench.system.add(10, 1, kPython);
    bench.poll();
    auto record = bench.finish();
    // A named one is not replaced by another.
    CHECK(record.state == ProfileState::not_found);
    CHECK(record.looked_at.size() == 1);

    Bench variable;
    variable.options.py_spy_variable = "py-spy";
    variable.system.add(10, 1, kPython);
    variable.poll();
    record = variable.finish();
    CHECK(record.found->source == ProfilerSource::variable);
    CHECK(record.found->path == "/bin/py-spy");
}

TEST_CASE("py-spy beside the job's interpreter is used") {
    for (const auto* folder : {"/v/bin", "/usr/lib/py/bin", "/env/bin", "/s/bin"}) {
        Bench bench;
        bench.system.executables = {std::string(folder) + "/py-spy"};
        bench.system.add(10, 1, "/usr/lib/py/bin/python3.11", {"/v/bin/python", "/s/bin/tool"});
        bench.system.folder.write("proc/10/environ", std::string("VIRTUAL_ENV=/env\0", 17));
        bench.poll();
        REQUIRE(bench.system.py_spys().size() == 1);
        const auto record = bench.finish();
        CHECK(record.found->source == ProfilerSource::interpreter);
        CHECK(record.found->path == std::string(folder) + "/py-spy");
    }
}

TEST_CASE("uv provides py-spy without the profiler waiting for it") {
    Bench bench;
    bench.system.executables = {"/bin/uv", "/cache/py-spy"};
    bench.system.add(10, 1, kPython);
    bench.poll();
    REQUIRE(bench.system.helpers.size() == 1);
    CHECK(bench.system.helpers[0]->has("--offline"));
    CHECK(bench.system.helpers[0]->has("--no-project"));
    CHECK(bench.get().owns(bench.system.helpers[0]->pid));
    bench.system.helpers[0]->fail("", 1);
    bench.poll();
    REQUIRE(bench.system.helpers.size() == 2);
    CHECK_FALSE(bench.system.helpers[1]->has("--offline"));
    bench.system.helpers[1]->fail("Installed 1 package in 2ms\n/cache/py-spy\n", 0);
    bench.poll();
    bench.poll();
    REQUIRE(bench.system.py_spys().size() == 1);
    const auto record = bench.finish();
    CHECK(record.found->source == ProfilerSource::uv);
    CHECK(record.found->path == "/cache/py-spy");
}

TEST_CASE("where py-spy was looked for is kept") {
    Bench bench;
    bench.system.executables = {"/bin/uv"};
    bench.system.add(10, 1, kPython, {"/v/bin/python"});
    bench.poll();
    bench.system.helpers.at(0)->fail("", 1);
    bench.poll();
    bench.system.helpers.at(1)->fail("error: no network\n", 2);
    bench.poll();
    const auto record = bench.finish();
    CHECK(record.state == ProfileState::not_found);
    CHECK(record.python_seen);
    std::string places;
    for (const auto& place : record.looked_at) {
        places += std::string(profiler_source_name(place.source)) + '=' + place.place + '=' +
                  place.reason + '\n';
    }
    CHECK(places ==
          "search_path=/usr/local/bin:/bin=\ninterpreter=/v/bin=\ninterpreter=/usr/bin=\n"
          "uv==error: no network\nuvx==uvx is not in PATH\n");
}

TEST_CASE("a uv that has not answered when the job ends is ended too") {
    Bench bench;
    bench.system.executables = {"/bin/uv"};
    bench.system.add(10, 1, "/bin/sh");
    bench.poll();
    const auto record = bench.finish();
    CHECK(record.state == ProfileState::not_found);
    CHECK(bench.system.helpers.at(0)->signals == std::vector<int>{SIGKILL});
    CHECK(record.looked_at.back().reason == "it had not answered when the job ended");
}

TEST_CASE("a shim without a py-spy behind it is passed over") {
    Bench bench;
    bench.system.executables = {"/usr/local/bin/py-spy", "/bin/py-spy"};
    bench.system.at_start = [](FakeProcess& process) {
        if (process.command[0] == "/usr/local/bin/py-spy") {
            process.fail("pyenv: py-spy: command not found\n", 127);
        }
    };
    bench.system.add(10, 1, kPython);
    bench.poll_for(300ms);
    const auto record = bench.finish();
    CHECK(record.state == ProfileState::written);
    CHECK(record.found->path == "/bin/py-spy");
    CHECK(record.looked_at.at(0).place == "/usr/local/bin/py-spy");
}

TEST_CASE("polls are as far apart as their cost asks") {
    Bench bench;
    bench.poll();
    CHECK(bench.get().poll_interval() == 8ms);
    bench.system.add(10, 1, kPython);
    bench.poll();
    bench.poll();
    CHECK(bench.get().poll_interval() == 10ms);
    // Each poll costs 1 ms: the credit of 30 ms is soon used up, then it is 250 ms.
    bench.system.poll_cost = 1ms;
    for (int i = 0; i < 60; ++i) {
        bench.poll();
    }
    CHECK(bench.get().poll_interval() > 240ms);
    bench.finish();
}
