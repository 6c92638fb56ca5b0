#include <fmt/format.h>

#include <algorithm>

#include "completion.h"
#include "mapdiag/support/text.h"

namespace mapdiag::cli {
namespace {

// For the inside of a '...' word of zsh in which _arguments reads "]" and ":" as its own.
std::string quoted_for_arguments(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\'') {
            out += "'\\''";
            continue;
        }
        if (c == '\\' || c == '[' || c == ']' || c == ':') {
            out += '\\';
        }
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

// What a list of completions has room for: the help up to its first end of sentence or clause.
std::string short_help(std::string_view help) {
    const auto end = std::min(help.find(". "), help.find(';'));
    return quoted_for_arguments(trim(help.substr(0, std::min(end, help.find("\n\n")))));
}

std::string action_of(const OptionEntry& option) {
    switch (option.kind) {
        case ValueKind::choice:
            return fmt::format("({})", fmt::join(option.choices, " "));
        case ValueKind::file:
            return "_files";
        case ValueKind::folder:
            return "_files -/";
        case ValueKind::command:
            return "_normal";
        case ValueKind::none:
        case ValueKind::text:
            break;
    }
    return " ";
}

std::string specs_of(const OptionEntry& option) {
    std::string out;
    for (const auto& name : option.names) {
        const bool is_long = name.starts_with("--");
        const auto value =
            option.kind == ValueKind::none
                ? std::string()
                : fmt::format(":{}:{}", quoted_for_arguments(option.value), action_of(option));
        out += fmt::format("    '*{}{}[{}]{}' \\\n", name, value.empty() || !is_long ? "" : "=",
                           short_help(option.help), value);
    }
    return out;
}

std::string spec_of_argument(const OptionEntry& argument) {
    const auto name = quoted_for_arguments(argument.names.front());
    if (argument.kind == ValueKind::command) {
        return fmt::format("    '(-)1:{}:_command_names -e' \\\n    '*::arguments:_normal' \\\n",
                           name);
    }
    return fmt::format("    '{}:{}:{}' \\\n", argument.repeated ? "*" : "", name,
                       action_of(argument));
}

std::string function_name(const CommandEntry& command) {
    auto name = "_" + command.path;
    std::ranges::replace(name, ' ', '_');
    return name;
}

std::string choice_of_command(const CommandEntry& command) {
    std::string out = "  case $state in\n    command)\n      local -a commands=(\n";
    for (const auto& sub : command.commands) {
        out += fmt::format("        '{}:{}'\n", sub.name, short_help(sub.help));
    }
    out += "      )\n      _describe command commands ;;\n    arguments)\n      case $line[1] in\n";
    for (const auto& sub : command.commands) {
        out += fmt::format("        {}) {} ;;\n", sub.name, function_name(sub));
    }
    return out + "      esac ;;\n  esac\n";
}

std::string function_of(const CommandEntry& command) {
    auto out = function_name(command) + "() {\n";
    out += "  local context state state_descr line\n  typeset -A opt_args\n";
    out += command.commands.empty() ? "  _arguments -s \\\n" : "  _arguments -s -C \\\n";
    for (const auto& option : command.options) {
        out += specs_of(option);
    }
    for (const auto& argument : command.arguments) {
        out += spec_of_argument(argument);
    }
    if (command.commands.empty()) {
        return out + "    && return\n}\n";
    }
    out += "    '1: :->command' \\\n    '*:: :->arguments' && return\n";
    return out + choice_of_command(command) + "}\n";
}

}  // namespace

std::string zsh_completion(const CommandEntry& program) {
    std::string out = "#compdef mapdiag\n# Made from the option table of mapdiag.\n";
    for (const auto* command : all_commands(program)) {
        out += function_of(*command);
    }
    // Read by compinit as the body of _mapdiag itself the first time; sourced by hand otherwise.
    return out +
           "if [ \"$funcstack[1]\" = _mapdiag ]; then\n  _mapdiag \"$@\"\nelse\n"
           "  compdef _mapdiag mapdiag\nfi\n";
}

}  // namespace mapdiag::cli
