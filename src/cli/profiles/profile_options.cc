#include "profile_options.h"

#include <utility>

#include "app.h"
#include "mapdiag/support/fd.h"
#include "mapdiag/support/output_file.h"
#include "talk.h"

namespace mapdiag::cli {
namespace {

constexpr std::string_view kFilterGroup = "Filters";

// False, after saying why, where the expression is wrong.
bool compile(const std::string& expression, std::optional<stacks::Pattern>& pattern) {
    if (expression.empty()) {
        return true;
    }
    auto compiled = stacks::Pattern::compile(expression);
    if (!compiled) {
        say_error(compiled.error().text());
        return false;
    }
    pattern = std::move(*compiled);
    return true;
}

}  // namespace

void add_profile_options(CLI::App& command, ProfileOptions& options) {
    const std::string group(kFilterGroup);
    const auto pattern = [&](const char* name, std::string& value, const char* help) {
        command.add_option(name, value, help)->option_text("RE")->group(group);
    };
    const auto flag = [&](const char* name, bool& value, const char* help) {
        command.add_flag(name, value, help)->group(group);
    };
    pattern("--include", options.include, "Only stacks with a frame that matches");
    pattern("--exclude", options.exclude, "No stacks with a frame that matches");
    pattern("--root", options.root, "Stacks from the first frame that matches on");
    pattern("--hide", options.hide, "Drop frames that match; their samples go to the parent");
    flag("--hide-startup", options.hide_startup,
         "Drop console scripts, runpy, importlib, thread start and click");
    flag("--merge-processes", options.merge_processes,
         "Drop process and thread numbers, so that equal ones become one");
    flag("--collapse-recursion", options.collapse_recursion,
         "One frame where a function calls itself directly");
    command.add_flag("--strict", options.strict, "A line that can't be read is an error");
    command.add_flag("--command-lines", options.command_lines,
                     "Keep the arguments in process frames, which may be confidential");
}

std::optional<stacks::Filters> find_filters(const ProfileOptions& options) {
    stacks::Filters filters;
    if (!compile(options.include, filters.include) || !compile(options.exclude, filters.exclude) ||
        !compile(options.root, filters.root) || !compile(options.hide, filters.hide)) {
        return std::nullopt;
    }
    filters.hide_startup = options.hide_startup;
    filters.merge_processes = options.merge_processes;
    filters.collapse_recursion = options.collapse_recursion;
    return filters;
}

std::optional<stacks::Profile> find_profile(const std::vector<std::string>& files,
                                            const ProfileOptions& options,
                                            const stacks::Filters& filters) {
    auto read = stacks::read_profile(
        files, {.strict = options.strict, .keep_command_lines = options.command_lines});
    if (!read) {
        say_error(read.error().text());
        return std::nullopt;
    }
    for (const auto& notes : read->files) {
        for (const auto& line : stacks::describe(notes)) {
            say_warning(line);
        }
    }
    if (auto filtered = stacks::apply_filters(read->profile, filters); !filtered) {
        for (const auto& line : filter_lines(read->profile)) {
            say_error(line);
        }
        say_error(filtered.error().text());
        return std::nullopt;
    }
    return std::move(read->profile);
}

std::vector<std::string> filter_lines(const stacks::Profile& profile) {
    std::vector<std::string> lines;
    for (const auto& effect : profile.effects) {
        lines.push_back(describe(effect, profile));
    }
    return lines;
}

void add_colour_option(CLI::App& command, std::string& colour) {
    command.add_option("--color", colour, "When to use colour; NO_COLOR is obeyed")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->capture_default_str();
}

void add_table_choices(CLI::App& command, TableChoices& choices) {
    command.add_option("--by", choices.by, "What a row stands for")
        ->check(CLI::IsMember({"function", "line", "file", "module", "process", "thread"}))
        ->capture_default_str();
    command.add_option("--sort", choices.sort, "The weight that rows are ranked by")
        ->check(CLI::IsMember({"self", "total"}))
        ->capture_default_str();
    command.add_option("--limit", choices.limit, "Rows to show, the rest as one; 0 for all")
        ->capture_default_str();
    command.add_flag("--json", choices.json, "JSON instead of a table");
    add_colour_option(command, choices.colour);
}

stacks::GroupBy group_by(const std::string& name) {
    using enum stacks::GroupBy;
    for (const auto by : {function, file, module, process, thread}) {
        if (name == stacks::name_of(by)) {
            return by;
        }
    }
    return line;
}

stacks::SortBy sort_by(const std::string& name) {
    return name == "total" ? stacks::SortBy::total : stacks::SortBy::self;
}

ColourChoice colour_choice(const std::string& name) {
    return name == "always"  ? ColourChoice::always
           : name == "never" ? ColourChoice::never
                             : ColourChoice::automatic;
}

stacks::TableOptions table_options(const std::string& colour) {
    stacks::TableOptions options;
    options.colour = use_colour(colour_choice(colour), kStandardOutput);
    if (is_terminal(kStandardOutput)) {
        options.bars = true;
        options.width = terminal_width(kStandardOutput).value_or(80);
    }
    return options;
}

int write_result(const std::string& path,
                 const std::function<Result<void>(const stacks::Sink&)>& write) {
    Result<void> done;
    if (path.empty()) {
        done = write([](std::string_view bytes) {
            return write_all(kStandardOutput, bytes, "standard output");
        });
    } else if (auto file = OutputFile::create(path)) {
        done = write([&](std::string_view bytes) { return file->write(bytes); });
        if (done) {
            done = file->commit();
        }
    } else {
        done = std::unexpected(file.error());
    }
    if (!done) {
        say_error(done.error().text());
        return kFailed;
    }
    return kOk;
}

int print_result(const std::string& text) {
    return write_result("", [&](const stacks::Sink& sink) { return sink(text); });
}

}  // namespace mapdiag::cli
