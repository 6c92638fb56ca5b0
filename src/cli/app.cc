#include "app.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <iterator>

#include "heap_command.h"
#include "profiles/profile_commands.h"
#include "report_command.h"
#include "run_command.h"
#include "timeline_command.h"

namespace mapdiag::cli {
namespace {

constexpr auto kCommands = std::to_array<Command>({
    {"run", add_run_command},
    {"report", add_report_command},
    {"explain", add_explain_command},
    {"timeline", add_timeline_command},
    {"heap", add_heap_command},
    {"top", add_top_command},
    {"diff", add_diff_command},
    {"flamegraph", add_flamegraph_command},
    {"export", add_export_command},
});

bool is_command(std::string_view name) {
    return std::ranges::any_of(commands(), [&](const Command& c) { return c.name == name; });
}

}  // namespace

std::span<const Command> commands() {
    return kCommands;
}

std::unique_ptr<CLI::App> make_app(Action& chosen, std::string_view only) {
    auto app = std::make_unique<CLI::App>(
        "Tells what happened to a mapping step: its true status, its true peak of memory,\n"
        "whose limit killed it, where the time went and what held the memory.",
        "mapdiag");
    app->set_version_flag("--version", "mapdiag " MAPDIAG_VERSION);
    app->require_subcommand(1);
    for (const auto& command : commands()) {
        if (only.empty() || command.name == only) {
            command.add(*app, chosen);
        }
    }
    return app;
}

std::optional<int> parse_or_stop(CLI::App& app, std::vector<std::string> reversed) {
    try {
        app.parse(std::move(reversed));
    } catch (const CLI::ParseError& stop) {
        // CLI11 reports --help and --version in the same way as a wrong command line.
        if (stop.get_exit_code() == 0) {
            return app.exit(stop, std::cout, std::cerr);
        }
        app.exit(stop, std::cerr, std::cerr);
        return kUsage;
    }
    return std::nullopt;
}

int run_command_line(int argc, char** argv) {
    const std::string_view named = argc > 1 && is_command(argv[1]) ? argv[1] : "";
    if (named == "run") {
        return run_the_run_command(argc, argv);
    }
    Action chosen;
    const auto app = make_app(chosen, named);
    std::vector<std::string> reversed(std::reverse_iterator(argv + argc),
                                      std::reverse_iterator(argv + std::min(argc, 1)));
    if (const auto stopped = parse_or_stop(*app, std::move(reversed))) {
        return *stopped;
    }
    return chosen();
}

}  // namespace mapdiag::cli
