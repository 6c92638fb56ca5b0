#include "signal_router.h"

#include <algorithm>
#include <csignal>

#include "leftovers.h"
#include "mapdiag/linux/clocks.h"

namespace mapdiag::run {
namespace {

using linux_os::signal_bit;
using linux_os::SignalInfo;

// A run that gets signals without end must not grow without end.
constexpr std::size_t kMostNoted = 1000;

bool is_stop(int signal) {
    return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

// The kernel's own notes to mapdiag about its children and its pipes: nobody sent them to the job.
bool is_own_business(const SignalInfo& signal) {
    return (signal.signal == SIGCHLD && signal.code > 0) ||
           (signal.signal == SIGPIPE && signal.sender == linux_os::own_pid());
}

}  // namespace

void SignalRouter::settle(const linux_os::JobProcess& job, double at_s) {
    if (witness_ != nullptr) {
        linux_os::add_signals(group_seen_, witness_->take().value_or(linux_os::SignalCounts{}));
    }
    const auto waiting = job.pending_signals();
    while (const auto signal = gate_.next()) {
        if (is_own_business(*signal)) {
            continue;
        }
        const bool has_it = (waiting & signal_bit(signal->signal)) != 0;
        (void)take_seen(signal->signal);
        if (!has_it) {
            job.pass_on(*signal);
        }
        note(*signal, at_s, !has_it);
    }
}

bool SignalRouter::route(const linux_os::JobProcess& job, double at_s) {
    bool child_changed = false;
    while (const auto signal = gate_.next()) {
        if (is_own_business(*signal)) {
            child_changed = child_changed || signal->signal == SIGCHLD;
            continue;
        }
        const bool pass = needs_passing_on(job, *signal);
        if (is_stop(signal->signal)) {
            stop_signal_ = signal->signal;
        }
        if (pass) {
            job.pass_on(*signal);
        }
        note(*signal, at_s, pass);
    }
    return child_changed;
}

bool SignalRouter::needs_passing_on(const linux_os::JobProcess& job, const SignalInfo& signal) {
    if (!reached_group(signal)) {
        return true;
    }
    // The job has left mapdiag's group (setsid, setpgid): a signal that a process sent, to mapdiag
    // and to its group, as `timeout` does, was meant for the job. A terminal's was not.
    return signal.sender != 0 && !job.in_own_group();
}

bool SignalRouter::reached_group(const SignalInfo& signal) {
    if (witness_ != nullptr) {
        if (const auto seen = witness_->take()) {
            linux_os::add_signals(group_seen_, *seen);
        } else if (signal.signal == SIGCONT) {
            // The witness is stopped: this SIGCONT was for mapdiag alone.
            linux_os::add_signals(group_seen_, witness_->wake());
            return false;
        }
    } else if (signal.sender == 0) {
        return true;  // without a witness: the kernel sends a terminal's signals to the whole group
    }
    return take_seen(signal.signal);
}

// One of the times that the group got the signal, where there is one that mapdiag has not yet seen
// itself.
bool SignalRouter::take_seen(int signal) {
    auto& count = group_seen_[static_cast<std::size_t>(signal - 1)];
    if (count == 0) {
        return false;
    }
    --count;
    return true;
}

std::optional<int> SignalRouter::drain_after_end(double at_s) {
    std::optional<int> asked;
    while (const auto signal = gate_.next()) {
        if (is_own_business(*signal)) {
            continue;
        }
        note(*signal, at_s, false);
        const int number = signal->signal;
        if (number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGQUIT) {
            asked = number;
        }
    }
    return asked;
}

void SignalRouter::stop_with(const linux_os::JobProcess& job) {
    // The terminal may stop the job before mapdiag has got its own signal, and the other way round.
    if (stop_signal_ && job.is_stopped()) {
        linux_os::stop_by_signal(*stop_signal_);
        stop_signal_.reset();
    }
}

void SignalRouter::note(const SignalInfo& signal, double at_s, bool passed_on) {
    if (seen_.size() < kMostNoted) {
        seen_.push_back({at_s, signal.signal, signal.sender, passed_on,
                         signal.sender == 0 ? "" : program_of(proc_, signal.sender)});
    }
}

}  // namespace mapdiag::run
