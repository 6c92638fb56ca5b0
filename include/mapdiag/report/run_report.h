#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mapdiag/diagnose/diagnose.h"
#include "mapdiag/record/journal.h"
#include "mapdiag/support/error.h"

namespace mapdiag::report {

/// The version of the JSON of `mapdiag report --json`, apart from the program's version.
inline constexpr int kReportVersion = 1;

/// One journal, judged.
struct ReportedRun {
    std::string path;
    /// Why the journal could not be read; empty where it could. The rest is empty then.
    std::string unreadable;
    record::Journal journal;
    std::vector<diagnose::Finding> findings;

    bool failed() const;
};

/// Runs that were under way at the same moment, at the moment when their peaks add up to most.
struct Overlap {
    std::vector<std::string> entities;
    std::uint64_t sum_of_peaks = 0;
    std::uint64_t largest_peak = 0;
    /// What they share, where it is known: the limit of one cgroup, or the machine's memory.
    std::optional<std::uint64_t> shared_bytes;
    std::string shared_owner;
    /// How many runs as large as the largest stay below `shared_bytes` together.
    std::optional<std::uint64_t> most_at_once;
};

/// Every journal below one folder, worst first.
struct Report {
    std::vector<ReportedRun> runs;
    std::optional<Overlap> overlap;  ///< nothing where no two runs overlapped

    bool any_failed() const;
};

/// Reads every *.diag.jsonl below `folder`, which may also be one such file. An error: no such
/// folder, or no journal in it.
Result<Report> make_report(const std::string& folder);

/// Judges one journal that was read.
ReportedRun judge_journal(std::string path, record::Journal journal);

/// The largest overlap among the runs.
std::optional<Overlap> find_overlap(const std::vector<ReportedRun>& runs);

/// For a person, with a line end.
std::string report_table(const Report& report);
/// As docs/report.md describes it, with a line end.
std::string report_json(const Report& report);
/// A Markdown table of at most `room` bytes; rows that don't fit are counted in a last one.
std::string report_markdown(const Report& report, std::size_t room);
/// Workflow commands of GitHub Actions, one for each run that failed, with line ends.
std::string report_annotations(const Report& report);

/// Appends the Markdown table to the file that $GITHUB_STEP_SUMMARY names, within its 1 MiB.
Result<void> append_step_summary(const Report& report, const std::string& path);

/// The findings of one run with their proofs, and what could not be read of its journal.
std::string explain_text(const ReportedRun& run);

}  // namespace mapdiag::report
