#include <fmt/format.h>

#include "mapdiag/stacks/comparison.h"
#include "mapdiag/support/text.h"
#include "profile_commands.h"
#include "profile_options.h"
#include "talk.h"

namespace mapdiag::cli {
namespace {

struct DiffOptions {
    std::string before;
    std::string after;
    ProfileOptions profile;
    TableChoices table;
    bool counts = false;
    std::optional<double> fail_above;
};

std::vector<std::string> both_filter_lines(const stacks::Profile& before,
                                           const stacks::Profile& after) {
    std::vector<std::string> lines;
    for (const auto& line : filter_lines(before)) {
        lines.push_back("before: " + line);
    }
    for (const auto& line : filter_lines(after)) {
        lines.push_back("after: " + line);
    }
    return lines;
}

// The line of a failed gate.
std::string gate_text(const stacks::Comparison& comparison, const DiffOptions& options) {
    return fmt::format("the {} share of {} grew by {:.2f} points, more than {} (--fail-above)",
                       options.table.sort, printable(comparison.grown_most), comparison.most_growth,
                       *options.fail_above);
}

int show_diff(const DiffOptions& options) {
    const auto filters = find_filters(options.profile);
    if (!filters) {
        return kUsage;
    }
    if (options.before == "-" && options.after == "-") {
        say_error("only one of the two profiles can be standard input");
        return kUsage;
    }
    const auto before = find_profile({options.before}, options.profile, *filters);
    const auto after =
        before ? find_profile({options.after}, options.profile, *filters) : std::nullopt;
    if (!after) {
        return kFailed;
    }
    const stacks::CompareOptions compared{.by = group_by(options.table.by),
                                          .sort = sort_by(options.table.sort),
                                          .limit = options.table.limit,
                                          .counts = options.counts};
    const auto comparison = stacks::compare(*before, *after, compared);
    if (!comparison) {
        say_error(comparison.error().text());
        return kFailed;
    }
    const stacks::DiffNames names{.before = options.before,
                                  .after = options.after,
                                  .filters = both_filter_lines(*before, *after)};
    auto shown = table_options(options.table.colour);
    shown.bars = false;
    const auto status =
        print_result(options.table.json ? stacks::diff_json(*comparison, compared, names)
                                        : stacks::diff_table(*comparison, compared, names, shown));
    if (status == kOk && options.fail_above && comparison->most_growth > *options.fail_above) {
        say_error(gate_text(*comparison, options));
        return kGateFailed;
    }
    return status;
}

}  // namespace

void add_diff_command(CLI::App& app, Action& chosen) {
    auto* const command = app.add_subcommand("diff", "Compare two folded profiles");
    const auto options = std::make_shared<DiffOptions>();
    command->add_option("BEFORE", options->before, "The profile to compare with")->required();
    command->add_option("AFTER", options->after, "The profile of now")->required();
    command->add_flag("--counts", options->counts, "Compare raw counts instead of shares");
    command
        ->add_option("--fail-above", options->fail_above,
                     "Exit with 3 where a frame's share grew by more percentage points")
        ->option_text("PCT")
        ->check(CLI::NonNegativeNumber);
    add_table_choices(*command, options->table);
    add_profile_options(*command, options->profile);
    command->callback([&chosen, options] { chosen = [options] { return show_diff(*options); }; });
}

}  // namespace mapdiag::cli
