#include <unistd.h>

#include <algorithm>
#include <utility>

#include "group_common.h"
#include "mapdiag/linux/job_process.h"
#include "mapdiag/support/text.h"

namespace mapdiag::linux_os {
namespace {

bool lists_word(const ControlFolder& group, const std::string& file, std::string_view word) {
    const auto text = group.read(file);
    if (!text) {
        return false;
    }
    const auto words = split_words(*text);
    return std::ranges::find(words, word) != words.end();
}

// Only the hierarchy's real root has no type; it alone may hold processes beside controllers.
bool is_real_root(const ControlFolder& group) {
    return !group.has("cgroup.type");
}

std::optional<std::uint64_t> find_limit(const ControlFolder& group, const char* file) {
    const auto limit = group.read_number(file);
    return limit ? *limit : std::nullopt;
}

// memory.events and memory.events.local:
//   low 0
//   high 0
//   max 35
//   oom 1
//   oom_kill 1
//   oom_group_kill 0
GroupEvents parse_events(std::string_view text) {
    return {find_key_value(text, "low"),
            find_key_value(text, "high"),
            find_key_value(text, "max"),
            find_key_value(text, "oom"),
            find_key_value(text, "oom_kill"),
            find_key_value(text, "oom_group_kill"),
            std::nullopt};
}

// "200000 100000": quota and period in microseconds; "max 100000" is no limit.
std::optional<double> cpu_share(std::string_view cpu_max) {
    const auto words = split_words(cpu_max);
    if (words.size() != 2) {
        return std::nullopt;
    }
    const auto quota = find_u64(words[0]);
    const auto period = find_u64(words[1]);
    if (!quota || !period || *period == 0) {
        return std::nullopt;
    }
    return static_cast<double>(*quota) / static_cast<double>(*period);
}

bool sets_no_limit(const ControlFolder& group) {
    const auto is_free = [&](const char* file) {
        const auto text = group.read(file);
        return !text || trim(*text).starts_with("max");
    };
    return is_free("memory.max") && is_free("memory.high") && is_free("memory.swap.max") &&
           is_free("cpu.max") && is_free("pids.max");
}

// Where the job's group is made, and what has to be undone afterwards.
struct Site {
    CgroupPlace parent;                      ///< the job's group goes below this one
    std::optional<ControlFolder> self_leaf;  ///< mapdiag moved itself here
};

// How many of the processes are neither mapdiag nor helpers of its own.
std::size_t count_others(const std::vector<std::int32_t>& pids) {
    const auto own = child_processes();
    return static_cast<std::size_t>(std::ranges::count_if(pids, [&](std::int32_t pid) {
        return pid != ::getpid() && std::ranges::find(own, pid) == own.end();
    }));
}

// mapdiag is alone in its group: it steps down into a leaf with its helpers, so that the group may
// hand the memory controller to groups below it (the no-internal-process rule, cgroup-v2.rst).
Result<Site> step_down(const CgroupPlace& place, const ControlFolder& home,
                       const std::vector<std::int32_t>& own, const std::string& name) {
    auto leaf = make_fresh_group(place, name);
    if (!leaf) {
        return std::unexpected(leaf.error());
    }
    Result<void> moved;
    for (std::size_t i = 0; i < own.size() && moved; ++i) {
        moved = leaf->write("cgroup.procs", std::to_string(own[i]));
    }
    if (moved) {
        moved = home.write("cgroup.subtree_control", "+memory");
    }
    if (!moved) {
        (void)dissolve_group(*leaf, home);
        return std::unexpected(moved.error());
    }
    return Site{place, std::move(*leaf)};
}

// An ordinary user's delegated tree: the group beside mapdiag's own, below the same limits. Only
// where the own group sets no limit that the job would escape, and not for root, whose reach says
// nothing about whose tree it is.
std::optional<Site> find_site_beside(const CgroupPlace& place, const ControlFolder& home) {
    if (::geteuid() == 0 || place.folder == place.mount_point || !sets_no_limit(home)) {
        return std::nullopt;
    }
    CgroupPlace parent = place;
    parent.folder.resize(parent.folder.rfind('/'));
    const auto group = ControlFolder::open(parent.folder);
    if (!group || !lists_word(*group, "cgroup.subtree_control", "memory") ||
        ::access(group->file("cgroup.procs").c_str(), W_OK) != 0) {
        return std::nullopt;
    }
    return Site{parent, std::nullopt};
}

Result<Site> find_site(const CgroupPlace& place, const ControlFolder& home,
                       const std::string& name) {
    if (!lists_word(home, "cgroup.controllers", "memory")) {
        return std::unexpected(Error::because("measure memory in", place.folder,
                                              "this cgroup v2 tree has no memory controller here"));
    }
    if (lists_word(home, "cgroup.subtree_control", "memory")) {
        return Site{place, std::nullopt};
    }
    if (is_real_root(home)) {
        if (auto on = home.write("cgroup.subtree_control", "+memory"); !on) {
            return std::unexpected(on.error());
        }
        return Site{place, std::nullopt};
    }
    const auto inhabitants = home.processes();
    const auto others = inhabitants ? count_others(*inhabitants) : 0;
    if (inhabitants && others == 0) {
        return step_down(place, home, *inhabitants, name);
    }
    if (auto site = find_site_beside(place, home)) {
        return std::move(*site);
    }
    const auto who = others > 0 ? std::to_string(others) + " other processes are"
                                : std::string("other processes are");
    return std::unexpected(Error::because(
        "make a cgroup below", place.folder,
        who + " in it, and cgroup v2 allows no memory controller below a group with processes"));
}

class JobGroupV2 final : public JobGroup {
  public:
    JobGroupV2(ControlFolder group, ControlFolder home, std::optional<ControlFolder> self_leaf)
        : group_(std::move(group)), home_(std::move(home)), self_leaf_(std::move(self_leaf)) {}
    ~JobGroupV2() override { (void)remove(); }

