#include "measurement.h"

#include <algorithm>
#include <string>

#include "mapdiag/linux/own_limits.h"
#include "mapdiag/support/fd.h"
#include "mapdiag/support/text.h"
#include "mapdiag/support/units.h"

namespace mapdiag::run {
namespace {

using record::Reading;

record::MemorySplit to_record(const linux_os::GroupSplit& split) {
    return {split.anon, split.file, split.shmem, split.kernel, split.swap, split.dirty};
}

record::MemoryEvents to_record(const linux_os::GroupEvents& events) {
    return {events.low,      events.high,           events.max,     events.oom,
            events.oom_kill, events.oom_group_kill, events.swap_max};
}

// Counters only grow; a group that was made anew has none of the old ones.
std::optional<std::uint64_t> difference(const std::optional<std::uint64_t>& end,
                                        const std::optional<std::uint64_t>& start) {
    if (!end || !start) {
        return std::nullopt;
    }
    return *end - std::min(*end, *start);
}

record::MemoryEvents difference(const linux_os::GroupEvents& end,
                                const linux_os::GroupEvents& start) {
    return {difference(end.low, start.low),
            difference(end.high, start.high),
            difference(end.max, start.max),
            difference(end.oom, start.oom),
            difference(end.oom_kill, start.oom_kill),
            difference(end.oom_group_kill, start.oom_group_kill),
            difference(end.swap_max, start.swap_max)};
}

template <class T>
Reading<T> reading(const Result<T>& result, std::string source) {
    return result ? Reading<T>::of(*result, std::move(source))
                  : Reading<T>::unavailable(result.error().text());
}

// An upper bound that is further than this above what was seen of the job says little of it.
constexpr std::uint64_t kTelling = 2;

Reading<record::PeakSample> peak_sample(const Sampler& sampler) {
    return sampler.highest()
               ? Reading<record::PeakSample>::of(*sampler.highest(), "the highest sample")
               : Reading<record::PeakSample>::unavailable("the run ended before the first sample");
}

// Kernels before 5.19 keep no peak on v2: the highest sample has to do, and says so.
void record_group_peak(record::RunRecord& record, const linux_os::JobGroup& group,
                       const Sampler& sampler) {
    const bool v1 = group.version() == 1;
    const auto peak = group.peak();
    if (peak) {
        record.peak = Reading<std::uint64_t>::of(
            *peak, v1 ? "memory.max_usage_in_bytes of the job's own cgroup"
                      : "memory.peak of the job's own cgroup");
        return;
    }
    record.sampling_interval_s = sampler.mean_interval_s();
    if (sampler.highest()) {
        record.peak = Reading<std::uint64_t>::of(
            sampler.highest()->memory, "highest sample of memory.current; " + peak.error().text());
    } else {
        record.peak = Reading<std::uint64_t>::unavailable(peak.error().text());
    }
}

// Where the kernel keeps no peak of swap, the highest sample has to do.
Reading<std::uint64_t> swap_peak(const linux_os::JobGroup& group, const Sampler& sampler) {
    if (!group.accounts_swap()) {
        return Reading<std::uint64_t>::unavailable("not accounted by this kernel");
    }
    if (const auto peak = group.swap_peak()) {
        return Reading<std::uint64_t>::of(*peak, "memory.swap.peak");
    }
    return sampler.highest_swap()
               ? Reading<std::uint64_t>::of(*sampler.highest_swap(), "highest sample of swap")
               : Reading<std::uint64_t>::unavailable("the run ended before the first sample");
}

// MemTotal:       24588340 kB
std::optional<std::uint64_t> find_meminfo(std::string_view meminfo, std::string_view key) {
    for (const auto line : split(meminfo, '\n')) {
        const auto words = split_words(line);
        if (words.size() >= 2 && words[0] == key) {
            const auto kib = find_u64(words[1]);
            return kib ? std::optional(*kib * 1024) : std::nullopt;
        }
    }
    return std::nullopt;
}

}  // namespace

void ReapedUse::add_orphan(const linux_os::ResourceUse& use) {
    orphans_user_s += use.user_s;
    orphans_system_s += use.system_s;
    largest_bytes = std::max(largest_bytes, use.max_rss_bytes);
}

record::Sample measure_group(const linux_os::JobGroup& group) {
    record::Sample sample;
    if (const auto usage = group.usage()) {
        sample.memory = *usage;
    }
    if (const auto split = group.split()) {
        sample.split = to_record(*split);
    }
    if (const auto cpu = group.cpu()) {
        sample.cpu_s = cpu->user_s + cpu->system_s;
        sample.throttled_s = cpu->throttled_s;
    }
    if (const auto pressure = group.pressure_some()) {
        sample.pressure_some_s = *pressure;
    }
    sample.processes = static_cast<std::uint32_t>(group.processes().size());
    sample.under_oom = group.under_oom();
    if (const auto events = group.events()) {
        sample.memory_kills = events->oom_kill;
    }
    return sample;
}

std::optional<std::uint64_t> read_machine_kills() {
    const auto vmstat = read_file("/proc/vmstat");
    return vmstat ? find_key_value(*vmstat, "oom_kill") : std::nullopt;
}

void record_group(record::RunRecord& record, const linux_os::JobGroup& group,
                  const Sampler& sampler) {
    const bool v1 = group.version() == 1;
    record.cgroup = group.folder();
    record_group_peak(record, group, sampler);
    record.peak_sample = peak_sample(sampler);
    record.swap_peak = swap_peak(group, sampler);
    if (const auto events = group.events()) {
        record.events = Reading<record::MemoryEvents>::of(
            to_record(*events), v1 ? "memory.failcnt and memory.oom_control" : "memory.events");
    } else {
        record.events = Reading<record::MemoryEvents>::unavailable(events.error().text());
    }
    record.own_events = Reading<record::MemoryEvents>::of(
        to_record(group.own_events()), v1 ? "the job's own cgroup" : "memory.events.local");
    record.memory_pressure_s = reading(group.pressure_some(), "memory.pressure");
    record.io_pressure_s = reading(group.io_pressure_some(), "io.pressure");
    record.major_faults = reading(group.major_faults(), "memory.stat");
    record.killer_disabled = group.killer_disabled();
    record.stuck_at_limit = record.killer_disabled && sampler.stuck();
    const auto cpu = group.cpu();
    if (!cpu) {
        return;
    }
    const std::string source =
        v1 ? "cpuacct of the job's own cgroup" : "cpu.stat of the job's own cgroup";
    record.user_s = Reading<double>::of(cpu->user_s, source);
    record.system_s = Reading<double>::of(cpu->system_s, source);
    record.throttled_s = cpu->throttled_s
                             ? Reading<double>::of(*cpu->throttled_s, source)
                             : Reading<double>::unavailable("the group has no CPU controller");
}

void record_tree(record::RunRecord& record, const ProcessTree& tree, const Sampler& sampler) {
    const std::string no_group = "the job had no cgroup of its own";
    record.sampling_interval_s = sampler.mean_interval_s();
    record.peak_sample = peak_sample(sampler);
    record.swap_peak = Reading<std::uint64_t>::unavailable(no_group);
    record.events = Reading<record::MemoryEvents>::unavailable(no_group);
    record.throttled_s = Reading<double>::unavailable(no_group);
    record.own_events = Reading<record::MemoryEvents>::unavailable(no_group);
    record.memory_pressure_s = Reading<double>::unavailable(no_group);
    record.io_pressure_s = Reading<double>::unavailable(no_group);
    record.major_faults = Reading<std::uint64_t>::unavailable(no_group);
    const auto resident = tree.highest_resident();
    if (resident == 0) {
        record.peak = Reading<std::uint64_t>::unavailable("the run ended before the first sample");
        return;
    }
    // Where several processes share pages, the sum of their resident sets is too much. The
    // proportional sets are right, if they were read when that sum was near its highest.
    const bool read_at_peak = static_cast<double>(tree.resident_at_proportional()) >=
                              0.95 * static_cast<double>(resident);
    if (tree.highest_proportional() && read_at_peak) {
        record.peak = Reading<std::uint64_t>::of(*tree.highest_proportional(),
                                                 "sum of proportional set sizes of the job's "
                                                 "processes; their resident sets added up to " +
                                                     format_bytes(resident));
    } else {
        record.peak = Reading<std::uint64_t>::of(
            resident, tree.highest_proportional()
                          ? "sum of resident sets of the job's processes, in which pages that they "
                            "share count once for each"
                          : "resident set of the job's processes");
    }
}

void record_shared(record::RunRecord& record, const linux_os::SharedGroup& group, bool only) {
    using Span = linux_os::SharedGroup::Span;
    const auto peak = group.peak();
    const auto step_down = [&](std::string reason) {
        record.steps_down.push_back({record::Placement::shared_cgroup, std::move(reason)});
    };
    if (!peak) {
        if (only) {
            record.peak = Reading<std::uint64_t>::unavailable(peak.error().text());
        } else {
            step_down(peak.error().text());
        }
        return;
    }
    const bool near = record.peak && peak->bytes <= kTelling * *record.peak;
    if (!only && (!near || peak->span == Span::older)) {
        const auto shown = format_bytes(peak->bytes);
        step_down(peak->span == Span::older
                      ? "the " + shown + " that " + group.folder() +
                            " used at its highest may be from before the run"
                      : "others use " + group.folder() + " too, and the " + shown +
                            " that it used at its highest say little of the job");
        return;
    }
    const char* when = peak->span == Span::run    ? ", counted from the job's start"
                       : peak->span == Span::rose ? ", which rose during the run"
                                                  : ", which may be from before the run";
    record.placement = record::Placement::shared_cgroup;
    record.peak = Reading<std::uint64_t>::of(
        peak->bytes, std::string(group.file()) + " of " + group.folder() + when);
}

void record_limits(record::RunRecord& record, const Place& place) {
    const bool carried = place.group && place.group->carries_limit();
    const auto none_found = Reading<record::Limit>::unavailable(
        place.version == 0 ? "no cgroup that controls memory can be seen" : "no limit is set");
    const auto limit = [&](const std::optional<linux_os::GroupLimit>& found, bool is_carried) {
        const bool own = found && place.group && found->owner == place.group->folder();
        return found ? Reading<record::Limit>::of({found->bytes, found->owner, is_carried && !own},
                                                  found->owner)
                     : none_found;
    };
    record.limit = limit(place.limits.memory, carried);
    record.swap_limit = limit(place.limits.swap, carried);
}

namespace {

// What others than the job have charged to a group above it.
std::optional<std::uint64_t> use_by_others(const std::string& folder, const Place& place) {
    const auto all = linux_os::read_group_usage(folder, place.version);
    if (!all || !place.group) {
        return all;
    }
    const auto own = place.group->usage();
    return own ? std::optional(*all - std::min(*all, *own)) : std::nullopt;
}

}  // namespace

void record_surroundings(record::RunRecord& record, const Place& place,
                         std::optional<std::uint64_t> machine_kills_at_start) {
    for (const auto& above : place.above) {
        record.ancestors.push_back(
            {above.folder, above.limit, use_by_others(above.folder, place),
             difference(linux_os::read_local_events(above.folder, place.version), above.at_start)});
    }
    record.sees_root = place.sees_root;
    const auto kills = difference(read_machine_kills(), machine_kills_at_start);
    record.machine_oom_kills =
        kills ? Reading<std::uint64_t>::of(*kills, "/proc/vmstat oom_kill")
              : Reading<std::uint64_t>::unavailable("/proc/vmstat has no oom_kill counter");
}

void record_machine(record::RunRecord& record, const Place& place) {
    const auto meminfo = read_file("/proc/meminfo");
    const auto total = meminfo ? find_meminfo(*meminfo, "MemTotal:") : std::nullopt;
    record.machine_memory =
        total ? Reading<std::uint64_t>::of(*total, "/proc/meminfo MemTotal")
              : Reading<std::uint64_t>::unavailable("/proc/meminfo has no MemTotal");
    const auto cores = static_cast<double>(linux_os::usable_cores());
    const auto quota = place.limits.cpu_quota_cores;
    record.cores = quota && *quota < cores
                       ? Reading<double>::of(*quota, "cpu.max of the cgroups above")
                       : Reading<double>::of(cores, "CPU affinity");
    const auto soft = [](std::optional<std::uint64_t> limit, const char* name) {
        return limit ? Reading<std::uint64_t>::of(*limit, name)
                     : Reading<std::uint64_t>::unavailable("no limit is set");
    };
    record.cpu_time_limit_s = soft(linux_os::cpu_time_limit_s(), "RLIMIT_CPU");
    record.file_size_limit = soft(linux_os::file_size_limit(), "RLIMIT_FSIZE");
}

void record_reaped(record::RunRecord& record, const ReapedUse& use) {
    if (!record.user_s) {
        const std::string source = "resource usage of the job and the processes that it waited for";
        record.user_s = Reading<double>::of(use.job.user_s + use.orphans_user_s, source);
        record.system_s = Reading<double>::of(use.job.system_s + use.orphans_system_s, source);
    }
    const auto largest = std::max(use.job.max_rss_bytes, use.largest_bytes);
    if (largest <= use.inherited_bytes) {
        record.largest_process = Reading<std::uint64_t>::unavailable(
            "it is not above the " + format_bytes(use.inherited_bytes) +
            " that a process inherits from mapdiag as its first peak");
    } else {
        record.largest_process = Reading<std::uint64_t>::of(largest, "ru_maxrss");
    }
}

}  // namespace mapdiag::run
