#include <fmt/format.h>

#include "completion.h"

namespace mapdiag::cli {
namespace {

// Finds the command from the words before the cursor, and the option whose value is being typed.
// bash splits "--rate=20" into three words at the "=".
constexpr std::string_view kBody = R"(
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    if [[ $word == "=" ]]; then
        word=
    elif [[ $before == "=" ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi

    local command=mapdiag i
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ " $_mapdiag_commands" == *" $command ${COMP_WORDS[i]};"* ]]; then
            command="$command ${COMP_WORDS[i]}"
        elif _mapdiag_takes_value "$command" "${COMP_WORDS[i]}"; then
            if [[ ${COMP_WORDS[i + 1]} == "=" ]]; then ((i++)); fi
            ((i++))
        elif [[ ${COMP_WORDS[i]} != -* || ${COMP_WORDS[i]} == -- ]] && _mapdiag_runs "$command"; then
            # From here on it is another program's command line.
            if [[ ${COMP_WORDS[i]} == -- ]]; then ((i++)); fi
            if declare -F _command_offset >/dev/null; then
                _command_offset "$i"
            elif ((i == COMP_CWORD)); then
                mapfile -t COMPREPLY < <(compgen -c -- "$word")
            fi
            return
        fi
    done

    if _mapdiag_value "$command" "$before" "$word"; then
        return
    fi
    local words=
    _mapdiag_words "$command"
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "${words%%;*}" -- "$word")
    elif _mapdiag_runs "$command"; then
        mapfile -t COMPREPLY < <(compgen -c -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -W "${words#*;}" -- "$word")
    fi
}
)";

// The pattern of a case branch that holds for these options of the command.
std::string pattern_of(const CommandEntry& command, const OptionEntry& option) {
    std::string pattern;
    for (const auto& name : option.names) {
        pattern += fmt::format("{}\"{} {}\"", pattern.empty() ? "" : " | ", command.path, name);
    }
    return pattern;
}

std::string compgen_of(const OptionEntry& option) {
    switch (option.kind) {
        case ValueKind::choice:
            return fmt::format("-W \"{}\"", fmt::join(option.choices, " "));
        case ValueKind::file:
            return "-f";
        case ValueKind::folder:
            return "-d";
        case ValueKind::command:
            return "-c";
        case ValueKind::none:
        case ValueKind::text:
            break;
    }
    return "-W \"\"";
}

std::string values_function(const CommandEntry& program) {
    std::string out = "_mapdiag_value() {\n    case \"$1 $2\" in\n";
    for (const auto* command : all_commands(program)) {
        for (const auto& option : command->options) {
            if (option.kind != ValueKind::none) {
                out +=
                    fmt::format("        {}) mapfile -t COMPREPLY < <(compgen {} -- \"$3\") ;;\n",
                                pattern_of(*command, option), compgen_of(option));
            }
        }
    }
    return out + "        *) return 1 ;;\n    esac\n}\n";
}

std::string takes_value_function(const CommandEntry& program) {
    std::string out = "_mapdiag_takes_value() {\n    case \"$1 $2\" in\n";
    for (const auto* command : all_commands(program)) {
        for (const auto& option : command->options) {
            if (option.kind != ValueKind::none) {
                out += fmt::format("        {}) ;;\n", pattern_of(*command, option));
            }
        }
    }
    return out + "        *) return 1 ;;\n    esac\n}\n";
}

std::string runs_function(const CommandEntry& program) {
    std::string out = "_mapdiag_runs() {\n    case $1 in\n";
    for (const auto* command : all_commands(program)) {
        if (!command->arguments.empty() && command->arguments.front().kind == ValueKind::command) {
            out += fmt::format("        \"{}\") ;;\n", command->path);
        }
    }
    return out + "        *) return 1 ;;\n    esac\n}\n";
}

std::string words_function(const CommandEntry& program) {
    std::string out = "_mapdiag_words() {\n    case $1 in\n";
    for (const auto* command : all_commands(program)) {
        std::string options;
        for (const auto& option : command->options) {
            options +=
                fmt::format("{}{}", options.empty() ? "" : " ", fmt::join(option.names, " "));
        }
        std::string below;
        for (const auto& sub : command->commands) {
            below += (below.empty() ? "" : " ") + sub.name;
        }
        out += fmt::format("        \"{}\") words=\"{};{}\" ;;\n", command->path, options, below);
    }
    return out + "    esac\n}\n";
}

std::string commands_variable(const CommandEntry& program) {
    std::string out = "_mapdiag_commands=\"";
    for (const auto* command : all_commands(program)) {
        out += command->path + "; ";
    }
    return out + "\"\n";
}

}  // namespace

std::string bash_completion(const CommandEntry& program) {
    std::string out = "# Completion of mapdiag for bash, made from its option table.\n";
    out += commands_variable(program) + values_function(program) + takes_value_function(program);
    out += runs_function(program) + words_function(program);
    out += "_mapdiag() {";
    out += kBody;
    // Where nothing of ours fits, bash offers files.
    return out + "complete -o bashdefault -o default -F _mapdiag mapdiag\n";
}

}  // namespace mapdiag::cli
