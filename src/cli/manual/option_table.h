#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace mapdiag::cli {

/// What may stand where an option or an argument wants a value.
enum class ValueKind { none, text, choice, file, folder, command };

/// One option or positional argument of a command.
struct OptionEntry {
    std::vector<std::string> names;  ///< "--rate", "-r"; a positional's one name without dashes
    std::string value;               ///< what --help calls the value: "HZ"; empty for a flag
    std::string help;
    ValueKind kind = ValueKind::none;
    std::vector<std::string> choices;  ///< for ValueKind::choice
    bool repeated = false;             ///< a positional that may be given more than once
};

/// One command with everything below it.
struct CommandEntry {
    std::string path;  ///< "mapdiag run"
    std::string name;  ///< "run"
    std::string help;
    std::string footer;
    std::vector<OptionEntry> options;
    std::vector<OptionEntry> arguments;
    std::vector<CommandEntry> commands;
};

/// Reads the option table out of CLI11: the one source of --help, man page and completions.
/// Options and commands that --help hides are left out.
CommandEntry read_option_table(const CLI::App& app);

/// The command and all below it, in the order of --help.
std::vector<const CommandEntry*> all_commands(const CommandEntry& top);

}  // namespace mapdiag::cli
