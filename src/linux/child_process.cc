#include "mapdiag/linux/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

namespace mapdiag::linux_os {
namespace {

using Clock = std::chrono::steady_clock;

// waitid()'s name for P_PIDFD is an enumerator in new C libraries and missing in older ones.
constexpr idtype_t kByPidfd = static_cast<idtype_t>(3);

// The environment of the helper: pointers into mapdiag's own and into `changes`.
std::vector<char*> environment_with(const std::vector<std::string>& changes) {
    std::vector<char*> all;
    const auto name_of = [](std::string_view entry) { return entry.substr(0, entry.find('=')); };
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const auto replaced = std::ranges::any_of(
            changes, [&](const std::string& change) { return name_of(change) == name_of(*entry); });
        if (!replaced) {
            all.push_back(*entry);
        }
    }
    for (const auto& change : changes) {
        all.push_back(const_cast<char*>(change.c_str()));
    }
    all.push_back(nullptr);
    return all;
}

// posix_spawn's two option objects, freed in any case.
struct SpawnOptions {
    posix_spawnattr_t attributes = {};
    posix_spawn_file_actions_t files = {};

    SpawnOptions() {
        ::posix_spawnattr_init(&attributes);
        ::posix_spawn_file_actions_init(&files);
    }
    SpawnOptions(const SpawnOptions&) = delete;
    SpawnOptions& operator=(const SpawnOptions&) = delete;
    ~SpawnOptions() {
        ::posix_spawnattr_destroy(&attributes);
        ::posix_spawn_file_actions_destroy(&files);
    }
};

// posix_spawn makes only system calls between its vfork and the exec, which is what a process with
// threads needs, and reports a failed exec.
int spawn(std::int32_t* pid, const HelperStart& start, int talk) {
    SpawnOptions options;
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&options.attributes, &none);
    ::posix_spawnattr_setsigdefault(&options.attributes, &all);
    ::posix_spawnattr_setflags(&options.attributes,
                               POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
    ::posix_spawn_file_actions_addopen(&options.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&options.files, talk, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&options.files, talk, STDERR_FILENO);
    ::posix_spawn_file_actions_addclosefrom_np(&options.files, STDERR_FILENO + 1);

    std::vector<char*> arguments;
    for (const auto& word : start.command) {
        arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);
    auto environment = environment_with(start.environment);
    return ::posix_spawnp(pid, arguments[0], &options.files, &options.attributes, arguments.data(),
                          environment.data());
}

std::optional<HelperEnd> end_from(const siginfo_t& info) {
    if (info.si_code == CLD_EXITED) {
        return HelperExited{info.si_status};
    }
    return HelperKilled{info.si_status};
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const HelperStart& start) {
    if (start.command.empty()) {
        return std::unexpected(Error::because("start", "a helper", "no program is named"));
    }
    std::array<int, 2> ends;
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return std::unexpected(Error::from_errno("make a pipe for", start.command[0]));
    }
    Fd talk(ends[0]);
    // A dup2 onto itself would leave close-on-exec set: mapdiag may have been started without 1
    // or 2.
    Fd helpers_end(::fcntl(ends[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    ::close(ends[1]);
    ::fcntl(talk.get(), F_SETFL, O_NONBLOCK);

    std::int32_t pid = -1;
    if (const int failed = spawn(&pid, start, helpers_end.get()); failed != 0) {
        return std::unexpected(Error("start", start.command[0], failed));
    }
    // The child is not reaped by anyone else, so its pid can't have been used again.
    Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!pidfd) {
        auto error = Error::from_errno("get a pidfd of", start.command[0]);
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
        return std::unexpected(std::move(error));
    }
    return ChildProcess(pid, std::move(pidfd), std::move(talk), start.output_limit);
}

ChildProcess::ChildProcess(std::int32_t pid, Fd pidfd, Fd talk, std::size_t limit)
    : pid_(pid),
      pidfd_(std::move(pidfd)),
      talk_(std::move(talk)),
      half_limit_(std::max<std::size_t>(limit / 2, 1)) {}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(other.pid_),
      pidfd_(std::move(other.pidfd_)),
      talk_(std::move(other.talk_)),
      half_limit_(other.half_limit_),
      first_(std::move(other.first_)),
      last_(std::move(other.last_)),
      end_(other.end_) {}

ChildProcess::~ChildProcess() {
    if (!pidfd_ || end_) {
        return;
    }
    signal_group(SIGKILL);
    // SIGKILL ends all but a process in an uninterruptible wait; that one is left to process 1.
    wait(std::chrono::seconds(1));
}

void ChildProcess::poll() {
    if (end_ || !pidfd_) {
        return;
    }
    siginfo_t info = {};
    const auto reaped =
        ::waitid(kByPidfd, static_cast<id_t>(pidfd_.get()), &info, WEXITED | WNOHANG);
    if (reaped == 0 && info.si_pid != 0) {
        end_ = end_from(info);
    }
    // After the end was seen, so that the last words are not missed.
    take_output();
}

bool ChildProcess::wait(std::chrono::nanoseconds at_most) {
    const auto until = Clock::now() + at_most;
    for (poll(); !end_; poll()) {
        const auto left = until - Clock::now();
        if (left <= std::chrono::nanoseconds::zero()) {
            return false;
        }
        // Its talk is taken now and then too: a full pipe would stop it.
        const auto step =
            std::min<std::chrono::nanoseconds>(left, std::chrono::milliseconds(20)).count();
        const timespec timeout = {.tv_sec = step / 1000000000, .tv_nsec = step % 1000000000};
        pollfd polled = {.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
        ::ppoll(&polled, 1, &timeout, nullptr);
    }
    return true;
}

void ChildProcess::signal(int number) const {
    if (!end_ && pidfd_) {
        ::syscall(SYS_pidfd_send_signal, pidfd_.get(), number, nullptr, 0);
    }
}

void ChildProcess::signal_group(int number) const {
    if (!end_ && pidfd_) {
        // The group's number is the helper's pid, which is not free while the helper is not reaped.
        ::kill(-pid_, number);
        signal(number);
    }
}

void ChildProcess::take_output() {
    std::array<char, 16384> chunk;
    // Bounded: a helper that prints without end must not hold the caller here.
    for (int round = 0; round < 16; ++round) {
        const auto got = ::read(talk_.get(), chunk.data(), chunk.size());
        if (got <= 0) {
            return;
        }
        keep(chunk.data(), static_cast<std::size_t>(got));
    }
}

void ChildProcess::keep(const char* bytes, std::size_t size) {
    const auto to_first = std::min(size, half_limit_ - std::min(half_limit_, first_.size()));
    first_.append(bytes, to_first);
    last_.append(bytes + to_first, size - to_first);
    if (last_.size() > half_limit_) {
        last_.erase(0, last_.size() - half_limit_);
    }
}

std::string ChildProcess::output() const {
    return first_ + last_;
}

}  // namespace mapdiag::linux_os
