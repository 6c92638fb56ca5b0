#include "mapdiag/report/run_report.h"

#include <algorithm>
#include <filesystem>

#include "run_rank.h"

namespace mapdiag::report {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".diag.jsonl";
constexpr std::size_t kMostJournals = 100'000;

// Symbolic links to folders are not followed: a loop of them would never end.
Result<std::vector<std::string>> find_journals(const std::string& folder) {
    std::error_code failure;
    if (fs::is_regular_file(folder, failure)) {
        return std::vector<std::string>{folder};
    }
    fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied,
                                           failure);
    if (failure) {
        return std::unexpected(Error("open", folder, failure.value()));
    }
    std::vector<std::string> found;
    for (const fs::recursive_directory_iterator end;
         entry != end && found.size() < kMostJournals;) {
        std::error_code ignored;
        if (entry->path().string().ends_with(kEnding) && entry->is_regular_file(ignored)) {
            found.push_back(entry->path().string());
        }
        entry.increment(failure);
        if (failure) {
            return std::unexpected(Error("read", folder, failure.value()));
        }
    }
    std::ranges::sort(found);
    if (found.empty()) {
        return std::unexpected(Error::because("report", folder, "no *.diag.jsonl file below it"));
    }
    return found;
}

ReportedRun read_run(const std::string& path) {
    auto journal = record::read_journal(path);
    if (journal) {
        return judge_journal(path, std::move(*journal));
    }
    ReportedRun run;
    run.path = path;
    run.unreadable = journal.error().text();
    return run;
}

}  // namespace

bool ReportedRun::failed() const {
    return rank_of(*this) < Rank::near_limit;
}

bool Report::any_failed() const {
    return std::ranges::any_of(runs, &ReportedRun::failed);
}

ReportedRun judge_journal(std::string path, record::Journal journal) {
    ReportedRun run;
    run.path = std::move(path);
    run.journal = std::move(journal);
    run.findings = diagnose::diagnose(run.journal.record, run.journal.samples);
    return run;
}

Result<Report> make_report(const std::string& folder) {
    const auto paths = find_journals(folder);
    if (!paths) {
        return std::unexpected(paths.error());
    }
    Report report;
    for (const auto& path : *paths) {
        report.runs.push_back(read_run(path));
    }
    // By path where two are equally bad: the order must not depend on the folder's.
    std::ranges::sort(report.runs, [](const ReportedRun& a, const ReportedRun& b) {
        return is_worse(a, b) || (!is_worse(b, a) && a.path < b.path);
    });
    report.overlap = find_overlap(report.runs);
    return report;
}

}  // namespace mapdiag::report
