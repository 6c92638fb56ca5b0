#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mapdiag/record/profile.h"
#include "mapdiag/run/profiler_system.h"
#include "mapdiag/run/stack_dump.h"

namespace mapdiag::run {

/// What the profiler is to do, and what it may use.
struct ProfilerOptions {
    record::ProfilerSettings settings;
    std::string py_spy;           ///< --py-spy: the only one that is used then
    std::string py_spy_variable;  ///< $MAPDIAG_PYSPY, the same
    std::string search_path;      ///< $PATH
    std::string command;          ///< the job's argv[0], as given
    /// E.folded. Raw files of py-spy stand beside it while the job runs, as ".E.folded.PID.N.raw".
    std::string folded_path;
    std::size_t at_most_at_once = 8;
    std::size_t at_most_in_all = 256;
};

/// Profiles the Pythons of one job from outside, with one py-spy a Python, driven by the run loop:
/// poll() looks for new ones, starts and watches their py-spys, and never waits. Costs are bounded
/// by poll_interval(): under 0.4 % of a core.
///
/// Which processes are profiled: those whose executable is a Python, at once when they become one.
/// What a profiled Python forks or starts is profiled with `subprocesses` only. The short Pythons
/// that uv runs before the command itself are left out of the profile.
class Profiler {
  public:
    /// Removes a profile of an earlier run, so that it is never taken for this one's. `system` has
    /// to outlive the profiler.
    Profiler(ProfilerOptions options, ProfilerSystem& system);
    Profiler(const Profiler&) = delete;
    Profiler& operator=(const Profiler&) = delete;
    ~Profiler();

    /// `job_processes`: the job's pids as they are now (cgroup.procs, or the process tree).
    void poll(Clock::time_point now, std::span<const std::int32_t> job_processes);
    /// How long to wait before the next poll(): 8 ms while nothing is profiled yet, more where a
    /// poll costs more.
    std::chrono::nanoseconds poll_interval() const;
    /// Whether the pid is a helper of the profiler's: neither a process of the job, nor to be
    /// reaped by the run loop.
    bool owns(std::int32_t pid) const;

    /// Begins to have the stacks of the job's Pythons, as they are now, written to `path`; poll()
    /// goes on with it. Gives the reason where there is nothing to do it with or to look at.
    Result<void> dump_stacks(const std::string& path, Clock::time_point now);
    /// dump_stacks() has begun and is not over.
    bool dumping() const;
    /// What came of the last dump_stacks(); given once.
    std::optional<DumpOutcome> take_dump();

    /// To be called once, when the job has ended: ends every py-spy with SIGINT, again, and with
    /// SIGKILL at the deadline at the latest (sooner where it does not even begin to write), and
    /// writes the profile. Usual time: 10 to 30 ms.
    record::ProfileRecord finish(Clock::time_point deadline);

  private:
    class Work;
    std::unique_ptr<Work> work_;
};

}  // namespace mapdiag::run
