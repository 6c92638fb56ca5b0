#include "mapdiag/stacks/export.h"

#include "profile_commands.h"
#include "profile_options.h"
#include "talk.h"

namespace mapdiag::cli {
namespace {

struct ExportOptions {
    std::vector<std::string> files;
    std::string to;
    std::string output;
    ProfileOptions profile;
};

int write_export(const ExportOptions& options) {
    if (options.to == "pprof" && options.output.empty() && is_terminal(kStandardOutput)) {
        say_error("a pprof file is not for a terminal: use -o FILE or a pipe");
        return kUsage;
    }
    const auto filters = find_filters(options.profile);
    if (!filters) {
        return kUsage;
    }
    const auto profile = find_profile(options.files, options.profile, *filters);
    if (!profile) {
        return kFailed;
    }
    for (const auto& line : filter_lines(*profile)) {
        say_warning(line);
    }
    return write_result(options.output, [&](const stacks::Sink& sink) {
        if (options.to == "speedscope") {
            return write_speedscope(*profile, options.files.front(), sink);
        }
        return options.to == "pprof" ? write_pprof(*profile, sink) : write_folded(*profile, sink);
    });
}

}  // namespace

void add_export_command(CLI::App& app, Action& chosen) {
    auto* const command = app.add_subcommand("export", "Write folded profiles for other tools");
    const auto options = std::make_shared<ExportOptions>();
    command->add_option("FILE", options->files, "Profiles, read as one; - is standard input")
        ->required();
    command->add_option("--to", options->to, "The format")
        ->required()
        ->check(CLI::IsMember({"speedscope", "pprof", "folded"}));
    command->add_option("-o,--output", options->output, "The file to write, else standard output");
    add_profile_options(*command, options->profile);
    command->callback(
        [&chosen, options] { chosen = [options] { return write_export(*options); }; });
}

}  // namespace mapdiag::cli
