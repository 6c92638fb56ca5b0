#include "mapdiag/stacks/ranking.h"
#include "profile_commands.h"
#include "profile_options.h"

namespace mapdiag::cli {
namespace {

struct TopOptions {
    std::vector<std::string> files;
    ProfileOptions profile;
    TableChoices table;
    std::optional<double> rate;
};

int show_top(const TopOptions& options) {
    const auto filters = find_filters(options.profile);
    if (!filters) {
        return kUsage;
    }
    const auto profile = find_profile(options.files, options.profile, *filters);
    if (!profile) {
        return kFailed;
    }
    const stacks::RankOptions ranked{.by = group_by(options.table.by),
                                     .sort = sort_by(options.table.sort),
                                     .limit = options.table.limit};
    auto shown = table_options(options.table.colour);
    shown.rate = options.rate;
    const auto ranking = stacks::rank(*profile, ranked);
    return print_result(options.table.json ? stacks::top_json(ranking, *profile, ranked, shown)
                                           : stacks::top_table(ranking, *profile, ranked, shown));
}

}  // namespace

void add_top_command(CLI::App& app, Action& chosen) {
    auto* const command = app.add_subcommand("top", "Rank the frames of folded profiles");
    const auto options = std::make_shared<TopOptions>();
    command->add_option("FILE", options->files, "Profiles, read as one; - is standard input")
        ->required();
    add_table_choices(*command, options->table);
    command->add_option("--rate", options->rate, "Samples a second: adds seconds")
        ->option_text("N")
        ->check(CLI::PositiveNumber);
    add_profile_options(*command, options->profile);
    command->callback([&chosen, options] { chosen = [options] { return show_top(*options); }; });
}

}  // namespace mapdiag::cli
