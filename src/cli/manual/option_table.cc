#include "option_table.h"

#include <algorithm>
#include <string_view>

#include "mapdiag/support/text.h"

namespace mapdiag::cli {
namespace {

bool is_hidden(const CLI::Option& option) {
    return option.get_group().empty();
}

// A set of allowed words is written by CLI11's IsMember into the type's name: "TEXT:{wall,cpu}".
std::vector<std::string> choices_in(std::string_view type) {
    std::vector<std::string> choices;
    const auto open = type.find('{');
    const auto close = type.find('}', open == std::string_view::npos ? 0 : open);
    if (open != std::string_view::npos && close != std::string_view::npos) {
        for (const auto word : split(type.substr(open + 1, close - open - 1), ',')) {
            // A map's member reads "word->value".
            choices.emplace_back(trim(word.substr(0, word.find("->"))));
        }
    }
    return choices;
}

ValueKind kind_of(std::string_view type, const std::vector<std::string>& choices) {
    if (type.empty()) {
        return ValueKind::none;
    }
    if (!choices.empty()) {
        return ValueKind::choice;
    }
    if (type.starts_with("...")) {
        return ValueKind::command;
    }
    if (type.find("DIR") != std::string_view::npos) {
        return ValueKind::folder;
    }
    const auto names_file = [&](std::string_view word) { return type.find(word) != type.npos; };
    return names_file("FILE") || names_file("PATH") || names_file("DUMP") || names_file("INDEX")
               ? ValueKind::file
               : ValueKind::text;
}

// The type's name without the validators that CLI11 appends: "INT:INT in [1 - 1000]" is "INT".
std::string shown_type(std::string_view type) {
    const auto end = type.find(':');
    const auto name = type.substr(0, end);
    return std::string(name.empty() && end != type.npos ? type.substr(end + 1) : name);
}

OptionEntry read_option(const CLI::Option& option) {
    OptionEntry entry;
    const auto type = option.get_items_expected_max() > 0 ? option.get_type_name() : std::string();
    entry.help = option.get_description();
    entry.choices = choices_in(type);
    entry.kind = kind_of(type, entry.choices);
    entry.value = shown_type(type);
    if (!option.nonpositional()) {
        entry.names = {option.get_name(true, false)};
        entry.repeated = option.get_items_expected_max() > 1;
        if (entry.kind == ValueKind::text) {
            // A positional's type is mostly left at TEXT; its own name says more.
            entry.kind = kind_of(entry.names.front(), {});
        }
        return entry;
    }
    for (const auto& name : option.get_snames()) {
        entry.names.push_back("-" + name);
    }
    for (const auto& name : option.get_lnames()) {
        entry.names.push_back("--" + name);
    }
    return entry;
}

void read_options(const CLI::App& app, CommandEntry& entry) {
    for (const auto* option : app.get_options()) {
        if (is_hidden(*option)) {
            continue;
        }
        auto read = read_option(*option);
        auto& list = option->nonpositional() ? entry.options : entry.arguments;
        const auto known = std::ranges::any_of(
            list, [&](const OptionEntry& other) { return other.names == read.names; });
        if (!known) {
            list.push_back(std::move(read));
        }
    }
}

CommandEntry read_command(const CLI::App& app, const std::string& above) {
    CommandEntry entry;
    entry.name = app.get_name();
    entry.path = above.empty() ? entry.name : above + " " + entry.name;
    entry.help = app.get_description();
    entry.footer = app.get_footer();
    read_options(app, entry);
    for (const auto* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
        if (sub->get_name().empty()) {
            read_options(*sub, entry);  // a group of options, not a command
        } else if (!sub->get_group().empty()) {
            entry.commands.push_back(read_command(*sub, entry.path));
        }
    }
    return entry;
}

}  // namespace

CommandEntry read_option_table(const CLI::App& app) {
    return read_command(app, "");
}

std::vector<const CommandEntry*> all_commands(const CommandEntry& top) {
    std::vector<const CommandEntry*> found = {&top};
    for (std::size_t i = 0; i < found.size(); ++i) {
        std::vector<const CommandEntry*> below;
        for (const auto& command : found[i]->commands) {
            below.push_back(&command);
        }
        found.insert(found.begin() + static_cast<std::ptrdiff_t>(i) + 1, below.begin(),
                     below.end());
    }
    return found;
}

}  // namespace mapdiag::cli
