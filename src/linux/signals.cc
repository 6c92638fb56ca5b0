#include "mapdiag/linux/signals.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "mapdiag/linux/raw_fork.h"

namespace mapdiag::linux_os {
namespace {

constexpr int kLastSignal = 64;
constexpr int kAnswerWithinMs = 200;

void reset_to_default(int signal) {
    struct sigaction action = {};
    action.sa_handler = SIG_DFL;
    ::sigaction(signal, &action, nullptr);
}

// The number of the question that is answered, and the signals that had come by then.
struct Answer {
    std::uint64_t question;
    std::uint64_t signals;
};

// Takes every signal that waits for this process, without waiting.
std::uint64_t drain_pending() {
    sigset_t all;
    ::sigfillset(&all);
    constexpr timespec kNoWait = {};
    std::uint64_t seen = 0;
    for (;;) {
        const int signal = ::sigtimedwait(&all, nullptr, &kNoWait);
        if (signal > 0 && signal <= kLastSignal) {
            seen |= signal_bit(signal);
        } else if (signal < 0 && errno != EINTR) {
            return seen;
        }
    }
}

[[noreturn]] void witness(int channel) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_NAME, "mapdiag-witness");
    keep_only_descriptors({channel});
    for (;;) {
        std::uint64_t question = 0;
        const auto got = ::read(channel, &question, sizeof question);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got != sizeof question) {
            ::_exit(0);
        }
        const Answer answer = {question, drain_pending()};
        if (::write(channel, &answer, sizeof answer) != sizeof answer) {
            ::_exit(0);
        }
    }
}

// Sends the signal to this process with its default action, then blocks it again.
void raise_default(int signal) {
    reset_to_default(signal);
    sigset_t one;
    ::sigemptyset(&one);
    ::sigaddset(&one, signal);
    ::kill(::getpid(), signal);
    ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
    ::pthread_sigmask(SIG_BLOCK, &one, nullptr);
}

}  // namespace

Result<SignalGate> SignalGate::close() {
    sigset_t all;
    ::sigfillset(&all);
    InheritedSignals inherited;
    if (::sigprocmask(SIG_SETMASK, &all, &inherited.mask) != 0) {
        return std::unexpected(Error::from_errno("block", "signals"));
    }
    // With SIGCHLD ignored the kernel throws the statuses of children away.
    struct sigaction action = {};
    ::sigaction(SIGCHLD, nullptr, &action);
    inherited.child_signal_ignored = action.sa_handler == SIG_IGN;
    reset_to_default(SIGCHLD);
    Fd fd(::signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!fd) {
        return std::unexpected(Error::from_errno("make", "a signal descriptor"));
    }
    return SignalGate(std::move(fd), inherited);
}

std::optional<SignalInfo> SignalGate::next() {
    signalfd_siginfo info = {};
    if (::read(fd_.get(), &info, sizeof info) != sizeof info) {
        return std::nullopt;
    }
    return SignalInfo{static_cast<int>(info.ssi_signo), info.ssi_code,
                      static_cast<std::int32_t>(info.ssi_pid),
                      static_cast<std::intptr_t>(info.ssi_ptr)};
}

Result<GroupWitness> GroupWitness::start() {
    std::array<int, 2> pair = {};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) {
        return std::unexpected(Error::from_errno("make", "a socket pair"));
    }
    Fd ours(pair[0]);
    const Fd theirs(pair[1]);
    const auto pid = raw_fork();
    if (pid < 0) {
        return std::unexpected(Error::from_errno("start", "the signal witness"));
    }
    if (pid == 0) {
        witness(theirs.get());
    }
    return GroupWitness(pid, std::move(ours));
}

GroupWitness::~GroupWitness() {
    if (channel_) {
        channel_.reset();
        ::kill(pid_, SIGKILL);
        while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
}

std::optional<std::uint64_t> GroupWitness::take() {
    ++questions_;
    if (::send(channel_.get(), &questions_, sizeof questions_, MSG_NOSIGNAL) != sizeof questions_) {
        return std::nullopt;
    }
    std::uint64_t signals = 0;
    for (;;) {
        pollfd ready = {.fd = channel_.get(), .events = POLLIN, .revents = 0};
        Answer answer = {};
        if (::poll(&ready, 1, kAnswerWithinMs) != 1 ||
            ::recv(channel_.get(), &answer, sizeof answer, MSG_WAITALL) != sizeof answer) {
            missed_ |= signals;
            return std::nullopt;
        }
        // A witness that slept answers the questions of that time first.
        signals |= answer.signals;
        if (answer.question == questions_) {
            return signals | std::exchange(missed_, 0);
        }
    }
}

std::uint64_t GroupWitness::wake() {
    ::kill(pid_, SIGCONT);
    return take().value_or(0) & ~signal_bit(SIGCONT);
}

std::string signal_name(int signal) {
    if (const char* abbreviation = ::sigabbrev_np(signal)) {
        return std::string("SIG") + abbreviation;
    }
    if (signal >= SIGRTMIN && signal <= SIGRTMAX) {
        return signal == SIGRTMIN ? "SIGRTMIN" : "SIGRTMIN+" + std::to_string(signal - SIGRTMIN);
    }
    return "signal " + std::to_string(signal);
}

void end_by_signal(int signal) {
    // The job has left its core file already. A dump handler (core_pattern "|...") is called even
    // with a core limit of 0; a process that is not dumpable never gets there.
    const rlimit no_core = {.rlim_cur = 0, .rlim_max = 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::prctl(PR_SET_DUMPABLE, 0);
    raise_default(signal);
}

void stop_by_signal(int signal) {
    raise_default(signal);
}

}  // namespace mapdiag::linux_os
