#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mapdiag/linux/control_folder.h"
#include "mapdiag/linux/job_group.h"
#include "mapdiag/support/error.h"

namespace mapdiag::linux_os {

/// Swap that is left to a job on v1 beside its memory limit: where the limits of memory and of
/// memory with swap are equal, the kernel counts the hits of neither.
inline constexpr std::uint64_t kSwapLeftOnV1 = 1U << 20;

/// Limits the memory of the job's own group to `bytes`, with no swap on top: v2 memory.max,
/// memory.swap.max 0 and memory.oom.group 1, so that the whole job dies and nothing else; v1
/// memory.limit_in_bytes and, where swap is accounted, memory.memsw.limit_in_bytes (v1 can't kill a
/// group as one). The limit must be below the one that the group carries.
Result<void> set_memory_limit(const JobGroup& group, std::uint64_t bytes);

/// How much memory the groups above the job and the machine leave, in bytes: the smallest of limit
/// less use (file cache that can be dropped does not count as use) on the way up, and MemAvailable.
Result<std::uint64_t> find_memory_room(const std::vector<GroupAbove>& above, int version,
                                       const std::string& proc = "/proc");

/// MemTotal of the machine in bytes.
std::optional<std::uint64_t> machine_memory(const std::string& proc = "/proc");

/// "CORES" as the kernel's quota and period in microseconds; the period is 100 ms, longer where the
/// quota would be below the kernel's least one of 1 ms (sched/core.c, min_cfs_quota_period).
struct CpuQuota {
    std::uint64_t quota_us;
    std::uint64_t period_us;
};
CpuQuota quota_of(double cores);

/// The limit of CPU time of one job: on v2 cpu.max of its own group, on v1 a group of its own in
/// the cpu hierarchy (or the quota of the group that is there already, where cpu and cpuacct are
/// one hierarchy). While it exists the limit holds.
class CpuLimit {
  public:
    /// An error says why the job can't be held to it.
    static Result<CpuLimit> set(const JobGroup& group, const std::string& group_name, double cores);

    CpuLimit(CpuLimit&& other) noexcept = default;
    CpuLimit& operator=(CpuLimit&& other) noexcept = default;
    CpuLimit(const CpuLimit&) = delete;
    CpuLimit& operator=(const CpuLimit&) = delete;
    ~CpuLimit() { (void)remove(); }

    /// v1: the file that takes "0" to enter the group; -1 where the job is in it anyway.
    int enter_descriptor() const { return entrance_.get(); }
    /// Time for which the quota stopped the job.
    std::optional<double> throttled_s() const;
    /// Removes the v1 group. To be called before the job's own group is removed.
    Result<void> remove();

  private:
    CpuLimit() = default;

    std::optional<ControlFolder> group_;  ///< v1: where the quota is
    std::optional<ControlFolder> home_;   ///< v1: set where the group is this object's own
    Fd entrance_;
};

/// SIGKILL to everything in the job's group and below it, once; on v2 5.14 and newer at once.
void kill_group(const JobGroup& group);

}  // namespace mapdiag::linux_os
