#include "mapdiag/linux/containment.h"

#include <signal.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "group_common.h"
#include "mapdiag/support/fd.h"
#include "mapdiag/support/text.h"

namespace mapdiag::linux_os {
namespace {

constexpr std::uint64_t kPeriodUs = 100'000;
constexpr std::uint64_t kLongestPeriodUs = 1'000'000;
constexpr std::uint64_t kLeastQuotaUs = 1'000;

// Missing where swap is not accounted; memory with swap may not be less than memory.
Result<void> set_memory_limit_v1(const ControlFolder& group, std::uint64_t bytes) {
    if (auto set = group.write("memory.limit_in_bytes", std::to_string(bytes)); !set) {
        return set;
    }
    return group.has("memory.memsw.limit_in_bytes")
               ? group.write("memory.memsw.limit_in_bytes", std::to_string(bytes + kSwapLeftOnV1))
               : Result<void>{};
}

Result<void> set_memory_limit_v2(const ControlFolder& group, std::uint64_t bytes) {
    if (auto set = group.write("memory.max", std::to_string(bytes)); !set) {
        return set;
    }
    if (group.has("memory.swap.max")) {
        if (auto set = group.write("memory.swap.max", "0"); !set) {
            return set;
        }
    }
    // Since 4.19.
    return group.has("memory.oom.group") ? group.write("memory.oom.group", "1") : Result<void>{};
}

// File cache that the kernel can drop: without shmem, and without what is still to be written.
std::uint64_t droppable(const ControlFolder& group, int version) {
    const auto value = [&](const char* v1, const char* v2) {
        return group.find_value("memory.stat", version == 1 ? v1 : v2).value_or(0);
    };
    const auto file = value("total_cache", "file");
    const auto kept = value("total_shmem", "shmem") + value("total_dirty", "file_dirty");
    return file - std::min(file, kept);
}

std::optional<std::uint64_t> room_in(const GroupAbove& above, int version) {
    const auto group = ControlFolder::open(above.folder);
    const auto usage = read_group_usage(above.folder, version);
    if (!above.limit || !group || !usage) {
        return std::nullopt;
    }
    const auto used = *usage - std::min(*usage, droppable(*group, version));
    return *above.limit - std::min(*above.limit, used);
}

// MemTotal:       24588340 kB
// MemAvailable:   20588340 kB
std::optional<std::uint64_t> find_in_meminfo(const std::string& proc, std::string_view key) {
    const auto meminfo = read_file(proc + "/meminfo");
    if (!meminfo) {
        return std::nullopt;
    }
    for (const auto line : split(*meminfo, '\n')) {
        const auto words = split_words(line);
        if (words.size() >= 2 && words[0] == key) {
            const auto kib = find_u64(words[1]);
            return kib ? std::optional(*kib * 1024) : std::nullopt;
        }
    }
    return std::nullopt;
}

std::string parent_of(const std::string& folder) {
    return folder.substr(0, folder.rfind('/'));
}

Result<void> set_quota_v2(const JobGroup& job, const CpuQuota& quota) {
    const auto group = ControlFolder::open(job.folder());
    const auto parent = ControlFolder::open(parent_of(job.folder()));
    if (!group || !parent) {
        return std::unexpected(group ? parent.error() : group.error());
    }
    if (!group->has("cpu.max")) {
        if (auto on = parent->write("cgroup.subtree_control", "+cpu"); !on) {
            return on;
        }
    }
    return group->write("cpu.max",
                        std::to_string(quota.quota_us) + ' ' + std::to_string(quota.period_us));
}

// The period first: a quota that is more than the group above has is refused by the kernel.
Result<void> set_quota_v1(const ControlFolder& group, const CpuQuota& quota) {
    if (auto set = group.write("cpu.cfs_period_us", std::to_string(quota.period_us)); !set) {
        return set;
    }
    return group.write("cpu.cfs_quota_us", std::to_string(quota.quota_us));
}

}  // namespace

Result<void> set_memory_limit(const JobGroup& job, std::uint64_t bytes) {
    const auto group = ControlFolder::open(job.folder());
    if (!group) {
        return std::unexpected(group.error());
    }
    return job.version() == 1 ? set_memory_limit_v1(*group, bytes)
                              : set_memory_limit_v2(*group, bytes);
}

Result<std::uint64_t> find_memory_room(const std::vector<GroupAbove>& above, int version,
                                       const std::string& proc) {
    auto room = find_in_meminfo(proc, "MemAvailable:");
    for (const auto& group : above) {
        if (const auto left = room_in(group, version)) {
            room = std::min(room.value_or(*left), *left);
        }
    }
    return room ? Result<std::uint64_t>(*room)
                : std::unexpected(Error::because("find out how much memory is left in",
                                                 proc + "/meminfo", "it has no MemAvailable"));
}

std::optional<std::uint64_t> machine_memory(const std::string& proc) {
    return find_in_meminfo(proc, "MemTotal:");
}

CpuQuota quota_of(double cores) {
    auto period = kPeriodUs;
    while (cores * static_cast<double>(period) < static_cast<double>(kLeastQuotaUs) &&
           period < kLongestPeriodUs) {
        period = std::min(period * 2, kLongestPeriodUs);
    }
    const auto quota = std::llround(cores * static_cast<double>(period));
    return {std::max(static_cast<std::uint64_t>(quota), kLeastQuotaUs), period};
}

Result<CpuLimit> CpuLimit::set(const JobGroup& job, const std::string& group_name, double cores) {
    const auto quota = quota_of(cores);
    CpuLimit limit;
    if (job.version() == 2) {
        if (auto set = set_quota_v2(job, quota); !set) {
            return std::unexpected(set.error());
        }
        return limit;
    }
    const auto view = CgroupView::read();
    const auto place = view ? view->find_v1("cpu") : std::unexpected(view.error());
    if (!place) {
        return std::unexpected(place.error());
    }
    // Where cpu and cpuacct are one hierarchy, the job has a group there already.
    const auto account = view->find_v1("cpuacct");
    const bool shared = account && account->mount_point == place->mount_point;
    auto home = ControlFolder::open(place->folder);
    auto made = shared ? ControlFolder::open(place->folder + '/' +
                                             job.folder().substr(job.folder().rfind('/') + 1))
                       : make_fresh_group(*place, group_name);
    if (!home || !made) {
        return std::unexpected(made ? home.error() : made.error());
    }
    limit.group_ = std::move(*made);
    if (!shared) {
        limit.home_ = std::move(*home);
        auto entrance = limit.group_->open_for_writing("tasks");
        if (!entrance) {
            return std::unexpected(entrance.error());
        }
        limit.entrance_ = std::move(*entrance);
    }
    if (auto set = set_quota_v1(*limit.group_, quota); !set) {
        return std::unexpected(set.error());
    }
    return limit;
}

// nr_throttled 3
// throttled_time 212000000        (v1: nanoseconds)
std::optional<double> CpuLimit::throttled_s() const {
    const auto time = group_ ? group_->find_value("cpu.stat", "throttled_time") : std::nullopt;
    return time ? std::optional(static_cast<double>(*time) / 1e9) : std::nullopt;
}

Result<void> CpuLimit::remove() {
    entrance_.reset();
    const auto group = std::exchange(group_, std::nullopt);
    const auto home = std::exchange(home_, std::nullopt);
    return group && home ? dissolve_group(*group, *home) : Result<void>{};
}

void kill_group(const JobGroup& job) {
    if (const auto group = ControlFolder::open(job.folder());
        group && job.version() == 2 && group->has("cgroup.kill")) {
        (void)group->write("cgroup.kill", "1");
    }
    for (const auto pid : job.processes()) {
        ::kill(pid, SIGKILL);
    }
}

}  // namespace mapdiag::linux_os
