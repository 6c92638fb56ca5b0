#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mapdiag/linux/job_process.h"
#include "mapdiag/linux/proc.h"
#include "mapdiag/linux/signals.h"
#include "mapdiag/record/record.h"

namespace mapdiag::run {

/// Brings every signal that reaches mapdiag to the job exactly once: one for the whole process
/// group has reached the job already, one for mapdiag alone is passed on.
class SignalRouter {
  public:
    /// `witness` may be null; `proc` names the senders.
    SignalRouter(linux_os::SignalGate& gate, linux_os::GroupWitness* witness,
                 const linux_os::ProcFs& proc)
        : gate_(gate), witness_(witness), proc_(proc) {}

    /// What came in while the job was made but had not started: passes on what missed it.
    void settle(const linux_os::JobProcess& job, double at_s);
    /// Routes everything that waits. True where a child may have changed its state (SIGCHLD).
    bool route(const linux_os::JobProcess& job, double at_s);
    /// After the job's end there is nobody to pass signals on to; gives the last one that asks
    /// mapdiag to end (SIGTERM, SIGINT, SIGHUP, SIGQUIT).
    std::optional<int> drain_after_end(double at_s);

    /// Where a stop signal came and the job has stopped: stops mapdiag in the same way until it is
    /// continued, as a shell expects of one job.
    void stop_with(const linux_os::JobProcess& job);

    const std::vector<record::SignalSeen>& seen() const { return seen_; }

  private:
    bool take_seen(int signal);
    bool reached_group(const linux_os::SignalInfo& signal);
    bool needs_passing_on(const linux_os::JobProcess& job, const linux_os::SignalInfo& signal);
    void note(const linux_os::SignalInfo& signal, double at_s, bool passed_on);

    linux_os::SignalGate& gate_;
    linux_os::GroupWitness* witness_;
    const linux_os::ProcFs& proc_;
    linux_os::SignalCounts group_seen_ = {};
    std::optional<int> stop_signal_;
    std::vector<record::SignalSeen> seen_;
};

}  // namespace mapdiag::run
