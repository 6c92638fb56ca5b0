// Runs a command, profiles it as the run loop does, and prints what was observed as lines of
// "key value": for the tests with the real py-spy and for measuring by hand.
//   profiler_driver [--py-spy PATH] [--rate N] [--subprocesses] [--cpu] FOLDED COMMAND...
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "mapdiag/linux/proc.h"
#include "mapdiag/report/profile_lines.h"
#include "mapdiag/run/profiler.h"

namespace {

using namespace std::chrono_literals;
using mapdiag::run::Clock;
using mapdiag::run::Profiler;
using mapdiag::run::ProfilerOptions;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

int read_options(int argc, char** argv, ProfilerOptions& options) {
    int at = 1;
    for (; at + 1 < argc && std::string(argv[at]).starts_with("--"); ++at) {
        const std::string option = argv[at];
        if (option == "--py-spy") {
            options.py_spy = argv[++at];
        } else if (option == "--rate") {
            options.settings.rate = static_cast<unsigned>(std::atoi(argv[++at]));
        } else if (option == "--subprocesses") {
            options.settings.subprocesses = true;
        } else if (option == "--cpu") {
            options.settings.idle = false;
        }
    }
    options.folded_path = argv[at++];
    options.command = argv[at];
    options.search_path = variable("PATH");
    return at;
}

std::vector<std::int32_t> job_processes(std::int32_t job) {
    auto pids = mapdiag::linux_os::ProcFs().descendants(job);
    pids.insert(pids.begin(), job);
    return pids;
}

double seconds(Clock::duration time) {
    return std::chrono::duration<double>(time).count();
}

void print(const mapdiag::record::ProfileRecord& record) {
    std::printf("state %s\nsamples %llu\nstacks %llu\nleft_out_children %u\n",
                mapdiag::record::profile_state_name(record.state),
                static_cast<unsigned long long>(record.samples),
                static_cast<unsigned long long>(record.stacks), record.left_out_children);
    for (const auto& one : record.processes) {
        std::printf(
            "process %d %s python %s outcome %s helper %d attached_after %.3f profiled %.3f "
            "attempts %u samplings %llu errors %llu samples %llu message %s\n",
            one.pid, one.program.c_str(), one.python_version.c_str(),
            mapdiag::record::profile_outcome_name(one.outcome), one.helper ? 1 : 0,
            one.attached_after_s, one.profiled_s, one.attempts,
            static_cast<unsigned long long>(one.samplings),
            static_cast<unsigned long long>(one.errors),
            static_cast<unsigned long long>(one.samples), one.message.c_str());
    }
    const auto lines = mapdiag::report::profile_lines(record);
    for (const auto& line : lines.profile) {
        std::printf("profile: %s\n", line.c_str());
    }
    for (const auto& line : lines.warnings) {
        std::printf("warning: %s\n", line.c_str());
    }
}

}  // namespace

int main(int argc, char** argv) {
    ProfilerOptions options;
    const int at = read_options(argc, argv, options);
    const auto system = mapdiag::run::make_profiler_system();
    Profiler profiler(options, *system);

    pid_t job = 0;
    if (::posix_spawnp(&job, argv[at], nullptr, nullptr, argv + at, environ) != 0) {
        std::perror(argv[at]);
        return 127;
    }
    siginfo_t info = {};
    double cost = 0;
    unsigned polls = 0;
    const auto begin = Clock::now();
    while (::waitid(P_PID, static_cast<id_t>(job), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0) {
        const auto pids = job_processes(job);
        const auto now = Clock::now();
        profiler.poll(now, pids);
        cost += seconds(Clock::now() - now);
        ++polls;
        std::this_thread::sleep_for(profiler.poll_interval());
    }
    const auto ended = Clock::now();
    int status = 0;
    ::waitpid(job, &status, 0);
    const auto record = profiler.finish(Clock::now() + 10s);
    std::printf("status %d\nwall %.3f\nfinish %.3f\npolls %u\npoll_us %.1f\n", status,
                seconds(ended - begin), seconds(Clock::now() - ended), polls, 1e6 * cost / polls);
    print(record);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
