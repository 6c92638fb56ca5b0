#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "mapdiag/linux/output_relay.h"
#include "mapdiag/linux/raw_fork.h"

namespace mapdiag::linux_os {
namespace {

struct Kept {
    int from = -1;
    int to = -1;  ///< -1: dropped
};

// Nobody waits for the end of a file or of a terminal, but a pipe's reader does.
bool may_be_held_open(int fd) {
    struct stat status = {};
    return ::fstat(fd, &status) == 0 && (S_ISREG(status.st_mode) || S_ISCHR(status.st_mode));
}

// Runs in the child of a process with threads: system calls only.
[[noreturn]] void read_to_the_end(std::array<Kept, 2> kept) {
    ::setsid();
    ::prctl(PR_SET_NAME, "output-keeper");
    keep_only_descriptors({kept[0].from, kept[0].to, kept[1].from, kept[1].to});
    std::array<char, 65536> block;
    while (kept[0].from >= 0 || kept[1].from >= 0) {
        std::array<pollfd, 2> polled = {{{.fd = kept[0].from, .events = POLLIN, .revents = 0},
                                         {.fd = kept[1].from, .events = POLLIN, .revents = 0}}};
        if (::poll(polled.data(), polled.size(), -1) < 0) {
            continue;
        }
        for (std::size_t i = 0; i < kept.size(); ++i) {
            if (polled[i].revents == 0) {
                continue;
            }
            const auto got = ::read(kept[i].from, block.data(), block.size());
            if (got > 0 && kept[i].to >= 0) {
                (void)!::write(kept[i].to, block.data(), static_cast<std::size_t>(got));
            } else if (got == 0 || (got < 0 && errno != EINTR)) {
                kept[i].from = -1;
            }
        }
    }
    ::_exit(0);
}

}  // namespace

Result<std::int32_t> keep_reading(const std::vector<RelaySide>& sides) {
    std::array<Kept, 2> kept = {};
    for (std::size_t i = 0; i < sides.size() && i < kept.size(); ++i) {
        kept[i] = {sides[i].from.get(), may_be_held_open(sides[i].to) ? sides[i].to : -1};
    }
    const auto pid = raw_fork();
    if (pid < 0) {
        return std::unexpected(Error::from_errno("start", "a reader for what was left running"));
    }
    if (pid == 0) {
        read_to_the_end(kept);
    }
    return pid;
}

}  // namespace mapdiag::linux_os
