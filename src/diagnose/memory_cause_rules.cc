// Deaths by the kernel's memory killer, and a job that is stuck because that killer is off.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "mapdiag/support/units.h"
#include "memory_verdict.h"
#include "rule_table.h"

namespace mapdiag::diagnose {
namespace {

using namespace record;

std::string peak_words(const RunRecord& record) {
    if (record.peak) {
        return fmt::format("peak {}", format_bytes(*record.peak));
    }
    return "peak " + not_available(record.peak.reason());
}

std::string own_limit_words(const RunRecord& record) {
    if (!record.limit) {
        return "the limit of its own cgroup";
    }
    const auto& limit = *record.limit;
    const auto bytes = format_bytes(limit.bytes);
    if (!limit.carried && record.held_to.memory == limit.bytes) {
        return fmt::format("the limit of {} that --memory-limit set", bytes);
    }
    return limit.carried ? fmt::format("the limit of {} that {} sets", bytes, limit.owner)
                         : fmt::format("the limit of {} of its own cgroup", bytes);
}

// What others had used of a group's limit when the job was killed: its peak is not theirs.
std::string others_words(const RunRecord& record, const AncestorGroup& group) {
    if (!group.limit || !record.peak || *record.peak >= *group.limit) {
        return {};
    }
    return fmt::format("; others in that cgroup used about {}",
                       format_bytes(*group.limit - *record.peak));
}

std::string above_words(const RunRecord& record, const AncestorGroup& group) {
    const auto limit =
        group.limit ? fmt::format("the limit of {}", format_bytes(*group.limit)) : "the limit";
    return fmt::format("{} that {} sets, further up than the job's own cgroup{}", limit, group.path,
                       others_words(record, group));
}

std::string against(const Facts& facts, const MemoryVerdict& verdict) {
    const auto& record = facts.record();
    switch (verdict.culprit) {
        case Culprit::own:
            return fmt::format("at {} ({})", own_limit_words(record), peak_words(record));
        case Culprit::inner:
            return fmt::format("at the limit of a cgroup that the job made below its own ({})",
                               peak_words(record));
        case Culprit::above:
            return fmt::format("at {} ({})", above_words(record, *verdict.above),
                               peak_words(record));
        case Culprit::machine:
            return fmt::format("because the whole machine had no memory left, at no limit ({})",
                               peak_words(record));
        case Culprit::cannot_tell:
            return fmt::format("can't tell at whose limit, because {} ({})", verdict.why_not,
                               peak_words(record));
        case Culprit::none:
            break;
    }
    return {};
}

std::string killer_text(const Facts& facts, const MemoryVerdict& verdict) {
    const auto kills = counted(*facts.memory_kills(), "memory kill", "memory kills");
    return fmt::format("killed by the kernel's memory killer (SIGKILL, {}) {}", kills,
                       against(facts, verdict));
}

// The last memory kill was long before the job's own end, as the samples show: longer than it takes
// to tear down what a victim had (a GiB a second at the slowest, and two seconds beside).
bool killed_earlier(const Facts& facts) {
    const auto& record = facts.record();
    if (facts.signal() != SIGKILL || !facts.memory_killed() || !record.peak) {
        return false;
    }
    const auto margin = 2 + static_cast<double>(*record.peak) / static_cast<double>(1U << 30);
    return std::ranges::any_of(facts.samples(), [&](const Sample& sample) {
        return sample.at_s <= record.wall_s - margin && sample.memory_kills &&
               *sample.memory_kills >= *facts.memory_kills();
    });
}

std::optional<Finding> killed_after_worker(const Facts& facts) {
    if (!killed_earlier(facts)) {
        return std::nullopt;
    }
    const auto verdict = judge_memory(facts);
    return said(fmt::format("SIGKILL from an unknown sender; before that, long before the end, the "
                            "kernel's memory killer took {} of the job: killed {}",
                            counted(*facts.memory_kills(), "process", "processes"),
                            against(facts, verdict)),
                memory_proofs(facts, verdict));
}

// Only a job that died of SIGKILL itself is a victim; what else ended is told by worker_killed().
std::optional<Finding> killed_at(const Facts& facts, Culprit culprit) {
    if (facts.signal() != SIGKILL || killed_earlier(facts)) {
        return std::nullopt;
    }
    const auto verdict = judge_memory(facts);
    if (verdict.culprit != culprit) {
        return std::nullopt;
    }
    return said(killer_text(facts, verdict), memory_proofs(facts, verdict));
}

std::optional<Finding> own_limit(const Facts& facts) {
    return killed_at(facts, Culprit::own);
}
std::optional<Finding> inner_limit(const Facts& facts) {
    return killed_at(facts, Culprit::inner);
}
std::optional<Finding> limit_above(const Facts& facts) {
    return killed_at(facts, Culprit::above);
}
std::optional<Finding> whole_machine(const Facts& facts) {
    return killed_at(facts, Culprit::machine);
}
std::optional<Finding> unknown_limit(const Facts& facts) {
    return killed_at(facts, Culprit::cannot_tell);
}

std::optional<Finding> worker_killed(const Facts& facts) {
    const auto verdict = judge_memory(facts);
    if (verdict.culprit == Culprit::none || facts.signal() == SIGKILL) {
        return std::nullopt;
    }
    const auto victims = counted(*facts.memory_kills(), "process", "processes");
    const auto how = facts.exit_code() == 0 ? std::string("the job hid it and exited with 0")
                                            : "the job then " + ending_text(facts.record().ending);
    return said(fmt::format("the kernel's memory killer took {} of the job, and {}: killed {}",
                            victims, how, against(facts, verdict)),
                memory_proofs(facts, verdict));
}

std::optional<Finding> stuck(const Facts& facts) {
    const auto& record = facts.record();
    if (!record.stuck_at_limit) {
        return std::nullopt;
    }
    const auto limit = record.limit
                           ? fmt::format("its limit of {}", format_bytes(record.limit->bytes))
                           : std::string("its limit");
    return said(fmt::format("stuck at {} with the memory killer off (oom_kill_disable): it slept "
                            "there until the end, and the job was {}",
                            limit, ending_text(record.ending)),
                {proof_of_ending(record),
                 {"under_oom in the last samples", "1", "memory.oom_control"},
                 {"oom_kill_disable", "1", "memory.oom_control"},
                 proof_of("peak", record.peak),
                 proof_of_limit(record)});
}

constexpr std::array<RuleRow, 8> kRows = {{
    {{"memory-stuck", FindingKind::cause, "stuck at its limit",
      "cgroup v1: the last samples show under_oom with oom_kill_disable set"},
     stuck},
    {{"sigkill-after-memory-kill", FindingKind::cause, "SIGKILL, sender unknown",
      "SIGKILL, and memory kills in the job's own cgroup that the samples show to be older than "
      "two "
      "seconds and a second for each GiB"},
     killed_after_worker},
    {{"memory-own-limit", FindingKind::cause, "memory limit",
      "SIGKILL, a memory kill in the job's own cgroup, and a hit of that cgroup's own limit (v2: "
      "local "
      "oom; v1: failcnt or memsw.failcnt, or a limit of memory with swap and that group was full)"},
     own_limit},
    {{"memory-inner-limit", FindingKind::cause, "limit of an inner cgroup",
      "SIGKILL, a memory kill below the job's own cgroup, and a hit of a limit there but not of "
      "its "
      "own"},
     inner_limit},
    {{"memory-limit-above", FindingKind::cause, "limit further up",
      "SIGKILL, a memory kill in the job's own cgroup without a hit of its own limit, and exactly "
      "one "
      "cgroup above whose own limit was hit during the run (v1, a limit of memory with swap: that "
      "was full)"},
     limit_above},
    {{"memory-machine", FindingKind::cause, "machine out of memory",
      "SIGKILL, a memory kill in the job's own cgroup, and no limit hit in any cgroup up to the "
      "root"},
     whole_machine},
    {{"memory-unknown-limit", FindingKind::cause, "memory killer, limit unknown",
      "SIGKILL and a memory kill in the job's own cgroup, but several limits fit or some are "
      "hidden"},
     unknown_limit},
    {{"memory-worker-killed", FindingKind::cause, "memory killer took a worker",
      "a memory kill in the job's own cgroup, though the job itself did not die of SIGKILL"},
     worker_killed},
}};

}  // namespace

std::span<const RuleRow> memory_cause_rules() {
    return kRows;
}

}  // namespace mapdiag::diagnose
