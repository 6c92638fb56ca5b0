#include "mapdiag/linux/exec.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "mapdiag/support/fd.h"
#include "mapdiag/support/text.h"

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

bool program_exists(const std::string& program) {
    if (program.find('/') != std::string::npos) {
        return ::access(program.c_str(), F_OK) == 0;
    }
    const char* path = std::getenv("PATH");
    for (const auto folder : split(path != nullptr ? path : "/bin:/usr/bin", ':')) {
        const auto candidate = (folder.empty() ? "." : std::string(folder)) + '/' + program;
        if (::access(candidate.c_str(), F_OK) == 0) {
            return true;
        }
    }
    return false;
}

void kill_holders(const ProcFs& proc, const std::vector<std::uint64_t>& pipe_inodes) {
    for (const auto inode : pipe_inodes) {
        for (const auto pid : proc.pipe_holders(inode)) {
            if (pid != ::getpid()) {
                ::kill(pid, SIGKILL);
            }
        }
    }
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

std::vector<int> inherited_descriptors() {
    std::vector<int> found;
    std::error_code failure;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", failure)) {
        const auto number = find_u64(entry.path().filename().native());
        if (!number || *number <= STDERR_FILENO) {
            continue;
        }
        const auto fd = static_cast<int>(*number);
        const int flags = ::fcntl(fd, F_GETFD);
        if (flags >= 0 && (flags & FD_CLOEXEC) == 0) {
            found.push_back(fd);
        }
    }
    return found;
}

void let_go_of_standard_descriptor(int fd) {
    const Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (nothing) {
        ::dup3(nothing.get(), fd, O_CLOEXEC);
    }
}

void show_last_words_only(std::size_t words) {
    // 23 (mapdiag) S 1 ...   fields 48 and 49: where the arguments begin and end in memory
    std::array<char, 4096> stat = {};
    const Fd file(::open("/proc/self/stat", O_RDONLY | O_CLOEXEC));
    const auto size = file ? ::read(file.get(), stat.data(), stat.size() - 1) : -1;
    if (size <= 0) {
        return;
    }
    std::string_view text(stat.data(), static_cast<std::size_t>(size));
    text.remove_prefix(std::min(text.rfind(')') + 1, text.size()));
    std::array<std::uintptr_t, 2> ends = {};
    constexpr int kArgumentsBegin = 48;
    for (int field = 2; field < kArgumentsBegin + 2 && !text.empty();) {
        const auto blank = text.find(' ');
        const auto word = text.substr(0, blank);
        text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
        if (field >= kArgumentsBegin) {
            ends[static_cast<std::size_t>(field - kArgumentsBegin)] =
                static_cast<std::uintptr_t>(find_u64(trim(word)).value_or(0));
        }
        ++field;
    }
    auto* const begin = reinterpret_cast<char*>(ends[0]);
    auto* const end = reinterpret_cast<char*>(ends[1]);
    if (begin == nullptr || end <= begin) {
        return;
    }
    auto* kept = end;
    for (std::size_t found = 0; kept > begin && (found < words || kept[-1] != '\0');) {
        --kept;
        found += kept > begin && kept[-1] == '\0' ? 1 : 0;
    }
    std::memmove(begin, kept, static_cast<std::size_t>(end - kept));
    std::memset(begin + (end - kept), 0, static_cast<std::size_t>(kept - begin));
}

std::uint64_t inode_of(int fd) {
    struct stat status = {};
    return ::fstat(fd, &status) == 0 ? status.st_ino : 0;
}

}  // namespace mapdiag::linux_os
