#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mapdiag/linux/proc.h"

namespace mapdiag::linux_os {

/// Replaces this process by the command, looked for along PATH. Comes back only on failure, with the
/// errno.
int exec_command(const std::vector<std::string>& command);

/// SIGKILL to a process and everything below it. For the watcher only, when mapdiag itself is gone.
void kill_tree(const ProcFs& proc, std::int32_t root);

/// The inode of an open file; pipes are told apart by it. 0 where it can't be read.
std::uint64_t inode_of(int fd);

}  // namespace mapdiag::linux_os
