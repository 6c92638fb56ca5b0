#pragma once

#include <cstdint>
#include <vector>

#include "mapdiag/linux/proc.h"
#include "mapdiag/record/record.h"

namespace mapdiag::run {

/// What the job left running: those of `candidates` that still live, by program name, with whether
/// they hold one of the output pipes (by inode) open. Not more than a hundred are named.
std::vector<record::Leftover> find_leftovers(const linux_os::ProcFs& proc,
                                             const std::vector<std::int32_t>& candidates,
                                             const std::vector<std::uint64_t>& pipe_inodes);

/// The name of the program that a process runs, without its folder; comm where that can't be read,
/// empty where it is gone.
std::string program_of(const linux_os::ProcFs& proc, std::int32_t pid);

}  // namespace mapdiag::run
