#include "timeline_command.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "mapdiag/report/timeline.h"
#include "mapdiag/support/console.h"
#include "mapdiag/support/output_file.h"
#include "talk.h"

namespace mapdiag::cli {
namespace {

constexpr int kStdout = 1;
constexpr std::size_t kUsualWidth = 100;

struct TimelineFlags {
    std::string journal;
    bool json = false;
    bool svg = false;
    std::string output;
    std::optional<std::size_t> width;
};

int draw(const TimelineFlags& flags) {
    const auto journal = record::read_journal(flags.journal);
    const auto timeline = journal ? report::make_timeline(*journal)
                                  : Result<report::Timeline>(std::unexpected(journal.error()));
    if (!timeline) {
        say_error(timeline.error().text());
        return kFailed;
    }
    const auto width = flags.width ? *flags.width : terminal_width(kStdout).value_or(kUsualWidth);
    const auto text = flags.svg    ? report::timeline_svg(*timeline)
                      : flags.json ? report::timeline_json(*timeline)
                                   : report::timeline_text(*timeline, width);
    if (!flags.output.empty()) {
        if (const auto written = write_output_file(flags.output, text); !written) {
            say_error(written.error().text());
            return kFailed;
        }
        return kOk;
    }
    std::cout << text << std::flush;
    if (!std::cout) {
        say_error("can't write to stdout");
        return kFailed;
    }
    return kOk;
}

}  // namespace

void add_timeline_command(CLI::App& app, Action& chosen) {
    auto flags = std::make_shared<TimelineFlags>();
    auto* command = app.add_subcommand(
        "timeline",
        "Draws one run over time from its journal: memory against its limit, cores in use, and\n"
        "what happened when.");
    command->add_option("JOURNAL", flags->journal, "The run's journal (E.diag.jsonl)")->required();
    auto* json =
        command->add_flag("--json", flags->json, "Print JSON (docs/report.md describes it)");
    command->add_flag("--svg", flags->svg, "Draw an SVG picture")->excludes(json);
    command->add_option("-o,--output", flags->output, "File to write to; else stdout")
        ->type_name("FILE");
    command
        ->add_option("--width", flags->width,
                     "Columns of the drawing; else those of the terminal, else 100")
        ->check(CLI::Range(std::size_t{40}, std::size_t{1000}))
        ->type_name("N");
    command->callback([flags, &chosen] { chosen = [flags] { return draw(*flags); }; });
}

}  // namespace mapdiag::cli
