// What to do about memory, for runs that died of it and for runs that lived.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "mapdiag/support/units.h"
#include "memory_verdict.h"
#include "rule_table.h"

namespace mapdiag::diagnose {
namespace {

using namespace record;

constexpr double kHeadroom = 1.25;
constexpr double kNearLimit = 0.9;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
/// Under this, the right size of a run is nobody's question.
constexpr std::uint64_t kWorthSizing = 64 * kMiB;

constexpr const char* kLessMemory =
    "make the job need less: a smaller --chunk-size, or a fixed $LINKML_MAP_DUCKDB_MEMORY_LIMIT";

double share(const RunRecord& record) {
    // An upper bound does not show that the job came near its limit.
    const bool bound = record.placement == Placement::shared_cgroup;
    if (!record.peak || !record.limit || record.limit->bytes == 0 || bound) {
        return 0;
    }
    return static_cast<double>(*record.peak) / static_cast<double>(record.limit->bytes);
}

// A round figure that people put into a configuration.
std::uint64_t rounded_up(double bytes) {
    const double step = bytes < 1024.0 * static_cast<double>(kMiB) ? 16 : 128;
    const auto unit = step * static_cast<double>(kMiB);
    return static_cast<std::uint64_t>(std::ceil(bytes / unit) * unit);
}

// Where the limit can be raised: "the memory limit of /a/b", "--memory-limit".
std::string name_of_limit(const RunRecord& record) {
    if (!record.limit) {
        return "the memory limit of its cgroup";
    }
    const bool ours = !record.limit->carried && record.held_to.memory == record.limit->bytes;
    return ours ? "--memory-limit" : "the memory limit of " + record.limit->owner;
}

std::optional<Finding> raise_limit(const Facts& facts) {
    const auto& record = facts.record();
    const auto verdict = judge_memory(facts);
    if (verdict.culprit != Culprit::own && verdict.culprit != Culprit::above) {
        return std::nullopt;
    }
    const bool above = verdict.culprit == Culprit::above;
    const auto name = above ? "the memory limit of " + verdict.above->path : name_of_limit(record);
    const auto bytes = above ? verdict.above->limit
                             : (record.limit ? std::optional(record.limit->bytes) : std::nullopt);
    const auto over = bytes ? fmt::format(" above {}", format_bytes(*bytes)) : std::string();
    return said(fmt::format("raise {}{} (how much it needs is not known: it was killed "
                            "on the way up), {}or {}",
                            name, over, above ? "run fewer jobs in it at once, " : "", kLessMemory),
                memory_proofs(facts, verdict));
}

std::optional<Finding> machine_full(const Facts& facts) {
    const auto verdict = judge_memory(facts);
    if (verdict.culprit != Culprit::machine) {
        return std::nullopt;
    }
    return said(fmt::format("run fewer jobs at once on this machine, take a larger one, or {}",
                            kLessMemory),
                memory_proofs(facts, verdict));
}

std::optional<Finding> turn_killer_on(const Facts& facts) {
    const auto& record = facts.record();
    if (!record.killer_disabled) {
        return std::nullopt;
    }
    return said(
        "turn the memory killer of the job's cgroup on again (0 into oom_kill_disable of "
        "memory.oom_control): with it off, a job at its limit sleeps for ever",
        {{"oom_kill_disable", "1", "memory.oom_control"}});
}

// The limit was reached or nearly so, though nobody was killed. File cache alone is no reason to
// worry: the kernel gives it back.
std::optional<Finding> near_limit(const Facts& facts) {
    const auto& record = facts.record();
    if (facts.memory_killed() || record.stuck_at_limit || share(record) < kNearLimit) {
        return std::nullopt;
    }
    const auto needed = facts.needed_bytes();
    const auto limit = record.limit->bytes;
    const auto at = format_share(static_cast<double>(*record.peak), static_cast<double>(limit));
    const auto proofs = std::vector<Proof>{proof_of("peak", record.peak), proof_of_limit(record)};
    if (needed && static_cast<double>(*needed) < kNearLimit * static_cast<double>(limit)) {
        return said(fmt::format("the peak is {} of the limit, but about {} of it was file cache, "
                                "which the kernel gives back: that is no need for more memory",
                                at, format_bytes(*record.peak - *needed)),
                    proofs);
    }
    return said(
        fmt::format("the run lived at {} of its limit: the next larger input may be killed; "
                    "raise {}, or {}",
                    at, name_of_limit(record), kLessMemory),
        proofs);
}

std::optional<Finding> right_size(const Facts& facts) {
    const auto& record = facts.record();
    const auto needed = facts.needed_bytes();
    if (!facts.ended_well() || facts.memory_killed() || !needed || *needed < kWorthSizing) {
        return std::nullopt;
    }
    const auto size = rounded_up(static_cast<double>(*needed) * kHeadroom);
    const auto whole = record.limit            ? std::optional(record.limit->bytes)
                       : record.machine_memory ? std::optional(*record.machine_memory)
                                               : std::nullopt;
    auto text = fmt::format("a memory limit of {} would fit this run with a quarter of headroom",
                            format_bytes(size));
    if (whole) {
        const auto fits = *whole / size;
        text += fits == 0
                    ? fmt::format("; {} {} is less than that",
                                  record.limit ? "the limit in force of" : "this machine's",
                                  format_bytes(*whole))
                    : fmt::format("; {} such {} at once in {} of {}", fits,
                                  fits == 1 ? "run fits" : "runs fit",
                                  record.limit ? "the limit in force" : "this machine's memory",
                                  format_bytes(*whole));
    }
    return said(std::move(text),
                {proof_of("peak", record.peak),
                 {"of it not file cache", format_bytes(*needed), "the highest sample"},
                 proof_of_limit(record),
                 proof_of("memory of the machine", record.machine_memory)});
}

std::optional<Finding> swapping(const Facts& facts) {
    const auto& sample = facts.record().peak_sample;
    if (!sample || sample->split.swap.value_or(0) < 16 * kMiB) {
        return std::nullopt;
    }
    return said(fmt::format("{} of the job's memory were in swap at the highest sample: that slows "
                            "it down; give it more memory, or {}",
                            format_bytes(*sample->split.swap), kLessMemory),
                {{"swap", format_bytes(*sample->split.swap), sample.source()}});
}

// Growth without end: the second half of the run goes on at no less than half the rate of the
// first. A plateau or one spike does not.
struct Growth {
    double bytes_per_s = 0;
    double at_end = 0;
};

std::optional<Growth> steady_growth(std::span<const Sample> samples) {
    constexpr std::size_t kFewest = 20;
    constexpr double kShortest = 10;
    std::vector<std::pair<double, double>> points;
    for (const auto& sample : samples) {
        // File cache comes and goes; where the kernel tells it apart it is left out.
        if (const auto anon = sample.split.anon ? sample.split.anon : sample.memory) {
            points.emplace_back(sample.at_s, static_cast<double>(*anon));
        }
    }
    if (points.size() < kFewest || points.back().first - points.front().first < kShortest) {
        return std::nullopt;
    }
    const auto& first = points.front();
    const auto& middle = points[points.size() / 2];
    const auto& last = points.back();
    if (middle.first <= first.first || last.first <= middle.first) {
        return std::nullopt;
    }
    const double early = (middle.second - first.second) / (middle.first - first.first);
    const double late = (last.second - middle.second) / (last.first - middle.first);
    const double highest =
        std::ranges::max(points, {}, [](const auto& point) { return point.second; }).second;
    const bool grows = early > 0 && late > early / 2 && last.second > 0.95 * highest &&
                       last.second > 2 * first.second;
    return grows ? std::optional(Growth{late, last.second}) : std::nullopt;
}

std::optional<Finding> growing(const Facts& facts) {
    const auto growth = steady_growth(facts.samples());
    if (!growth || growth->bytes_per_s * 60 < static_cast<double>(kMiB)) {
        return std::nullopt;
    }
    const auto& record = facts.record();
    auto text = fmt::format("memory grew without end, at {} a minute in the second half of the run",
                            format_bytes(static_cast<std::uint64_t>(growth->bytes_per_s * 60)));
    if (record.limit && static_cast<double>(record.limit->bytes) > growth->at_end) {
        text +=
            fmt::format("; at that rate the limit of {} is reached after {} more",
                        format_bytes(record.limit->bytes),
                        format_seconds((static_cast<double>(record.limit->bytes) - growth->at_end) /
                                       growth->bytes_per_s));
    }
    return said(std::move(text),
                {{"samples", std::to_string(facts.samples().size()), "the journal"},
                 proof_of_limit(record)});
}

constexpr std::array<RuleRow, 7> kRows = {{
    {{"raise-limit", FindingKind::advice, "raise the limit",
      "a memory kill at the own limit or at one above"},
     raise_limit},
    {{"machine-full", FindingKind::advice, "fewer at once",
      "a memory kill because the whole machine had no memory left"},
     machine_full},
    {{"killer-off", FindingKind::advice, "memory killer off",
      "cgroup v1: oom_kill_disable was set at the end"},
     turn_killer_on},
    {{"near-limit", FindingKind::advice, "near the limit",
      "the peak is at 90 % of the limit or more, and nobody was killed; told apart by what was "
      "file "
      "cache"},
     near_limit},
    {{"right-size", FindingKind::advice, "right size",
      "status 0, and 64 MiB or more that were not file cache"},
     right_size},
    {{"swapping", FindingKind::advice, "swapping", "16 MiB or more in swap at the highest sample"},
     swapping},
    {{"growing", FindingKind::advice, "growing",
      "20 samples or more over 10 s or more: anonymous memory more than doubled, ended at its "
      "highest, "
      "and the second half grew at half the rate of the first or faster"},
     growing},
}};

}  // namespace

std::span<const RuleRow> memory_advice_rules() {
    return kRows;
}

}  // namespace mapdiag::diagnose
