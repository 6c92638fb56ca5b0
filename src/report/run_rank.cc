#include "run_rank.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace mapdiag::report {
namespace {

using namespace record;

bool has_finding(const ReportedRun& run, std::string_view id) {
    return std::ranges::find(run.findings, id, &diagnose::Finding::id) != run.findings.end();
}

bool output_is_bad(const ReportedRun& run) {
    constexpr std::array<std::string_view, 4> kBad = {"output-incomplete", "output-missing",
                                                      "output-empty", "output-temporary"};
    return std::ranges::any_of(kBad, [&](std::string_view id) { return has_finding(run, id); });
}

}  // namespace

Rank rank_of(const ReportedRun& run) {
    if (!run.unreadable.empty()) {
        return Rank::unreadable;
    }
    const auto& record = run.journal.record;
    const auto* exited = std::get_if<Exited>(&record.ending);
    const bool memory = record.events && record.events->oom_kill.value_or(0) > 0;
    if (std::holds_alternative<std::monostate>(record.ending) ||
        std::holds_alternative<WrapperKilled>(record.ending)) {
        return Rank::no_end;
    }
    if (memory && (exited == nullptr || exited->code != 0)) {
        return Rank::memory_kill;
    }
    if (std::holds_alternative<Killed>(record.ending) || record.timed_out) {
        return Rank::killed;
    }
    if (exited == nullptr || exited->code != 0) {
        return Rank::failed;
    }
    if (output_is_bad(run)) {
        return Rank::bad_output;
    }
    return has_finding(run, "near-limit") ? Rank::near_limit : Rank::well;
}

std::optional<std::uint64_t> best_peak(const RunRecord& record) {
    if (record.peak) {
        return *record.peak;
    }
    return record.peak_sample ? std::optional(record.peak_sample->memory) : std::nullopt;
}

std::optional<double> share_of_limit(const RunRecord& record) {
    const auto peak = best_peak(record);
    if (!peak || !record.limit || record.limit->bytes == 0) {
        return std::nullopt;
    }
    return static_cast<double>(*peak) / static_cast<double>(record.limit->bytes);
}

bool is_worse(const ReportedRun& a, const ReportedRun& b) {
    const auto key = [](const ReportedRun& run) {
        const auto& record = run.journal.record;
        return std::tuple(rank_of(run), -share_of_limit(record).value_or(0),
                          -static_cast<double>(best_peak(record).value_or(0)));
    };
    const auto key_a = key(a);
    const auto key_b = key(b);
    if (key_a != key_b) {
        return key_a < key_b;
    }
    return std::tie(a.journal.record.entity, a.path) < std::tie(b.journal.record.entity, b.path);
}

}  // namespace mapdiag::report
