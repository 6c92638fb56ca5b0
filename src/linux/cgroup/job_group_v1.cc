#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "group_common.h"
#include "mapdiag/support/text.h"

namespace mapdiag::linux_os {
namespace {

// memory.limit_in_bytes without a limit reads PAGE_COUNTER_MAX in bytes, a little under 2^63.
constexpr std::uint64_t kUnlimited = 1ULL << 62;

constexpr const char* kLimit = "memory.limit_in_bytes";
constexpr const char* kSwapLimit = "memory.memsw.limit_in_bytes";

std::optional<std::uint64_t> find_limit(const ControlFolder& group, const char* file) {
    const auto limit = group.read_number(file);
    return limit && *limit && **limit < kUnlimited ? *limit : std::nullopt;
}

GroupEvents events_of(const ControlFolder& group) {
    GroupEvents events;
    if (const auto failures = group.read_number("memory.failcnt")) {
        events.max = *failures;
    }
    if (const auto failures = group.read_number("memory.memsw.failcnt")) {
        events.swap_max = *failures;
    }
    events.oom_kill = group.find_value("memory.oom_control", "oom_kill");
    return events;
}

std::string hidden_owner(const CgroupPlace& place) {
    return "a cgroup above " + place.mount_point + " that can't be seen from here";
}

// A job's group on v1: one folder in the memory hierarchy and, where cpuacct is another one, a
// second folder there.
class JobGroupV1 final : public JobGroup {
  public:
    JobGroupV1(ControlFolder memory, ControlFolder home)
        : memory_(std::move(memory)), home_(std::move(home)) {}
    ~JobGroupV1() override { (void)remove(); }

    Result<void> prepare(const CgroupPlace& place);
    void account_cpu(const CgroupView& view, const CgroupPlace& memory_place,
                     const std::string& name);

    int version() const override { return 1; }
    const std::string& folder() const override { return memory_.path(); }
    int clone_descriptor() const override { return -1; }
    const std::vector<int>& enter_descriptors() const override { return enter_; }

    Result<std::uint64_t> usage() const override { return number("memory.usage_in_bytes"); }
    Result<GroupSplit> split() const override;
    Result<std::uint64_t> peak() const override { return number("memory.max_usage_in_bytes"); }
    // memory.memsw.max_usage_in_bytes is the peak of memory and swap together.
    Result<std::uint64_t> swap_peak() const override {
        return std::unexpected(Error::because("read the swap peak of", folder(),
                                              "cgroup v1 counts swap together with memory"));
    }
    bool accounts_swap() const override { return memory_.has("memory.memsw.usage_in_bytes"); }
    Result<GroupEvents> events() const override;
    GroupEvents own_events() const override { return events_of(memory_); }
    Result<GroupCpu> cpu() const override;
    Result<double> pressure_some() const override { return no_pressure(); }
    Result<double> io_pressure_some() const override { return no_pressure(); }
    Result<std::uint64_t> major_faults() const override;
    bool under_oom() const override { return any_oom_control("under_oom"); }
    bool killer_disabled() const override { return any_oom_control("oom_kill_disable"); }
    std::vector<std::int32_t> processes() const override { return processes_below(memory_); }
    Result<void> remove() override;

  private:
    Result<std::uint64_t> number(const char* file) const {
        const auto value = memory_.read_number(file);
        if (!value) {
            return std::unexpected(value.error());
        }
        return value->value_or(0);
    }
    Result<double> no_pressure() const {
        return std::unexpected(
            Error::because("read the pressure of", folder(), "cgroup v1 has none"));
    }
    bool any_oom_control(const char* key) const;
    Result<void> carry_limits();
    Result<void> add_entrance(const ControlFolder& group);

