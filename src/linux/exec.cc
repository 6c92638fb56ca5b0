#include "mapdiag/linux/exec.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace mapdiag::linux_os {

int exec_command(const std::vector<std::string>& command) {
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (const auto& word : command) {
        arguments.push_back(const_cast<char*>(word.c_str()));  // execvp's type; it writes nothing
    }
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    return errno;
}

void kill_tree(const ProcFs& proc, std::int32_t root) {
    // A process that is stopped makes no more of them: stop what is there until no new one appears,
    // then end them all.
    std::vector<std::int32_t> pids;
    for (int round = 0; round < 100; ++round) {
        auto found = proc.descendants(root);
        found.push_back(root);
        const bool complete = found.size() <= pids.size();
        pids = std::move(found);
        for (const auto pid : pids) {
            ::kill(pid, SIGSTOP);
        }
        if (complete) {
            break;
        }
    }
    for (const auto pid : pids) {
        ::kill(pid, SIGKILL);
    }
}

MissingDescriptors reserve_standard_descriptors() {
    MissingDescriptors missing;
    const auto reserve = [](int fd) {
        if (::fcntl(fd, F_GETFD) >= 0) {
            return false;
        }
        // The lowest free number is this one, since those below are open by now.
        (void)::open("/dev/null", O_RDWR | O_CLOEXEC);
        return true;
    };
    missing.in = reserve(STDIN_FILENO);
    missing.out = reserve(STDOUT_FILENO);
    missing.err = reserve(STDERR_FILENO);
    return missing;
}

std::uint64_t inode_of(int fd) {
    struct stat status = {};
    return ::fstat(fd, &status) == 0 ? status.st_ino : 0;
}

}  // namespace mapdiag::linux_os
