#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mapdiag/record/signal_names.h"
#include "mapdiag/report/run_report.h"
#include "mapdiag/support/text.h"
#include "mapdiag/support/units.h"
#include "memory_lines.h"
#include "report_row.h"
#include "run_rank.h"

namespace mapdiag::report {
namespace {

using namespace record;

// Characters, not bytes: names may hold any letters.
std::size_t width_of(std::string_view text) {
    std::size_t width = 0;
    while (!text.empty()) {
        text.remove_prefix(std::max<std::size_t>(utf8_length(text), 1));
        ++width;
    }
    return width;
}

bool is_right_aligned(std::size_t column) {
    return column >= 2 && column <= 6;
}

std::string aligned_table(const std::vector<Row>& rows) {
    std::array<std::size_t, kColumns> widths = {};
    for (const auto& row : rows) {
        for (std::size_t i = 0; i < kColumns; ++i) {
            widths[i] = std::max(widths[i], width_of(row[i]));
        }
    }
    std::string out;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < kColumns; ++i) {
            const std::string blanks(widths[i] - width_of(row[i]), ' ');
            line += i == 0 ? "" : "  ";
            line += is_right_aligned(i) ? blanks + row[i] : row[i] + blanks;
        }
        line.resize(line.find_last_not_of(' ') + 1);
        out += line + '\n';
    }
    return out;
}

// Below the table: for every run that failed or has something to say, why.
std::string details(const Report& report) {
    std::string out;
    for (const auto& run : report.runs) {
        const auto& name = run.journal.record.entity;
        if (!run.unreadable.empty()) {
            out += fmt::format("{}: {}\n", printable(run.path), run.unreadable);
            continue;
        }
        for (const auto& finding : run.findings) {
            const bool is_cause = finding.kind == diagnose::FindingKind::cause;
            const bool shown =
                (is_cause && !finding.plain) || finding.kind == diagnose::FindingKind::warning;
            if (shown) {
                out += fmt::format("{}: {}{}\n", name, is_cause ? "" : "warning: ", finding.text);
            }
        }
        for (const auto& note : run.journal.notes) {
            out += fmt::format("{}: warning: journal {}: {}\n", name, printable(run.path), note);
        }
    }
    return out.empty() ? out : '\n' + out;
}

std::string totals(const Report& report) {
    const auto failed = std::ranges::count_if(report.runs, &ReportedRun::failed);
    return fmt::format("\n{} {}, {} failed\n", report.runs.size(),
                       report.runs.size() == 1 ? "run" : "runs", failed);
}

}  // namespace

Row header_row() {
    return {"ENTITY", "ENDED", "WALL", "CPU", "PEAK", "LIMIT", "SHARE", "CAUSE"};
}

std::string ended_text(const Ending& ending) {
    if (const auto* exited = std::get_if<Exited>(&ending)) {
        return fmt::format("exit {}", exited->code);
    }
    if (const auto* killed = std::get_if<Killed>(&ending)) {
        return signal_name(killed->signal);
    }
    if (std::holds_alternative<NotStarted>(ending)) {
        return "never started";
    }
    return std::holds_alternative<WrapperKilled>(ending) ? "mapdiag killed" : "no end";
}

Row row_of(const ReportedRun& run) {
    if (!run.unreadable.empty()) {
        const auto name = run.path.substr(run.path.rfind('/') + 1);
        return {printable(name), "unreadable", "n/a", "n/a",
                "n/a",           "n/a",        "n/a", "journal not readable"};
    }
    const auto& record = run.journal.record;
    const auto peak = best_peak(record);
    const auto share = share_of_limit(record);
    const bool at_least = !record.peak || is_sampled(record);
    const bool timed = record.user_s && record.system_s && record.wall_s > 0;
    return {record.entity,
            ended_text(record.ending),
            format_seconds(record.wall_s),
            timed
                ? fmt::format("{:.0f} %", 100 * (*record.user_s + *record.system_s) / record.wall_s)
                : "n/a",
            peak ? (at_least ? ">= " : "") + format_bytes(*peak) : "n/a",
            record.limit ? format_bytes(record.limit->bytes) : "n/a",
            share ? fmt::format("{:.0f} %", 100 * *share) : "n/a",
            std::string(run.findings.front().label)};
}

std::string overlap_text(const std::optional<Overlap>& overlap, std::size_t runs) {
    if (!overlap) {
        return runs > 1 ? "No two of these runs overlapped.\n" : "";
    }
    std::string names;
    constexpr std::size_t kMostNamed = 8;
    const auto& entities = overlap->entities;
    for (std::size_t i = 0; i < std::min(entities.size(), kMostNamed); ++i) {
        names += (i == 0 ? "" : ", ") + entities[i];
    }
    if (entities.size() > kMostNamed) {
        names += fmt::format(" and {} more", entities.size() - kMostNamed);
    }
    auto text = fmt::format("{} runs overlapped ({}): their peaks add up to {}", entities.size(),
                            names, format_bytes(overlap->sum_of_peaks));
    if (!overlap->shared_bytes) {
        return text + "; what limit they share is not known\n";
    }
    text += fmt::format(", {} of the {} of {}",
                        format_share(static_cast<double>(overlap->sum_of_peaks),
                                     static_cast<double>(*overlap->shared_bytes)),
                        format_bytes(*overlap->shared_bytes), overlap->shared_owner);
    if (overlap->most_at_once) {
        text +=
            fmt::format(". Runs as large as the largest ({}) fit into it {} at once (make -j{})",
                        format_bytes(overlap->largest_peak), *overlap->most_at_once,
                        std::max<std::uint64_t>(*overlap->most_at_once, 1));
    }
    return text + ".\n";
}

std::string report_table(const Report& report) {
    std::vector<Row> rows = {header_row()};
    for (const auto& run : report.runs) {
        rows.push_back(row_of(run));
    }
    auto out = aligned_table(rows) + details(report) + totals(report);
    return out + overlap_text(report.overlap, report.runs.size());
}

std::string explain_text(const ReportedRun& run) {
    const auto& record = run.journal.record;
    auto out = fmt::format("{}: {}, {} with {} arguments, started at {}\n", record.entity,
                           ended_text(record.ending), record.program, record.argument_count,
                           record.started_at);
    for (const auto& finding : run.findings) {
        out += fmt::format("\n{} [{}]\n  {}\n", diagnose::finding_kind_name(finding.kind),
                           finding.id, finding.text);
        for (const auto& proof : finding.proofs) {
            out += fmt::format("    {} = {}{}\n", proof.reading, proof.value,
                               proof.source.empty() ? "" : "  (" + proof.source + ")");
        }
    }
    for (const auto& note : run.journal.notes) {
        out += fmt::format("\nnote: {}\n", note);
    }
    return out;
}

}  // namespace mapdiag::report
