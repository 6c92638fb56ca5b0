#include "report_command.h"

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "mapdiag/report/run_report.h"
#include "talk.h"

namespace mapdiag::cli {
namespace {

struct ReportFlags {
    std::string folder = ".";
    bool json = false;
};

// stdout must have taken everything before the status may say that it did.
bool print(const std::string& text) {
    std::cout << text << std::flush;
    if (!std::cout) {
        say_error("can't write to stdout");
        return false;
    }
    return true;
}

// In a job of GitHub Actions: the table in the job's summary, an annotation for each failed run.
// Annotations go to stderr, where GitHub looks for them, too: stdout may be JSON.
bool tell_github(const report::Report& report) {
    const char* summary = std::getenv("GITHUB_STEP_SUMMARY");
    if (summary == nullptr || *summary == '\0') {
        return true;
    }
    std::cerr << report::report_annotations(report) << std::flush;
    if (const auto written = report::append_step_summary(report, summary); !written) {
        say_error(written.error().text());
        return false;
    }
    return true;
}

int report_runs(const ReportFlags& flags) {
    const auto report = report::make_report(flags.folder);
    if (!report) {
        say_error(report.error().text());
        return kFailed;
    }
    const bool printed =
        print(flags.json ? report::report_json(*report) : report::report_table(*report));
    const bool told = tell_github(*report);
    return printed && told && !report->any_failed() ? kOk : kFailed;
}

int explain(const std::string& path) {
    auto journal = record::read_journal(path);
    if (!journal) {
        say_error(journal.error().text());
        return kFailed;
    }
    return print(report::explain_text(report::judge_journal(path, std::move(*journal)))) ? kOk
                                                                                         : kFailed;
}

}  // namespace

void add_report_command(CLI::App& app, Action& chosen) {
    auto flags = std::make_shared<ReportFlags>();
    auto* command = app.add_subcommand(
        "report",
        "One table of all runs whose journals are below a folder, worst first: how each ended, "
        "its\n"
        "peak and limit, its cause; and what runs that overlapped needed together. Exit status 1\n"
        "when any of them failed.");
    command->add_option("DIR", flags->folder, "Folder to look in, or one journal")
        ->capture_default_str();
    command->add_flag("--json", flags->json, "Print JSON (docs/report.md describes it)");
    command->callback([flags, &chosen] { chosen = [flags] { return report_runs(*flags); }; });
}

void add_explain_command(CLI::App& app, Action& chosen) {
    auto path = std::make_shared<std::string>();
    auto* command = app.add_subcommand(
        "explain", "Prints all findings about one run, each with the readings that prove it.");
    command->add_option("JOURNAL", *path, "The run's journal (E.diag.jsonl)")->required();
    command->callback([path, &chosen] { chosen = [path] { return explain(*path); }; });
}

}  // namespace mapdiag::cli
