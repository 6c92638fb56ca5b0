#pragma once

#include <signal.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "mapdiag/support/error.h"
#include "mapdiag/support/fd.h"

namespace mapdiag::linux_os {

/// One signal that arrived, with what the kernel tells of it.
struct SignalInfo {
    int signal = 0;
    int code = 0;             ///< SI_USER, SI_QUEUE, SI_KERNEL, ...
    std::int32_t sender = 0;  ///< pid; 0 where the kernel sent it
    std::intptr_t value = 0;  ///< with SI_QUEUE
};

/// What the job is to get back of the signal state that mapdiag was started with.
struct InheritedSignals {
    sigset_t mask = {};
    bool child_signal_ignored = false;  ///< SIGCHLD was SIG_IGN, which mapdiag can't work with
};

/// Blocks every signal for this process, so that none ends or interrupts mapdiag, and hands them
/// out one by one. Dispositions stay as they were inherited: the job gets those.
class SignalGate {
  public:
    static Result<SignalGate> close();

    /// Readable when a signal waits.
    int descriptor() const { return fd_.get(); }
    std::optional<SignalInfo> next();
    const InheritedSignals& inherited() const { return inherited_; }

  private:
    SignalGate(Fd fd, const InheritedSignals& inherited)
        : fd_(std::move(fd)), inherited_(inherited) {}

    Fd fd_;
    InheritedSignals inherited_;
};

/// How often each signal came (index n-1 for signal n). Real-time signals are counted; of the
/// others the kernel itself keeps only one, so they are 0 or 1.
using SignalCounts = std::array<std::uint8_t, 64>;

/// A tiny process in mapdiag's process group that shows whether a signal was meant for the whole
/// group: it blocks everything and tells on request what reached it lately. The kernel gives a
/// group signal to the younger members first, so what has reached mapdiag has reached this one
/// already. It has neither mapdiag's name nor its command line, but the job's: `pkill mapdiag` must
/// not look like a signal to the group, and `pkill -f` of the job's words reaches the job itself as
/// well.
class GroupWitness {
  public:
    /// `job_words`: how many words at the end of mapdiag's command line are the job's.
    static Result<GroupWitness> start(std::size_t job_words);

    GroupWitness(GroupWitness&&) noexcept = default;
    GroupWitness& operator=(GroupWitness&&) = delete;
    GroupWitness(const GroupWitness&) = delete;
    GroupWitness& operator=(const GroupWitness&) = delete;
    /// Ends and reaps the process.
    ~GroupWitness();

    std::int32_t pid() const { return pid_; }
    /// The signals that reached the group since the last call; nothing where the witness itself is
    /// gone or stopped.
    std::optional<SignalCounts> take();
    /// Continues a stopped witness; gives what had reached it but for this SIGCONT.
    SignalCounts wake();

  private:
    GroupWitness(std::int32_t pid, Fd channel) : pid_(pid), channel_(std::move(channel)) {}

    std::int32_t pid_;
    Fd channel_;
    std::uint64_t questions_ = 0;
    SignalCounts missed_ = {};
};

/// Adds to what came before.
void add_signals(SignalCounts& sum, const SignalCounts& more);

constexpr std::uint64_t signal_bit(int signal) {
    return 1ULL << (signal - 1);
}

/// "SIGTERM", "SIGRTMIN+3"; for a person.
std::string signal_name(int signal);

/// Ends this process by the signal, as the job was, without a core file of its own. Comes back only
/// where that is impossible (process 1 of a pid namespace).
void end_by_signal(int signal);

/// Stops this process as the terminal's ^Z would, until somebody continues it.
void stop_by_signal(int signal);

}  // namespace mapdiag::linux_os
