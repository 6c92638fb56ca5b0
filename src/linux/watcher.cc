#include "mapdiag/linux/watcher.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "mapdiag/linux/raw_fork.h"

namespace mapdiag::linux_os {
namespace {

constexpr char kDismissed = 'd';

// The watcher must not keep a terminal or a caller's pipe open.
void leave_standard_streams() {
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        ::dup2(null, fd);
    }
}

[[noreturn]] void watch(int line, const std::function<void()>& when_orphaned) {
    char word = 0;
    ssize_t got = 0;
    do {
        got = ::read(line, &word, 1);
    } while (got < 0 && errno == EINTR);
    if (got != 1 || word != kDismissed) {
        when_orphaned();
    }
    ::_exit(0);
}

}  // namespace

Result<Watcher> Watcher::start(const std::function<void()>& when_orphaned,
                               const std::vector<int>& not_kept) {
    std::array<int, 2> ends = {};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return std::unexpected(Error::from_errno("make", "a pipe"));
    }
    Fd theirs(ends[0]);
    Fd ours(ends[1]);
    const auto pid = raw_fork();
    if (pid < 0) {
        return std::unexpected(Error::from_errno("start", "the watcher"));
    }
    if (pid == 0) {
        ::setsid();
        ::prctl(PR_SET_NAME, "mapdiag-watcher");
        ours.reset();
        for (const int fd : not_kept) {
            ::close(fd);
        }
        leave_standard_streams();
        watch(theirs.get(), when_orphaned);
    }
    return Watcher(pid, std::move(ours));
}

void Watcher::dismiss() {
    if (!line_) {
        return;
    }
    (void)!::write(line_.get(), &kDismissed, 1);
    line_.reset();
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace mapdiag::linux_os
