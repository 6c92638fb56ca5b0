#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "mapdiag/linux/proc.h"

namespace mapdiag::run {

/// A process of the job that runs a Python now, as it was when that was noticed.
struct PythonSeen {
    linux_os::ProcessId id;
    std::uint64_t stack_start = 0;  ///< another one after each exec
    std::string executable;
    std::vector<std::int32_t> ancestors;  ///< in the job, nearest first
    bool parent_is_uv = false;
};

/// Keeps the list of the job's processes and notices those that become a Python: newly started, or
/// by an exec in a process that was something else, or another Python, before. One look costs about
/// 3 us for a known process and 15 us for a new one.
class ProcessWatch {
  public:
    explicit ProcessWatch(const linux_os::ProcFs& proc) : proc_(proc) {}

    /// The Pythons that are new since the last look. `skip` tells pids that are not the job's.
    std::vector<PythonSeen> look(std::span<const std::int32_t> pids,
                                 const std::function<bool(std::int32_t)>& skip);

  private:
    struct Known {
        linux_os::ProcessId id;
        std::uint64_t stack_start = 0;
        std::int32_t parent = 0;
        std::string executable;
        std::uint64_t round = 0;
        int unready = 0;  ///< looks at it without arguments, in the middle of an exec
    };
    bool refresh(std::int32_t pid, Known& known, bool thorough) const;
    PythonSeen seen(const Known& known) const;

    const linux_os::ProcFs& proc_;
    std::unordered_map<std::int32_t, Known> known_;
    std::uint64_t round_ = 0;
};

}  // namespace mapdiag::run
