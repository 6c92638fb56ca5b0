#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mapdiag/linux/signals.h"
#include "mapdiag/support/error.h"
#include "mapdiag/support/fd.h"

namespace mapdiag::linux_os {

/// How to start the job.
struct JobStart {
    std::vector<std::string> command;
    InheritedSignals signals;
    /// Descriptors that become the job's 1 and 2; -1 leaves mapdiag's own.
    int out = -1;
    int err = -1;
    /// A v2 group to be born in (-1: none), and v1 files that take "0" to enter a group.
    int clone_into = -1;
    std::vector<int> enter;
};

/// Resource use of a reaped process and of the children that it waited for.
struct ResourceUse {
    double user_s = 0;
    double system_s = 0;
    std::uint64_t max_rss_bytes = 0;
};

/// How a process ended.
struct ProcessExited {
    int code;
};
struct ProcessKilled {
    int signal;
    bool core_dumped;
};
struct ProcessEnd {
    std::variant<ProcessExited, ProcessKilled> how;
    ResourceUse use;
};

/// The exec of the job's program failed.
struct ExecFailed {
    int errno_value;
};

/// The job: a child of mapdiag in the same session, process group and terminal, with the signal
/// mask, descriptors, limits and environment that mapdiag was given. It is made in two steps: it
/// exists, inside its group, but waits; run() lets it become the program.
class JobProcess {
  public:
    /// An error means that the child could not be made or could not enter its group; nothing of it
    /// remains then, and another placement may be tried.
    static Result<JobProcess> make(const JobStart& start);

    std::int32_t pid() const { return pid_; }
    /// Readable when the job has ended.
    int pidfd() const { return pidfd_.get(); }

    /// Lets the child become the program and waits until it has. Gives the errno of a failed exec;
    /// the child has been reaped then.
    std::optional<ExecFailed> run();

    /// Sends a signal on, with its value where it was queued with one.
    void pass_on(const SignalInfo& signal) const;
    /// Whether the job is still in mapdiag's process group.
    bool in_own_group() const;
    /// What waits for the job and is blocked or not yet taken (bit n-1 for signal n).
    std::uint64_t pending_signals() const;

    /// The end of the job where it has ended and can be reaped; nothing while it lives or while a
    /// tracer holds it.
    std::optional<ProcessEnd> reap();
    /// Whether the job has stopped (state T) and has not been continued since.
    bool is_stopped() const;

  private:
    JobProcess(std::int32_t pid, Fd pidfd, Fd go, Fd report)
        : pid_(pid), pidfd_(std::move(pidfd)), go_(std::move(go)), report_(std::move(report)) {}

    std::int32_t pid_;
    Fd pidfd_;
    Fd go_;
    Fd report_;
};

/// Reaps one ended child by its pid, without waiting.
std::optional<ProcessEnd> reap_child(std::int32_t pid);

/// Pids of this process's children (also adopted ones), from /proc/self/task/*/children.
std::vector<std::int32_t> child_processes();

/// Makes orphans of the job children of mapdiag, so that they can be found and reaped.
Result<void> adopt_orphans();

/// mapdiag's own peak of resident memory, which a child of a fork inherits as its own first peak.
std::uint64_t own_peak_rss();

}  // namespace mapdiag::linux_os
