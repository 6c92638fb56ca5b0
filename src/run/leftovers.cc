#include "leftovers.h"

#include <algorithm>

#include "mapdiag/support/text.h"

namespace mapdiag::run {
namespace {

constexpr std::size_t kMostNamed = 100;

}  // namespace

std::string program_of(const linux_os::ProcFs& proc, std::int32_t pid) {
    if (const auto executable = proc.executable(pid)) {
        return printable(executable->substr(executable->rfind('/') + 1));
    }
    const auto stat = proc.stat(pid);
    return stat ? printable(stat->name) : std::string();
}

std::vector<record::Leftover> find_leftovers(const linux_os::ProcFs& proc,
                                             const std::vector<std::int32_t>& candidates,
                                             const std::vector<std::uint64_t>& pipe_inodes) {
    std::vector<record::Leftover> found;
    for (const auto pid : candidates) {
        const auto stat = proc.stat(pid);
        if (!stat || stat->state == 'Z' || stat->state == 'X' || found.size() == kMostNamed) {
            continue;
        }
        const bool holds = std::ranges::any_of(
            pipe_inodes, [&](std::uint64_t inode) { return proc.holds_pipe(pid, inode); });
        found.push_back({pid, program_of(proc, pid), holds, stat->state == 'T'});
    }
    return found;
}

}  // namespace mapdiag::run
