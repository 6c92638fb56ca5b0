// Where the time went, as far as the figures tell without a look into the profile.
#include <fmt/format.h>

#include <array>

#include "mapdiag/support/units.h"
#include "rule_table.h"

namespace mapdiag::diagnose {
namespace {

using namespace record;

constexpr double kLongEnough = 1.0;  ///< seconds: below, start-up is everything
constexpr double kIdleShare = 0.25;  ///< of one core
constexpr double kStallShare = 0.1;  ///< of the wall clock
constexpr double kOneCoreFrom = 0.85;
constexpr double kOneCoreTo = 1.15;

std::vector<Proof> time_proofs(const Facts& facts) {
    const auto& record = facts.record();
    return {{"wall clock", format_seconds(record.wall_s), "monotonic clock"},
            proof_of_seconds("user CPU", record.user_s),
            proof_of_seconds("system CPU", record.system_s)};
}

std::optional<Finding> mostly_idle(const Facts& facts) {
    const auto cpu = facts.cpu_s();
    const auto wall = facts.record().wall_s;
    const auto& throttled = facts.record().throttled_s;
    // Time for which the quota stopped it is no waiting for something else.
    const auto wanted = cpu.value_or(0) + (throttled ? *throttled : 0);
    if (!cpu || wall < kLongEnough || wanted >= kIdleShare * wall) {
        return std::nullopt;
    }
    return said(fmt::format("mostly idle: {} of wall clock, {} of CPU time ({} of one core); it "
                            "waited for something else (disk, network, a lock, a sleep, a "
                            "processor that others had): look at a "
                            "profile with idle stacks",
                            format_seconds(wall), format_seconds(*cpu), format_share(*cpu, wall)),
                time_proofs(facts));
}

std::optional<Finding> throttled(const Facts& facts) {
    const auto& record = facts.record();
    if (!record.throttled_s || record.wall_s < kLongEnough ||
        *record.throttled_s < kStallShare * record.wall_s) {
        return std::nullopt;
    }
    auto proofs = time_proofs(facts);
    proofs.push_back(proof_of_seconds("throttled", record.throttled_s));
    return said(
        fmt::format("the CPU quota stopped it for {} ({} of the wall clock): raise {}, or let it "
                    "use fewer threads",
                    format_seconds(*record.throttled_s),
                    format_share(*record.throttled_s, record.wall_s),
                    record.held_to.cores ? "--cpu-limit" : "cpu.max"),
        std::move(proofs));
}

std::optional<Finding> one_core(const Facts& facts) {
    const auto& record = facts.record();
    const auto cpu = facts.cpu_s();
    if (!cpu || !record.cores || *record.cores < 2 || record.wall_s < 10 * kLongEnough) {
        return std::nullopt;
    }
    const auto busy = *cpu / record.wall_s;
    if (busy < kOneCoreFrom || busy > kOneCoreTo) {
        return std::nullopt;
    }
    return said(fmt::format("one core was busy, of {:.0f} that it may use: more entities at once "
                            "would use the others",
                            *record.cores),
                time_proofs(facts));
}

std::optional<Finding> memory_stalls(const Facts& facts) {
    const auto& record = facts.record();
    if (!record.memory_pressure_s || record.wall_s < kLongEnough ||
        *record.memory_pressure_s < kStallShare * record.wall_s) {
        return std::nullopt;
    }
    const bool high = record.events && record.events->high.value_or(0) > 0;
    return said(fmt::format("some process waited for memory for {} ({} of the wall clock): {}",
                            format_seconds(*record.memory_pressure_s),
                            format_share(*record.memory_pressure_s, record.wall_s),
                            high ? "memory.high slows it down; raise it"
                                 : "the kernel kept making room below the limit; raise the limit"),
                {proof_of_seconds("waiting for memory", record.memory_pressure_s),
                 proof_of_event("times over memory.high", record.events, &MemoryEvents::high)});
}

std::optional<Finding> disk_stalls(const Facts& facts) {
    const auto& record = facts.record();
    if (!record.io_pressure_s || record.wall_s < kLongEnough ||
        *record.io_pressure_s < kStallShare * record.wall_s) {
        return std::nullopt;
    }
    return said(
        fmt::format("some process waited for a disk for {} ({} of the wall clock): a faster "
                    "disk, or input that stays in the file cache, would help",
                    format_seconds(*record.io_pressure_s),
                    format_share(*record.io_pressure_s, record.wall_s)),
        {proof_of_seconds("waiting for a disk", record.io_pressure_s)});
}

constexpr std::array<RuleRow, 5> kRows = {{
    {{"mostly-idle", FindingKind::advice, "mostly idle",
      "1 s or more of wall clock, and CPU time and time stopped by the CPU quota below a quarter "
      "of "
      "it"},
     mostly_idle},
    {{"throttled", FindingKind::advice, "CPU quota",
      "throttled by the CPU quota for a tenth of the wall clock or more"},
     throttled},
    {{"one-core", FindingKind::advice, "one core busy",
      "10 s or more of wall clock, CPU time within 15 % of it, and two or more cores to use"},
     one_core},
    {{"memory-stalls", FindingKind::advice, "waiting for memory",
      "memory pressure (some) for a tenth of the wall clock or more"},
     memory_stalls},
    {{"disk-stalls", FindingKind::advice, "waiting for disk",
      "disk pressure (some) for a tenth of the wall clock or more"},
     disk_stalls},
}};

}  // namespace

std::span<const RuleRow> slow_rules() {
    return kRows;
}

}  // namespace mapdiag::diagnose
