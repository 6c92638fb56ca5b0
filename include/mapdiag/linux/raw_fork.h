#pragma once

#include <cstdint>
#include <initializer_list>

namespace mapdiag::linux_os {

/// fork(2) by clone3, without the C library's fork handlers: the child of a single-threaded process
/// may go on as usual, that of a threaded one may only make system calls. -1 with errno on failure.
std::int32_t raw_fork();

/// The same, with the child's pidfd and, where `group` is not -1, born inside that v2 cgroup
/// (CLONE_INTO_CGROUP, Linux 5.7). `pidfd` is close-on-exec.
std::int32_t raw_fork_into(int group, int* pidfd);

/// In a child: closes every descriptor but these.
void keep_only_descriptors(std::initializer_list<int> kept);

}  // namespace mapdiag::linux_os
