#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mapdiag/linux/proc.h"

namespace mapdiag::linux_os {

/// Replaces this process by the command, looked for along PATH. Comes back only on failure, with
/// the errno.
int exec_command(const std::vector<std::string>& command);

/// SIGKILL to a process and everything below it. For the watcher only, when mapdiag itself is gone.
void kill_tree(const ProcFs& proc, std::int32_t root);

/// Which of stdin, stdout, stderr this process was started without.
struct MissingDescriptors {
    bool in = false;
    bool out = false;
    bool err = false;
};

/// Opens /dev/null (close-on-exec) in place of standard descriptors that are closed, so that no
/// file of ours gets their numbers. The job finds them closed, as it would without mapdiag.
MissingDescriptors reserve_standard_descriptors();

/// The inode of an open file; pipes are told apart by it. 0 where it can't be read.
std::uint64_t inode_of(int fd);

}  // namespace mapdiag::linux_os