    Result<void> prepare(const CgroupPlace& parent);

    int version() const override { return 2; }
    const std::string& folder() const override { return group_.path(); }
    int clone_descriptor() const override { return group_.descriptor(); }
    const std::vector<int>& enter_descriptors() const override { return enter_; }

    Result<std::uint64_t> usage() const override { return number("memory.current"); }
    Result<GroupSplit> split() const override;
    Result<std::uint64_t> peak() const override;
    Result<std::uint64_t> swap_peak() const override;
    bool accounts_swap() const override { return group_.has("memory.swap.current"); }
    Result<GroupEvents> events() const override;
    GroupEvents own_events() const override { return read_local_events_v2(group_); }
    Result<GroupCpu> cpu() const override;
    Result<double> pressure_some() const override { return pressure("memory.pressure"); }
    Result<double> io_pressure_some() const override { return pressure("io.pressure"); }
    Result<std::uint64_t> major_faults() const override;
    std::vector<std::int32_t> processes() const override { return processes_below(group_); }
    Result<void> remove() override;

  private:
    Result<std::uint64_t> number(const char* file) const;
    Result<double> pressure(const char* file) const;
    Result<void> carry_limits();
    Result<void> step_back_up();

    ControlFolder group_;
    ControlFolder home_;  ///< where mapdiag was when it started
    std::optional<ControlFolder> self_leaf_;
    std::vector<int> enter_;
    std::vector<Fd> spare_;  ///< for remove()
    bool removed_ = false;
};

Result<void> JobGroupV2::prepare(const CgroupPlace& parent) {
    if (!group_.has("memory.current")) {
        return std::unexpected(Error::because("measure memory in", folder(),
                                              "the group above does not hand the memory "
                                              "controller down"));
    }
    auto spare = reserve_descriptors(group_, kDescriptorsToRemove);
    if (!spare) {
        return std::unexpected(spare.error());
    }
    spare_ = std::move(*spare);
    limits_ = find_limits(parent, 2);
    for (const auto& path : parent.upwards()) {
        if (const auto group = ControlFolder::open(path)) {
            above_.push_back(
                {path, find_limit(*group, "memory.max"), read_local_events_v2(*group)});
        }
    }
    return carry_limits();
}

Result<void> JobGroupV2::carry_limits() {
    if (limits_.memory) {
        if (auto set = group_.write("memory.max", std::to_string(limits_.memory->bytes)); !set) {
            return set;
        }
        carries_limit_ = true;
    }
    if (limits_.swap && group_.has("memory.swap.max")) {
        if (auto set = group_.write("memory.swap.max", std::to_string(limits_.swap->bytes)); !set) {
            return set;
        }
    }
    if (limits_.cpu_max && group_.has("cpu.max")) {
        return group_.write("cpu.max", *limits_.cpu_max);
    }
    return {};
}

Result<std::uint64_t> JobGroupV2::number(const char* file) const {
    const auto value = group_.read_number(file);
    if (!value) {
        return std::unexpected(value.error());
    }
    if (!*value) {
        return std::unexpected(Error::because("read a number from", group_.file(file), "\"max\""));
    }
    return **value;
}

Result<GroupSplit> JobGroupV2::split() const {
    const auto text = group_.read("memory.stat");
    if (!text) {
        return std::unexpected(text.error());
    }
    GroupSplit split;
    split.anon = find_key_value(*text, "anon");
    split.shmem = find_key_value(*text, "shmem");
    split.dirty = find_key_value(*text, "file_dirty");
    // "file" holds shmem too, which the kernel can't drop.
    if (const auto file = find_key_value(*text, "file")) {
        split.file = *file - std::min(*file, split.shmem.value_or(0));
    }
    // "kernel" is there since 5.18; its parts are older.
    split.kernel = find_key_value(*text, "kernel");
    if (!split.kernel) {
        std::uint64_t sum = 0;
        for (const auto* part : {"kernel_stack", "pagetables", "percpu", "sock", "slab"}) {
            sum += find_key_value(*text, part).value_or(0);
        }
        split.kernel = sum;
    }
    if (const auto swap = group_.read_number("memory.swap.current")) {
        split.swap = *swap;
    }
    return split;
}

Result<std::uint64_t> JobGroupV2::peak() const {
    if (!group_.has("memory.peak")) {
        return std::unexpected(Error::because(
            "read the peak of", folder(), "this kernel has no memory.peak (5.19 and newer do)"));
    }
    return number("memory.peak");
}

Result<std::uint64_t> JobGroupV2::swap_peak() const {
    if (!group_.has("memory.swap.peak")) {
        return std::unexpected(Error::because("read the swap of", folder(),
                                              "this kernel has no memory.swap.peak (6.5 and newer "
                                              "do)"));
    }
    return number("memory.swap.peak");
}

Result<GroupEvents> JobGroupV2::events() const {
    const auto text = group_.read("memory.events");
    if (!text) {
        return std::unexpected(text.error());
    }
    return parse_events(*text);
}

Result<GroupCpu> JobGroupV2::cpu() const {
    const auto text = group_.read("cpu.stat");
    if (!text) {
        return std::unexpected(text.error());
    }
    const auto user = find_key_value(*text, "user_usec");
    const auto system = find_key_value(*text, "system_usec");
    if (!user || !system) {
        return std::unexpected(Error::because("read the CPU time in", group_.file("cpu.stat"),
                                              "no user_usec and system_usec"));
    }
    GroupCpu cpu{static_cast<double>(*user) / 1e6, static_cast<double>(*system) / 1e6, {}};
    if (const auto throttled = find_key_value(*text, "throttled_usec")) {
        cpu.throttled_s = static_cast<double>(*throttled) / 1e6;
    }
    return cpu;
}

Result<double> JobGroupV2::pressure(const char* file) const {
    const auto text = group_.read(file);
    if (!text) {
        return std::unexpected(text.error());
    }
    return parse_pressure_some(*text, group_.file(file));
}

Result<std::uint64_t> JobGroupV2::major_faults() const {
    const auto faults = group_.find_value("memory.stat", "pgmajfault");
    return faults ? Result<std::uint64_t>(*faults)
                  : std::unexpected(
                        Error::because("read", group_.file("memory.stat"), "it has no pgmajfault"));
}

Result<void> JobGroupV2::remove() {
    if (std::exchange(removed_, true)) {
        return {};
    }
    spare_.clear();
    auto gone = dissolve_group(group_, self_leaf_ ? *self_leaf_ : home_);
    if (!self_leaf_) {
        return gone;
    }
    auto back = step_back_up();
    return gone ? back : gone;
}

// Undoes step_down(): everything that is in the leaf goes back to where mapdiag came from.
Result<void> JobGroupV2::step_back_up() {
    if (auto off = home_.write("cgroup.subtree_control", "-memory"); !off) {
        return off;
    }
    // Switched on for a CPU limit only.
    (void)home_.write("cgroup.subtree_control", "-cpu");
    return dissolve_group(*self_leaf_, home_);
}

}  // namespace

std::optional<std::uint64_t> read_own_limit_v2(const ControlFolder& group) {
    return find_limit(group, "memory.max");
}

LimitsAbove find_limits_v2(const CgroupPlace& place) {
    LimitsAbove limits;
    for (const auto& folder : place.upwards()) {
        const auto group = ControlFolder::open(folder);
        if (!group) {
            continue;
        }
        if (const auto bytes = find_limit(*group, "memory.max")) {
            keep_smallest(limits.memory, *bytes, folder);
        }
        if (const auto bytes = find_limit(*group, "memory.swap.max")) {
            keep_smallest(limits.swap, *bytes, folder);
        }
        const auto cpu_max = group->read("cpu.max");
        const auto share = cpu_max ? cpu_share(*cpu_max) : std::nullopt;
        if (share && *share < limits.cpu_quota_cores.value_or(*share + 1)) {
            limits.cpu_quota_cores = share;
            limits.cpu_max = std::string(trim(*cpu_max));
        }
    }
    return limits;
}

GroupEvents read_local_events_v2(const ControlFolder& group) {
    // The hierarchical memory.events of a group above holds the events of everything below it.
    const auto text = group.read("memory.events.local");
    return text ? parse_events(*text) : GroupEvents{};
}

Result<std::unique_ptr<JobGroup>> make_job_group_v2(const CgroupView& view,
                                                    const std::string& name) {
    const auto place = view.find_v2();
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
    auto site = find_site(*place, *home, name);
    if (!site) {
        return std::unexpected(site.error());
    }
    auto made = make_fresh_group(site->parent, name);
    if (!made) {
        if (site->self_leaf) {
            (void)home->write("cgroup.subtree_control", "-memory");
            (void)dissolve_group(*site->self_leaf, *home);
        }
        return std::unexpected(made.error());
    }
    auto group = std::make_unique<JobGroupV2>(std::move(*made), std::move(*home),
                                              std::move(site->self_leaf));
    if (auto prepared = group->prepare(site->parent); !prepared) {
        return std::unexpected(prepared.error());
    }
    return group;
}

}  // namespace mapdiag::linux_os
