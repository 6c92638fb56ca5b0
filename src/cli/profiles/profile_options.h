#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "mapdiag/stacks/filters.h"
#include "mapdiag/stacks/flame_graph.h"
#include "mapdiag/stacks/ranking.h"
#include "mapdiag/stacks/reader.h"
#include "mapdiag/stacks/tables.h"
#include "mapdiag/support/console.h"

namespace mapdiag::cli {

/// How profiles are read and filtered: the same options on every command that reads any.
struct ProfileOptions {
    std::string include;
    std::string exclude;
    std::string root;
    std::string hide;
    bool hide_startup = false;
    bool merge_processes = false;
    bool collapse_recursion = false;
    bool strict = false;
    bool command_lines = false;
};
void add_profile_options(CLI::App& command, ProfileOptions& options);

/// The patterns of the options, compiled; nothing, after saying why, where one is wrong.
std::optional<stacks::Filters> find_filters(const ProfileOptions& options);

/// Reads and filters; says what the reader has to say. Nothing, after saying why, on failure.
std::optional<stacks::Profile> find_profile(const std::vector<std::string>& files,
                                            const ProfileOptions& options,
                                            const stacks::Filters& filters);

/// What a profile's filters did, a line each.
std::vector<std::string> filter_lines(const stacks::Profile& profile);

/// How a table of frames is made and shown: the options of top and diff.
struct TableChoices {
    std::string by = "line";
    std::string sort = "self";
    std::string colour = "auto";
    std::size_t limit = 30;
    bool json = false;
};
void add_table_choices(CLI::App& command, TableChoices& choices);
void add_colour_option(CLI::App& command, std::string& colour);

stacks::GroupBy group_by(const std::string& name);
stacks::SortBy sort_by(const std::string& name);
ColourChoice colour_choice(const std::string& name);

/// Fitted to the terminal with bars and colour, or plain in a pipe.
stacks::TableOptions table_options(const std::string& colour);

/// Where a result goes: a file that appears whole or not at all, or standard output ("").
/// `write` gets a sink. Gives the exit status, after saying what went wrong.
int write_result(const std::string& path,
                 const std::function<Result<void>(const stacks::Sink&)>& write);
int print_result(const std::string& text);

}  // namespace mapdiag::cli
