#include "mapdiag/linux/raw_fork.h"

#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace mapdiag::linux_os {
namespace {

std::int32_t clone_process(clone_args& arguments) {
    return static_cast<std::int32_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
}

// Some containers' seccomp profiles refuse clone3 (ENOSYS, or EPERM in older ones).
bool clone3_refused() {
    return errno == ENOSYS || errno == EPERM;
}

std::int32_t plain_fork_with_pidfd(int* pidfd) {
    const auto pid = static_cast<std::int32_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    if (pid > 0) {
        *pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
    }
    return pid;
}

}  // namespace

std::int32_t raw_fork() {
    clone_args arguments = {};
    arguments.exit_signal = SIGCHLD;
    const auto pid = clone_process(arguments);
    if (pid < 0 && clone3_refused()) {
        return static_cast<std::int32_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    }
    return pid;
}

std::int32_t raw_fork_into(int group, int* pidfd) {
    *pidfd = -1;
    clone_args arguments = {};
    arguments.exit_signal = SIGCHLD;
    arguments.flags = CLONE_PIDFD;
    arguments.pidfd = reinterpret_cast<std::uintptr_t>(pidfd);
    if (group >= 0) {
        arguments.flags |= CLONE_INTO_CGROUP;
        arguments.cgroup = static_cast<std::uint64_t>(group);
    }
    const auto pid = clone_process(arguments);
    if (pid < 0 && group < 0 && clone3_refused()) {
        return plain_fork_with_pidfd(pidfd);
    }
    return pid;
}

void keep_only_descriptors(std::initializer_list<int> kept) {
    std::array<int, 32> sorted = {};
    std::size_t count = 0;
    for (const int fd : kept) {
        if (fd >= 0 && count < sorted.size()) {
            sorted[count++] = fd;
        }
    }
    std::sort(sorted.begin(), sorted.begin() + count);
    unsigned first = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const auto fd = static_cast<unsigned>(sorted[i]);
        if (fd > first) {
            ::syscall(SYS_close_range, first, fd - 1, 0);
        }
        first = fd + 1;
    }
    ::syscall(SYS_close_range, first, ~0U, 0);
}

}  // namespace mapdiag::linux_os
