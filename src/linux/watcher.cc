#include "mapdiag/linux/watcher.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "mapdiag/linux/exec.h"
#include "mapdiag/linux/raw_fork.h"

namespace mapdiag::linux_os {
namespace {

// A message to the watcher is a pid; this one is none.
constexpr std::int32_t kDismissed = -1;
constexpr char kReady = 'r';

// The watcher must not keep a terminal or a caller's pipe open.
void leave_standard_streams() {
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (null >= 0) {
            ::dup2(null, fd);
        } else {
            ::close(fd);
        }
    }
}

[[noreturn]] void watch(int line, const Watcher::Orphaned& when_orphaned) {
    std::int32_t job = 0;
    for (;;) {
        std::int32_t word = 0;
        const auto got = ::read(line, &word, sizeof word);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got != sizeof word) {
            when_orphaned(job);
            ::_exit(0);
        }
        if (word == kDismissed) {
            ::_exit(0);
        }
        job = word;
    }
}

void wait_until_ready(int ready) {
    char word = 0;
    while (::read(ready, &word, 1) < 0 && errno == EINTR) {
    }
}

}  // namespace

Result<Watcher> Watcher::start(const Orphaned& when_orphaned, const std::vector<int>& not_kept) {
    std::array<int, 2> ends = {};
    std::array<int, 2> ready = {};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return std::unexpected(Error::from_errno("make", "a pipe"));
    }
    Fd theirs(ends[0]);
    Fd ours(ends[1]);
    if (::pipe2(ready.data(), O_CLOEXEC) != 0) {
        return std::unexpected(Error::from_errno("make", "a pipe"));
    }
    const Fd ready_ours(ready[0]);
    Fd ready_theirs(ready[1]);
    const auto pid = raw_fork();
    if (pid < 0) {
        return std::unexpected(Error::from_errno("start", "the watcher"));
    }
    if (pid == 0) {
        ::setsid();
        // Under a name that a SIGKILL to everything called mapdiag does not match.
        ::prctl(PR_SET_NAME, "job-watcher");
        show_last_words_only(0);
        ours.reset();
        (void)!::write(ready_theirs.get(), &kReady, 1);
        ready_theirs.reset();
        for (const int fd : not_kept) {
            ::close(fd);
        }
        leave_standard_streams();
        watch(theirs.get(), when_orphaned);
    }
    ready_theirs.reset();
    wait_until_ready(ready_ours.get());
    return Watcher(pid, std::move(ours));
}

void Watcher::tell_job(std::int32_t pid) const {
    (void)!::write(line_.get(), &pid, sizeof pid);
}

void Watcher::dismiss() {
    if (!line_) {
        return;
    }
    (void)!::write(line_.get(), &kDismissed, sizeof kDismissed);
    line_.reset();
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace mapdiag::linux_os