    ControlFolder memory_;
    ControlFolder home_;  ///< mapdiag's own group in the memory hierarchy
    std::optional<ControlFolder> cpu_;
    std::optional<ControlFolder> cpu_home_;
    std::vector<Fd> entrances_;
    std::vector<int> enter_;
    bool cpu_in_memory_ = false;  ///< cpuacct is mounted together with memory
    std::vector<Fd> spare_;       ///< for remove()
    bool removed_ = false;
};

Result<void> JobGroupV1::prepare(const CgroupPlace& place) {
    auto spare = reserve_descriptors(memory_, kDescriptorsToRemove);
    if (!spare) {
        return std::unexpected(spare.error());
    }
    spare_ = std::move(*spare);
    limits_ = find_limits(place, 1);
    if (auto carried = carry_limits(); !carried) {
        return carried;
    }
    for (const auto& folder : place.upwards()) {
        if (const auto group = ControlFolder::open(folder)) {
            above_.push_back({folder, find_limit(*group, kLimit), events_of(*group)});
        }
    }
    return add_entrance(memory_);
}

Result<void> JobGroupV1::carry_limits() {
    if (limits_.memory) {
        if (auto set = memory_.write(kLimit, std::to_string(limits_.memory->bytes)); !set) {
            return set;
        }
        carries_limit_ = true;
    }
    // The kernel wants memory + swap to be no smaller than memory alone.
    if (limits_.swap && memory_.has(kSwapLimit)) {
        const auto bytes =
            std::max(limits_.swap->bytes, limits_.memory ? limits_.memory->bytes : 0);
        return memory_.write(kSwapLimit, std::to_string(bytes));
    }
    return {};
}

// Writing to `tasks` moves one thread and takes 15 to 37 us; cgroup.procs takes 6 to 10 ms on an
// idle machine, since it waits for an RCU grace period.
Result<void> JobGroupV1::add_entrance(const ControlFolder& group) {
    auto tasks = group.open_for_writing("tasks");
    if (!tasks) {
        return std::unexpected(tasks.error());
    }
    enter_.push_back(tasks->get());
    entrances_.push_back(std::move(*tasks));
    return {};
}

// CPU time of the whole group needs the cpuacct hierarchy. Where no group can be made there, the
// job's own resource usage has to do: that is no reason to give up the memory group.
void JobGroupV1::account_cpu(const CgroupView& view, const CgroupPlace& memory_place,
                             const std::string& name) {
    const auto place = view.find_v1("cpuacct");
    if (!place) {
        return;
    }
    if (place->mount_point == memory_place.mount_point) {
        cpu_in_memory_ = true;
        return;
    }
    auto home = ControlFolder::open(place->folder);
    auto made = home ? make_fresh_group(*place, name)
                     : Result<ControlFolder>(std::unexpected(home.error()));
    if (!made) {
        return;
    }
    if (!add_entrance(*made)) {
        ::rmdir(made->path().c_str());
        return;
    }
    cpu_ = std::move(*made);
    cpu_home_ = std::move(*home);
}

Result<GroupSplit> JobGroupV1::split() const {
    const auto text = memory_.read("memory.stat");
    if (!text) {
        return std::unexpected(text.error());
    }
    GroupSplit split;
    split.anon = find_key_value(*text, "total_rss");
    split.shmem = find_key_value(*text, "total_shmem");
    split.dirty = find_key_value(*text, "total_dirty");
    split.swap = find_key_value(*text, "total_swap");
    // total_cache holds shmem too, which the kernel can't drop.
    if (const auto cache = find_key_value(*text, "total_cache")) {
        split.file = *cache - std::min(*cache, split.shmem.value_or(0));
    }
    if (const auto kernel = memory_.read_number("memory.kmem.usage_in_bytes")) {
        split.kernel = *kernel;
    }
    return split;
}

Result<std::uint64_t> JobGroupV1::major_faults() const {
    const auto faults = memory_.find_value("memory.stat", "total_pgmajfault");
    return faults ? Result<std::uint64_t>(*faults)
                  : std::unexpected(Error::because("read", memory_.file("memory.stat"),
                                                   "it has no total_pgmajfault"));
}

Result<GroupEvents> JobGroupV1::events() const {
    GroupEvents sum = events_of(memory_);
    if (!sum.max && !sum.oom_kill) {
        return std::unexpected(
            Error::because("read the counters of", folder(), "no counter there"));
    }
    // On v1 a kill inside a group that the job made is counted there only.
    for (const auto& path : memory_.groups_below()) {
        if (const auto below = ControlFolder::open(path)) {
            add_events(sum, events_of(*below));
        }
    }
    return sum;
}

Result<GroupCpu> JobGroupV1::cpu() const {
    if (!cpu_ && !cpu_in_memory_) {
        return std::unexpected(
            Error::because("read the CPU time of", folder(), "no cpuacct group could be made"));
    }
    const auto& group = cpu_ ? *cpu_ : memory_;
    const auto user = group.read_number("cpuacct.usage_user");
    const auto system = group.read_number("cpuacct.usage_sys");
    if (!user || !system) {
        return std::unexpected(!user ? user.error() : system.error());
    }
    return GroupCpu{static_cast<double>(user->value_or(0)) / 1e9,
                    static_cast<double>(system->value_or(0)) / 1e9, std::nullopt};
}

bool JobGroupV1::any_oom_control(const char* key) const {
    if (memory_.find_value("memory.oom_control", key).value_or(0) != 0) {
        return true;
    }
    return std::ranges::any_of(memory_.groups_below(), [&](const std::string& path) {
        const auto below = ControlFolder::open(path);
        return below && below->find_value("memory.oom_control", key).value_or(0) != 0;
    });
}

Result<void> JobGroupV1::remove() {
    if (std::exchange(removed_, true)) {
        return {};
    }
    entrances_.clear();
    spare_.clear();
    if (cpu_) {
        if (auto gone = dissolve_group(*cpu_, *cpu_home_); !gone) {
            (void)dissolve_group(memory_, home_);
            return gone;
        }
    }
    return dissolve_group(memory_, home_);
}

}  // namespace

LimitsAbove find_limits_v1(const CgroupPlace& place) {
    LimitsAbove limits;
    for (const auto& folder : place.upwards()) {
        const auto group = ControlFolder::open(folder);
        if (!group) {
            continue;
        }
        if (const auto bytes = find_limit(*group, kLimit)) {
            keep_smallest(limits.memory, *bytes, folder);
        }
        if (const auto bytes = find_limit(*group, kSwapLimit)) {
            keep_smallest(limits.swap, *bytes, folder);
        }
    }
    // The kernel tells the smallest limit of the whole way up, also of groups that a namespace or a
    // container's mount hides.
    if (const auto group = ControlFolder::open(place.folder)) {
        const auto memory = group->find_value("memory.stat", "hierarchical_memory_limit");
        if (memory && *memory < kUnlimited) {
            keep_smallest(limits.memory, *memory, hidden_owner(place));
        }
        const auto swap = group->find_value("memory.stat", "hierarchical_memsw_limit");
        if (swap && *swap < kUnlimited) {
            keep_smallest(limits.swap, *swap, hidden_owner(place));
        }
    }
    return limits;
}

std::optional<std::uint64_t> read_own_limit_v1(const ControlFolder& group) {
    return find_limit(group, kLimit);
}

GroupEvents read_local_events_v1(const ControlFolder& group) {
    return events_of(group);
}

Result<std::unique_ptr<JobGroup>> make_job_group_v1(const CgroupView& view,
                                                    const std::string& name) {
    const auto place = view.find_v1("memory");
    if (!place) {
        return std::unexpected(place.error());
    }
    auto home = ControlFolder::open(place->folder);
    if (!home) {
        return std::unexpected(home.error());
    }
    if (auto enough = reserve_descriptors(*home, kDescriptorsToMake); !enough) {
        return std::unexpected(enough.error());
    }
    auto made = make_fresh_group(*place, name);
    if (!made) {
        return std::unexpected(made.error());
    }
    auto group = std::make_unique<JobGroupV1>(std::move(*made), std::move(*home));
    if (auto prepared = group->prepare(*place); !prepared) {
        return std::unexpected(prepared.error());
    }
    group->account_cpu(view, *place, name);
    return group;
}

}  // namespace mapdiag::linux_os
