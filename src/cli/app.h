#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mapdiag::cli {

/// What the chosen command does once the whole command line has been read; gives the exit status.
using Action = std::function<int()>;

/// Exit statuses of every command but `run`, which leaves with the job's own.
enum ExitStatus : int {
    kOk = 0,
    kFailed = 1,     ///< the work could not be done; one line on stderr says why
    kUsage = 2,      ///< the command line was wrong; nothing was done
    kGateFailed = 3  ///< a limit that the user set (--fail-above) was passed
};

/// One row of the command table: adds its subcommand with all its options to `app` and, when the
/// user calls it, puts what to do into `chosen`. Parsing itself does no work.
struct Command {
    std::string_view name;
    void (*add)(CLI::App& app, Action& chosen);
};

/// Every command, in the order of --help.
std::span<const Command> commands();

/// The option table from which --help, the man page and the completions are made: the program with
/// all commands, or with the one named `only` (a start costs less that way).
std::unique_ptr<CLI::App> make_app(Action& chosen, std::string_view only = {});

/// Parses words in reverse order, as CLI11 wants them. Gives the exit status where the command line
/// was wrong or only asked for --help or --version.
std::optional<int> parse_or_stop(CLI::App& app, std::vector<std::string> reversed);

/// Reads the command line, does what it asks and gives the exit status.
int run_command_line(int argc, char** argv);

}  // namespace mapdiag::cli
