// Runs that never began, or whose end mapdiag itself did not see or made.
#include <fmt/format.h>

#include <array>

#include "mapdiag/support/units.h"
#include "rule_table.h"

namespace mapdiag::diagnose {
namespace {

using namespace record;

std::optional<Finding> not_started(const Facts& facts) {
    const auto* ending = std::get_if<NotStarted>(&facts.record().ending);
    if (ending == nullptr) {
        return std::nullopt;
    }
    return said(fmt::format("the command was never started: {}", ending->reason),
                {proof_of_ending(facts.record())});
}

std::optional<Finding> wrapper_killed(const Facts& facts) {
    if (!std::holds_alternative<WrapperKilled>(facts.record().ending)) {
        return std::nullopt;
    }
    return said(
        fmt::format("mapdiag itself was killed (SIGKILL or a crash) {} after the start, and its "
                    "watcher ended the job with it; can't tell who did it, because a process does "
                    "not see who kills it",
                    format_seconds(facts.record().wall_s)),
        {proof_of_ending(facts.record())});
}

std::optional<Finding> no_end(const Facts& facts) {
    if (!std::holds_alternative<std::monostate>(facts.record().ending)) {
        return std::nullopt;
    }
    return said(
        fmt::format("the journal stops {} after the start without an end: everything was killed at "
                    "once (the container or the machine ended), or the run still goes on",
                    format_seconds(facts.record().wall_s)),
        {{"end of the journal", "missing", "the journal"}});
}

std::optional<Finding> time_limit(const Facts& facts) {
    if (!facts.record().timed_out) {
        return std::nullopt;
    }
    const auto& record = facts.record();
    const auto& held = record.held_to;
    const auto limit =
        held.time_s ? fmt::format(" of {} (--time-limit)", format_seconds(*held.time_s)) : "";
    const auto how = held.killed ? fmt::format("SIGTERM, and {} later SIGKILL to all that was left",
                                               format_seconds(held.kill_after_s.value_or(0)))
                                 : std::string("SIGTERM");
    return said(fmt::format("mapdiag's own time limit{} ended it, after {}: {}", limit,
                            format_seconds(record.wall_s), how),
                {proof_of_ending(record),
                 {"time limit", held.time_s ? format_seconds(*held.time_s) : "reached",
                  "mapdiag's --time-limit"}});
}

constexpr std::array<RuleRow, 4> kRows = {{
    {{"not-started", FindingKind::cause, "never started", "the command could not be executed"},
     not_started},
    {{"mapdiag-killed", FindingKind::cause, "mapdiag killed",
      "the watcher ended the journal, because mapdiag was gone"},
     wrapper_killed},
    {{"no-end", FindingKind::cause, "no end", "the journal has no end line"}, no_end},
    {{"time-limit", FindingKind::cause, "mapdiag's time limit",
      "mapdiag's own time limit was reached"},
     time_limit},
}};

}  // namespace

std::span<const RuleRow> start_and_end_rules() {
    return kRows;
}

}  // namespace mapdiag::diagnose
