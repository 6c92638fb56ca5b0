#include "memory_verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "mapdiag/support/units.h"

namespace mapdiag::diagnose {
namespace {

using namespace record;

// The kernel charges in batches, so a peak at the limit may be a little under it.
constexpr double kAtLimit = 0.98;
// A peak as far as this from the limit shows that this limit was not the one.
constexpr double kClearlyBelow = 0.9;

std::uint64_t raised(const std::optional<std::uint64_t>& counter) {
    return counter.value_or(0);
}

// How often the limit of that very group stopped somebody.
std::uint64_t limit_hits(const MemoryEvents& events, bool is_v1) {
    return is_v1 ? raised(events.max) + raised(events.swap_max) : raised(events.oom);
}

double share_of_limit(const RunRecord& record) {
    if (!record.peak || !record.limit || record.limit->bytes == 0) {
        return 0;
    }
    return static_cast<double>(*record.peak) / static_cast<double>(record.limit->bytes);
}

// Hits in groups that the job made below its own.
std::uint64_t inner_hits(const Facts& facts) {
    const auto& record = facts.record();
    if (!record.own_events) {
        return 0;
    }
    const auto all = limit_hits(*record.events, facts.is_v1());
    return all - std::min(all, limit_hits(*record.own_events, facts.is_v1()));
}

std::uint64_t own_hits(const Facts& facts) {
    const auto& record = facts.record();
    return limit_hits(record.own_events ? *record.own_events : *record.events, facts.is_v1());
}

std::vector<const AncestorGroup*> groups_hit(const Facts& facts) {
    std::vector<const AncestorGroup*> hit;
    for (const auto& group : facts.record().ancestors) {
        if (limit_hits(group.local, facts.is_v1()) > 0) {
            hit.push_back(&group);
        }
    }
    return hit;
}

// The same limit stands on the job's own group and on the one that it was carried over from: which
// of the two was hit first makes no difference to whose limit it is.
bool is_owner_of_carried(const RunRecord& record, const AncestorGroup& group) {
    return record.limit && record.limit->carried && record.limit->owner == group.path;
}

MemoryVerdict cannot_tell(std::string why) {
    return {Culprit::cannot_tell, nullptr, std::move(why)};
}

MemoryVerdict judge_own(const Facts& facts, const std::vector<const AncestorGroup*>& above) {
    const auto& record = facts.record();
    // v1's failcnt also rises when the kernel only drops file cache. A second group whose failcnt
    // rose may be the one that led to the kill.
    const auto other = std::ranges::find_if(
        above, [&](const AncestorGroup* group) { return !is_owner_of_carried(record, *group); });
    if (facts.is_v1() && other != above.end()) {
        return cannot_tell(fmt::format(
            "both the limit on the job's own cgroup and that of {} stopped somebody, and cgroup v1 "
            "does not say which of the two led to the kill",
            (*other)->path));
    }
    // Where only the sum with the groups below is known, a peak far from the limit in force (or no
    // such limit) shows that it was one of theirs.
    if (!record.own_events && record.peak && share_of_limit(record) < kClearlyBelow) {
        return {Culprit::inner, nullptr, {}};
    }
    return {Culprit::own, nullptr, {}};
}

// Whether the job at its peak and what others had in that group at the end come up to its limit.
bool was_full(const RunRecord& record, const AncestorGroup& group) {
    if (!group.limit || !record.peak) {
        return false;
    }
    const auto sum =
        static_cast<double>(*record.peak) + static_cast<double>(group.usage_at_end.value_or(0));
    return sum >= kAtLimit * static_cast<double>(*group.limit);
}

// v1 counts in memory.failcnt only where the limit of memory is the one that is hit first. Where it
// is that of memory with swap (the two are often equal), failcnt stays 0, and Linux 6.18 no longer
// counts memsw.failcnt either. What is left is which group was full.
MemoryVerdict judge_uncounted(const RunRecord& record) {
    std::vector<const AncestorGroup*> full;
    bool own_full = share_of_limit(record) >= kAtLimit;
    for (const auto& group : record.ancestors) {
        if (!was_full(record, group)) {
            continue;
        }
        if (is_owner_of_carried(record, group)) {
            own_full = true;
        } else {
            full.push_back(&group);
        }
    }
    if (own_full && full.empty()) {
        return {Culprit::own, nullptr, {}};
    }
    if (!own_full && full.size() == 1) {
        return {Culprit::above, full.front(), {}};
    }
    return cannot_tell(
        fmt::format("cgroup v1 counts no hit of a limit of memory with swap, and {}",
                    full.empty() ? "no group was seen full" : "more than one group was full"));
}

MemoryVerdict judge_above(const Facts& facts, const std::vector<const AncestorGroup*>& above) {
    const auto& record = facts.record();
    if (above.size() == 1) {
        return {Culprit::above, above.front(), {}};
    }
    if (above.size() > 1) {
        return cannot_tell(fmt::format("the limits of {} and of {} were both hit during the run",
                                       above[0]->path, above[1]->path));
    }
    if (facts.is_v1() && record.swap_limit) {
        return judge_uncounted(record);
    }
    if (!record.sees_root.value_or(false)) {
        return cannot_tell(
            "no limit that can be seen from here was hit: it was a group further up that is hidden "
            "from this container, or the whole machine had no memory left");
    }
    return {Culprit::machine, nullptr, {}};
}

}  // namespace

MemoryVerdict judge_memory(const Facts& facts) {
    if (!facts.memory_killed()) {
        return {};
    }
    if (inner_hits(facts) > 0 && own_hits(facts) == 0) {
        return {Culprit::inner, nullptr, {}};
    }
    const auto above = groups_hit(facts);
    if (own_hits(facts) > 0) {
        return judge_own(facts, above);
    }
    return judge_above(facts, above);
}

std::vector<Proof> memory_proofs(const Facts& facts, const MemoryVerdict& verdict) {
    const auto& record = facts.record();
    std::vector<Proof> proofs = {
        proof_of_ending(record),
        proof_of_event("memory kills in the job's own cgroup and below", record.events,
                       &MemoryEvents::oom_kill),
    };
    if (facts.is_v1()) {
        proofs.push_back(proof_of_event("times at the limit of the job's own cgroup",
                                        record.own_events ? record.own_events : record.events,
                                        &MemoryEvents::max));
        proofs.push_back(proof_of_event("times at its limit of memory with swap",
                                        record.own_events ? record.own_events : record.events,
                                        &MemoryEvents::swap_max));
    } else {
        proofs.push_back(proof_of_event("times out of memory at the limit of the job's own cgroup",
                                        record.own_events ? record.own_events : record.events,
                                        &MemoryEvents::oom));
    }
    for (const auto* group : groups_hit(facts)) {
        proofs.push_back({"times out of memory at the limit of " + group->path,
                          std::to_string(limit_hits(group->local, facts.is_v1())),
                          facts.is_v1() ? "memory.failcnt of that cgroup"
                                        : "memory.events.local of that cgroup"});
    }
    if (verdict.culprit == Culprit::machine || verdict.culprit == Culprit::cannot_tell) {
        proofs.push_back(
            proof_of_count("memory kills on the whole machine", record.machine_oom_kills));
    }
    proofs.push_back(proof_of("peak", record.peak));
    proofs.push_back(proof_of_limit(record));
    return proofs;
}

}  // namespace mapdiag::diagnose
