#include "man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "mapdiag/support/text.h"

namespace mapdiag::cli {
namespace {

// What the option table does not know. The texts of options and commands come from it alone.
constexpr std::string_view kClosing = R"(.SH EXIT STATUS
.B mapdiag run
leaves with the status of the command that it ran, 0 to 255, and dies of the signal that the
command died of. When the command could not be started: 125 when mapdiag itself failed, 126 when the
command is not executable, 127 when it was not found.
.PP
The other commands leave with
.TP
.B 0
when all went well,
.TP
.B 1
when the work could not be done; a line on standard error says why,
.TP
.B 2
when the command line was wrong; nothing was done,
.TP
.B 3
when a limit that was asked for on the command line was passed.
.SH ENVIRONMENT
.TP
.B DM_MAP_PROFILE
Switches
.B mapdiag run
on: true, 1, yes or on, in any case. Unset, empty, false, 0, no and off leave it off.
.TP
.B MAPDIAG_ENTITY
The name of the run's files, where
.B \-\-entity
is not given.
.TP
.B MAPDIAG_LOG_DIR
The folder of the run's files, where
.B \-\-log\-dir
is not given.
.TP
.B MAPDIAG_PYSPY
The py-spy to use, where
.B \-\-py\-spy
is not given.
.SH FILES
Of the run of an entity
.IR E ,
in the log folder:
.TP
.IR E .log
The output of the command, byte for byte, then the [diag E] lines.
.TP
.IR E .folded
The profile: one line for each stack, with the number of its samples.
.TP
.IR E .diag.jsonl
The journal: one JSON object a line.
)";

// A line that starts with a dot or an apostrophe would be taken for a request.
std::string roff_line(std::string_view line) {
    const auto text = roff(line);
    return text.starts_with('.') || text.starts_with('\'') ? "\\&" + text : text;
}

// Running text: single line ends are blanks, an empty line starts a paragraph.
std::string roff_text(std::string_view text) {
    std::string out;
    bool paragraph = false;
    for (const auto line : split(text, '\n')) {
        const auto words = trim(line);
        if (words.empty()) {
            paragraph = !out.empty();
            continue;
        }
        out += paragraph ? ".PP\n" : "";
        paragraph = false;
        out += roff_line(words) + "\n";
    }
    return out;
}

// Lines as they stand, for examples.
std::string roff_verbatim(std::string_view text) {
    std::string out = ".PP\n.nf\n";
    for (const auto line : split(text, '\n')) {
        out += roff_line(line) + "\n";
    }
    return out + ".fi\n";
}

// `.SH` and `.SS` take their title as one argument in quotes.
std::string heading(std::string_view request, std::string_view title) {
    return fmt::format("{} \"{}\"\n", request, roff(title));
}

std::string names_of(const OptionEntry& option) {
    std::string out;
    for (const auto& name : option.names) {
        out += fmt::format("{}\\fB{}\\fR", out.empty() ? "" : ", ", roff(name));
    }
    return option.value.empty() ? out : fmt::format("{} \\fI{}\\fR", out, roff(option.value));
}

std::string choices_of(const OptionEntry& option) {
    return option.choices.empty()
               ? std::string()
               : fmt::format("One of: {}.\n",
                             roff(fmt::format("{}", fmt::join(option.choices, ", "))));
}

std::string entry_of(const OptionEntry& option) {
    const auto text = roff_text(option.help) + choices_of(option);
    return fmt::format(".TP\n{}\n{}", names_of(option), text.empty() ? "\\&\n" : text);
}

std::string usage_of(const CommandEntry& command) {
    auto usage = fmt::format("\\fB{}\\fR", roff(command.path));
    usage += command.options.empty() ? "" : " [\\fIOPTION\\fR]...";
    for (const auto& argument : command.arguments) {
        usage += fmt::format(" \\fI{}\\fR{}", roff(argument.names.front()),
                             argument.repeated ? "..." : "");
    }
    return usage + (command.commands.empty() ? "" : " \\fICOMMAND\\fR ...");
}

std::string section_of(const CommandEntry& command) {
    auto out = heading(".SS", command.path);
    out += usage_of(command) + "\n.PP\n" + roff_text(command.help);
    for (const auto& argument : command.arguments) {
        out += entry_of(argument);
    }
    for (const auto& option : command.options) {
        out += entry_of(option);
    }
    return command.footer.empty() ? out : out + roff_verbatim(command.footer);
}

}  // namespace

std::string roff(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '\\':
                out += "\\e";
                break;
            case '-':
                out += "\\-";
                break;
            case '"':
                out += "\\(dq";
                break;
            case '\'':
                out += "\\(aq";
                break;
            case '`':
                out += "\\(ga";
                break;
            case '^':
                out += "\\(ha";
                break;
            case '~':
                out += "\\(ti";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::string man_page(const CommandEntry& program, std::string_view version) {
    std::string title(program.name);
    std::ranges::transform(title, title.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    auto page = fmt::format(".TH {} 1 \"\" \"{} {}\" \"User Commands\"\n", roff(title),
                            program.name, roff(version));
    page += ".SH NAME\n" + roff(program.name) + " \\- what happened to a mapping step\n";
    page += ".SH SYNOPSIS\n" + usage_of(program) + "\n";
    page += ".SH DESCRIPTION\n" + roff_text(program.help);
    page += ".SH OPTIONS\n";
    for (const auto& option : program.options) {
        page += entry_of(option);
    }
    page += ".SH COMMANDS\n";
    const auto commands = all_commands(program);
    for (std::size_t i = 1; i < commands.size(); ++i) {
        page += section_of(*commands[i]);
    }
    return page.append(kClosing);
}

}  // namespace mapdiag::cli
