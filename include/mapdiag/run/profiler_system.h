#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "mapdiag/linux/child_process.h"
#include "mapdiag/linux/proc.h"
#include "mapdiag/support/error.h"

namespace mapdiag::run {

using Clock = std::chrono::steady_clock;

/// A helper process as the profiler sees it: see linux_os::ChildProcess.
class Helper {
  public:
    virtual ~Helper() = default;
    virtual std::int32_t pid() const = 0;
    virtual void poll() = 0;
    virtual std::optional<linux_os::HelperEnd> end() const = 0;
    virtual std::string output() const = 0;
    virtual void signal(int number) = 0;
    virtual void signal_group(int number) = 0;
};

/// What the profiler needs of the machine, so that tests can stand in for it.
class ProfilerSystem {
  public:
    virtual ~ProfilerSystem() = default;
    virtual const linux_os::ProcFs& proc() const = 0;
    /// mapdiag's own rights, which its helpers have too.
    virtual std::optional<linux_os::ProcessStatus> own_status() const = 0;
    /// Whether the kernel lets mapdiag itself look into that process.
    virtual bool may_read_memory(std::int32_t pid) const = 0;
    virtual bool is_executable(const std::string& path) const = 0;
    /// The file behind a path with its links resolved; the path itself where that fails.
    virtual std::string resolved(const std::string& path) const = 0;
    virtual Result<std::unique_ptr<Helper>> start(const linux_os::HelperStart& start) = 0;
    /// SIGCONT, to that very process.
    virtual void continue_process(const linux_os::ProcessId& process) = 0;
    virtual double seconds_since_start(const linux_os::ProcessId& process) const = 0;
    virtual std::int32_t own_pid() const = 0;
    virtual Clock::time_point now() const = 0;
    /// CPU time of the calling thread: what a poll costs, however busy the machine is.
    virtual std::chrono::nanoseconds cpu_time() const = 0;
    /// Waits for something to happen; only used by Profiler::finish().
    virtual void pause(std::chrono::nanoseconds time) = 0;
};

/// The machine itself.
std::unique_ptr<ProfilerSystem> make_profiler_system();

}  // namespace mapdiag::run
