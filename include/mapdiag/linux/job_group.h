#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mapdiag/linux/cgroup_mounts.h"
#include "mapdiag/support/error.h"

namespace mapdiag::linux_os {

/// A memory limit in bytes and the group that sets it.
struct GroupLimit {
    std::uint64_t bytes = 0;
    std::string owner;
};

/// The limits that hold for a group made below `place`: the smallest found on the way up.
/// `swap`: on v1 memory and swap together (memory.memsw), on v2 swap alone. `cpu_max`: the text of
/// the tightest v2 cpu.max ("200000 100000"), and the cores that it means.
struct LimitsAbove {
    std::optional<GroupLimit> memory;
    std::optional<GroupLimit> swap;
    std::optional<std::string> cpu_max;
    std::optional<double> cpu_quota_cores;
};

/// Memory of a group by kind, in bytes; what the kernel does not tell is empty. `file` is without
/// shmem.
struct GroupSplit {
    std::optional<std::uint64_t> anon;
    std::optional<std::uint64_t> file;
    std::optional<std::uint64_t> shmem;
    std::optional<std::uint64_t> kernel;
    std::optional<std::uint64_t> swap;
    std::optional<std::uint64_t> dirty;
};

/// Event counters as the kernel keeps them; on v1 `max` is memory.failcnt.
struct GroupEvents {
    std::optional<std::uint64_t> low;
    std::optional<std::uint64_t> high;
    std::optional<std::uint64_t> max;
    std::optional<std::uint64_t> oom;
    std::optional<std::uint64_t> oom_kill;
    std::optional<std::uint64_t> oom_group_kill;
    std::optional<std::uint64_t> swap_max;  ///< v1: memory.memsw.failcnt
};

struct GroupCpu {
    double user_s = 0;
    double system_s = 0;
    std::optional<double> throttled_s;
};

/// One group above the job's, with its counters when the run began.
struct GroupAbove {
    std::string folder;
    std::optional<std::uint64_t> limit;
    GroupEvents at_start;  ///< local: without the groups below it
};

/// The job's own cgroup: made empty, entered by the job alone, removed at the end. While it exists,
/// its figures are the job's and nobody else's.
class JobGroup {
  public:
    JobGroup() = default;
    JobGroup(const JobGroup&) = delete;
    JobGroup& operator=(const JobGroup&) = delete;
    /// Removes the group where remove() was not called.
    virtual ~JobGroup() = default;

    virtual int version() const = 0;
    virtual const std::string& folder() const = 0;
    /// v2: the descriptor for clone3(CLONE_INTO_CGROUP). -1 on v1.
    virtual int clone_descriptor() const = 0;
    /// Descriptors into which the child writes "0" to put itself in, before it becomes the job.
    virtual const std::vector<int>& enter_descriptors() const = 0;
    /// The limits in force and whether they were set on this group by mapdiag.
    const LimitsAbove& limits() const { return limits_; }
    bool carries_limit() const { return carries_limit_; }
    const std::vector<GroupAbove>& above() const { return above_; }

    virtual Result<std::uint64_t> usage() const = 0;
    virtual Result<GroupSplit> split() const = 0;
    /// The highest charge ever, by the kernel's own count. v2 before 5.19 has none.
    virtual Result<std::uint64_t> peak() const = 0;
    /// The highest swap use by the kernel's own count: v2 since 6.5 only.
    virtual Result<std::uint64_t> swap_peak() const = 0;
    /// Whether the kernel accounts swap to groups at all.
    virtual bool accounts_swap() const = 0;
    /// Of this group and of those that the job made below it.
    virtual Result<GroupEvents> events() const = 0;
    /// Of this group alone.
    virtual GroupEvents own_events() const = 0;
    virtual Result<GroupCpu> cpu() const = 0;
    /// Seconds in which at least one process waited for memory (PSI "some").
    virtual Result<double> pressure_some() const = 0;
    /// The same for the disk.
    virtual Result<double> io_pressure_some() const = 0;
    /// Page faults that had to wait for the disk.
    virtual Result<std::uint64_t> major_faults() const = 0;
    /// v1: memory.oom_control of this group or one that the job made below it.
    virtual bool under_oom() const { return false; }
    virtual bool killer_disabled() const { return false; }

    /// Everything in the group and below it.
    virtual std::vector<std::int32_t> processes() const = 0;
    /// Moves what the job left running to mapdiag's own group and removes the group with those that
    /// the job made below it. Waits for a zombie that still holds it, two seconds at most.
    virtual Result<void> remove() = 0;

  protected:
    LimitsAbove limits_;
    std::vector<GroupAbove> above_;
    bool carries_limit_ = false;
};

/// Current local counters of a group above, for the difference over the run.
GroupEvents read_local_events(const std::string& folder, int version);
/// The limit that one group itself sets.
std::optional<std::uint64_t> read_own_limit(const std::string& folder, int version);
/// Its current charge.
std::optional<std::uint64_t> read_group_usage(const std::string& folder, int version);

/// The smallest limits on the way up from `place`, which may be any group in the hierarchy.
LimitsAbove find_limits(const CgroupPlace& place, int version);

/// A name that no other run on this machine has: the names of all groups of one run begin with it.
std::string make_group_name();

/// Makes the job's group below mapdiag's own in the hierarchy that controls memory. An error says
/// what stands in the way, in the user's terms.
Result<std::unique_ptr<JobGroup>> make_job_group_v1(const CgroupView& view,
                                                    const std::string& name);
Result<std::unique_ptr<JobGroup>> make_job_group_v2(const CgroupView& view,
                                                    const std::string& name);

/// SIGKILL to everything in the groups of that name around this process's own, and removes them.
/// For the watcher only, when mapdiag itself is gone.
void end_groups(const std::string& name);

}  // namespace mapdiag::linux_os
