#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mapdiag/linux/proc.h"

namespace mapdiag::linux_os {

/// Replaces this process by the command, looked for along PATH. Comes back only on failure, with
/// the errno.
int exec_command(const std::vector<std::string>& command);

/// Whether a program of that name is anywhere along PATH, or at its own path. execvp() says
/// "permission denied" of a program that is nowhere when one of PATH's folders can't be looked
/// into.
bool program_exists(const std::string& program);

/// SIGKILL to a process and everything below it. For the watcher only, when mapdiag itself is gone.
void kill_tree(const ProcFs& proc, std::int32_t root);

/// SIGKILL to every process that has one of these pipes open: what has lost its parents is found by
/// the output that it still writes. For the watcher only.
void kill_holders(const ProcFs& proc, const std::vector<std::uint64_t>& pipe_inodes);

/// Which of stdin, stdout, stderr this process was started without.
struct MissingDescriptors {
    bool in = false;
    bool out = false;
    bool err = false;
};

/// Opens /dev/null (close-on-exec) in place of standard descriptors that are closed, so that no
/// file of ours gets their numbers. The job finds them closed, as it would without mapdiag.
MissingDescriptors reserve_standard_descriptors();

/// The descriptors above stderr that this process was started with and that a program which it
/// execs would get. To be asked before mapdiag opens anything without close-on-exec.
std::vector<int> inherited_descriptors();

/// Puts /dev/null in place of a standard descriptor: whoever is at its other end sees it closed.
void let_go_of_standard_descriptor(int fd);

/// Lets this process's command line, as others see it, show its last words only. System calls only:
/// for the child of a fork.
void show_last_words_only(std::size_t words);

/// The inode of an open file; pipes are told apart by it. 0 where it can't be read.
std::uint64_t inode_of(int fd);

}  // namespace mapdiag::linux_os
