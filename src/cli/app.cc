#include "app.h"

#include <algorithm>
#include <array>
#include <iostream>

#include "talk.h"

namespace mapdiag::cli {
namespace {

constexpr std::array<Command, 0> kCommands = {};

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

int run_command_line(int argc, char** argv) {
    Action chosen;
    const std::string_view named = argc > 1 && is_command(argv[1]) ? argv[1] : "";
    const auto app = make_app(chosen, named);
    try {
        app->parse(argc, argv);
    } catch (const CLI::ParseError& stop) {
        // CLI11 reports --help and --version in the same way as a wrong command line.
        if (stop.get_exit_code() == 0) {
            return app->exit(stop, std::cout, std::cerr);
        }
        app->exit(stop, std::cerr, std::cerr);
        return kUsage;
    }
    return chosen();
}

}  // namespace mapdiag::cli
