#include "mapdiag/linux/signals.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "mapdiag/linux/exec.h"
#include "mapdiag/linux/raw_fork.h"

namespace mapdiag::linux_os {
namespace {

constexpr int kLastSignal = 64;
constexpr int kFirstCounted = 32;  // the kernel's SIGRTMIN
constexpr int kAnswerWithinMs = 200;

void reset_to_default(int signal) {
    struct sigaction action = {};
    action.sa_handler = SIG_DFL;
    ::sigaction(signal, &action, nullptr);
}

// The number of the question that is answered, and the signals that had come by then.
struct Answer {
    std::uint64_t question;
    SignalCounts signals;
};

// A signal that mapdiag does not ask about soon was not one for the whole group: a person may have
// sent it to this process by a pattern of names.
constexpr std::int64_t kForgetAfterNs = 2'000'000'000;

std::int64_t now_ns() {
    timespec now = {};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// Keeps what came to this process, each for a moment.
class ComeLately {
  public:
    void read_all(int signal_fd) {
        signalfd_siginfo info = {};
        while (::read(signal_fd, &info, sizeof info) == sizeof info) {
            const auto number = static_cast<int>(info.ssi_signo);
            if (number < 1 || number > kLastSignal) {
                continue;
            }
            const auto index = static_cast<std::size_t>(number - 1);
            SignalCounts one = {};
            one[index] = 1;
            add_signals(counts_, one);
            came_at_[index] = now_ns();
            if (number == SIGCONT) {
                // mapdiag may have been stopped: what came in that time, it gets to see only now.
                came_at_.fill(now_ns());
            }
        }
    }

    SignalCounts take() {
        forget_old();
        return std::exchange(counts_, SignalCounts{});
    }

  private:
    void forget_old() {
        const auto now = now_ns();
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            if (now - came_at_[i] > kForgetAfterNs) {
                counts_[i] = 0;
            }
        }
    }

    SignalCounts counts_ = {};
    std::array<std::int64_t, 64> came_at_ = {};
};

[[noreturn]] void witness(int channel, std::size_t job_words) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_NAME, "signal-witness");
    show_last_words_only(job_words);
    keep_only_descriptors({channel});
    sigset_t all;
    ::sigfillset(&all);
    const int signals = ::signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    ComeLately lately;
    for (;;) {
        std::array<pollfd, 2> polled = {{{.fd = channel, .events = POLLIN, .revents = 0},
                                         {.fd = signals, .events = POLLIN, .revents = 0}}};
        if (::poll(polled.data(), polled.size(), -1) < 0) {
            continue;
        }
        lately.read_all(signals);
        if (polled[0].revents == 0) {
            continue;
        }
        Answer answer = {};
        if (::read(channel, &answer.question, sizeof answer.question) != sizeof answer.question) {
            ::_exit(0);
        }
        answer.signals = lately.take();
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

Result<GroupWitness> GroupWitness::start(std::size_t job_words) {
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
        witness(theirs.get(), job_words);
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

std::optional<SignalCounts> GroupWitness::take() {
    ++questions_;
    if (::send(channel_.get(), &questions_, sizeof questions_, MSG_NOSIGNAL) != sizeof questions_) {
        return std::nullopt;
    }
    SignalCounts signals = {};
    for (;;) {
        pollfd ready = {.fd = channel_.get(), .events = POLLIN, .revents = 0};
        Answer answer = {};
        if (::poll(&ready, 1, kAnswerWithinMs) != 1 ||
            ::recv(channel_.get(), &answer, sizeof answer, MSG_WAITALL) != sizeof answer) {
            add_signals(missed_, signals);
            return std::nullopt;
        }
        // A witness that slept answers the questions of that time first.
        add_signals(signals, answer.signals);
        if (answer.question == questions_) {
            add_signals(signals, std::exchange(missed_, SignalCounts{}));
            return signals;
        }
    }
}

SignalCounts GroupWitness::wake() {
    ::kill(pid_, SIGCONT);
    auto signals = take().value_or(SignalCounts{});
    signals[SIGCONT - 1] = 0;
    return signals;
}

void add_signals(SignalCounts& sum, const SignalCounts& more) {
    for (std::size_t i = 0; i < sum.size(); ++i) {
        const bool counted = static_cast<int>(i) + 1 >= kFirstCounted;
        const int most = counted ? std::numeric_limits<std::uint8_t>::max() : 1;
        sum[i] = static_cast<std::uint8_t>(std::min(sum[i] + more[i], most));
    }
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
