#pragma once

#include <cstdint>

#include "mapdiag/record/profile.h"
#include "mapdiag/run/profiler_system.h"

namespace mapdiag::run {

/// What decides whether a py-spy of ours may look into a process.
struct TraceFacts {
    int yama_scope = -1;      ///< 0 to 3; -1: no Yama
    bool capability = false;  ///< CAP_SYS_PTRACE
    bool same_user = true;
    bool filtered = false;  ///< a seccomp filter is set on mapdiag
    /// The process has capabilities that py-spy has not: the kernel asks for CAP_SYS_PTRACE then.
    bool stronger = false;
    bool memory_readable = true;  ///< to mapdiag itself
};

TraceFacts trace_facts(const ProfilerSystem& system, std::int32_t pid);

/// The kernel would refuse a py-spy, whatever py-spy itself says.
bool is_forbidden(const TraceFacts& facts);
/// The most likely cause of a refusal that did happen.
record::Denial explain_denial(const TraceFacts& facts);

}  // namespace mapdiag::run
