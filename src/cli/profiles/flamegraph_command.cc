#include <fmt/format.h>

#include "mapdiag/stacks/flame_graph.h"
#include "mapdiag/stacks/tree.h"
#include "mapdiag/support/text.h"
#include "profile_commands.h"
#include "profile_options.h"
#include "talk.h"

namespace mapdiag::cli {
namespace {

struct FlamegraphOptions {
    std::vector<std::string> files;
    std::string output;
    std::string before;
    std::string title;
    std::string palette = "warm";
    std::string colour = "auto";
    std::optional<double> min_width;
    std::optional<std::size_t> width;
    bool icicle = false;
    bool text = false;
    ProfileOptions profile;
};

constexpr double kNarrowestBlock = 0.01;  // percent of the picture: an eighth of a pixel
constexpr double kLightestPath = 1.0;     // percent of the samples, with --text

stacks::Palette palette(const std::string& name) {
    return name == "cool"     ? stacks::Palette::cool
           : name == "module" ? stacks::Palette::module
           : name == "grey"   ? stacks::Palette::grey
                              : stacks::Palette::warm;
}

std::vector<std::string> subtitles(const stacks::Profile& profile,
                                   const std::optional<stacks::Profile>& before) {
    std::vector<std::string> lines;
    if (before) {
        lines.push_back(
            fmt::format("{}, compared with {}: width is now, red is a larger share, blue a "
                        "smaller one",
                        stacks::samples_text(profile.total, profile.decimals),
                        stacks::format_weight(before->total, before->decimals)));
    } else {
        lines.push_back(stacks::samples_text(profile.total, profile.decimals));
    }
    for (const auto& line : filter_lines(profile)) {
        lines.push_back(line);
    }
    if (before) {
        for (const auto& line : filter_lines(*before)) {
            lines.push_back("before: " + line);
        }
    }
    return lines;
}

stacks::Tree tree_of(const FlamegraphOptions& options, const stacks::Profile& profile,
                     const stacks::Profile* before) {
    stacks::TreeOptions wanted;
    wanted.min_percent = options.min_width.value_or(options.text ? kLightestPath : kNarrowestBlock);
    wanted.order = options.text ? stacks::ChildOrder::by_weight : stacks::ChildOrder::by_name;
    return stacks::make_tree(profile, before, wanted);
}

int write_text(const FlamegraphOptions& options, const stacks::Profile& profile) {
    const auto table = table_options(options.colour);
    const stacks::TextOptions shown{
        .width = options.width.value_or(table.width > 0 ? table.width : 100),
        .colour = table.colour};
    std::string text;
    for (const auto& line : subtitles(profile, std::nullopt)) {
        text += line + '\n';
    }
    text += draw_flame_text(tree_of(options, profile, nullptr), profile, shown);
    return write_result(options.output, [&](const stacks::Sink& sink) { return sink(text); });
}

int write_svg(const FlamegraphOptions& options, const stacks::Profile& profile,
              const std::optional<stacks::Profile>& before) {
    stacks::SvgOptions drawn;
    drawn.title = !options.title.empty() ? options.title
                  : before               ? "Differential flame graph"
                                         : "Flame graph";
    drawn.subtitles = subtitles(profile, before);
    drawn.palette = palette(options.palette);
    drawn.icicle = options.icicle;
    const auto tree = tree_of(options, profile, before ? &*before : nullptr);
    for (const auto& line : filter_lines(profile)) {
        say_warning(line);
    }
    return write_result(options.output, [&](const stacks::Sink& sink) {
        return write_flame_svg(tree, profile, drawn, sink);
    });
}

int draw(const FlamegraphOptions& options) {
    if (options.output.empty() && !options.text && is_terminal(kStandardOutput)) {
        say_error("an SVG is not for a terminal: use -o FILE, a pipe, or --text");
        return kUsage;
    }
    if (options.text && !options.before.empty()) {
        say_error("--diff draws an SVG, not --text; mapdiag diff compares in the terminal");
        return kUsage;
    }
    const auto filters = find_filters(options.profile);
    if (!filters) {
        return kUsage;
    }
    auto profile = find_profile(options.files, options.profile, *filters);
    if (!profile) {
        return kFailed;
    }
    if (options.text) {
        return write_text(options, *profile);
    }
    std::optional<stacks::Profile> before;
    if (!options.before.empty()) {
        before = find_profile({options.before}, options.profile, *filters);
        if (!before) {
            return kFailed;
        }
        stacks::renumber(*before, profile->table);
    }
    return write_svg(options, *profile, before);
}

}  // namespace

void add_flamegraph_command(CLI::App& app, Action& chosen) {
    auto* const command = app.add_subcommand("flamegraph", "Draw folded profiles as one SVG");
    const auto options = std::make_shared<FlamegraphOptions>();
    command->add_option("FILE", options->files, "Profiles, read as one; - is standard input")
        ->required();
    command->add_option("-o,--output", options->output, "The file to write, else standard output");
    command->add_flag("--text", options->text, "A tree for the terminal instead of an SVG");
    command->add_option("--diff", options->before, "Colour by change of share since this profile")
        ->option_text("BEFORE");
    command->add_flag("--icicle", options->icicle, "The root at the top");
    command->add_option("--title", options->title, "The heading of the picture");
    command
        ->add_option("--min-width", options->min_width,
                     "Percent of the width below which blocks are merged; 0.01, with --text 1")
        ->option_text("PCT")
        ->check(CLI::Range(0.0, 100.0));
    command->add_option("--palette", options->palette, "Colours")
        ->check(CLI::IsMember({"warm", "cool", "module", "grey"}))
        ->capture_default_str();
    command->add_option("--width", options->width, "Columns of --text")
        ->check(CLI::Range(40, 10000));
    add_colour_option(*command, options->colour);
    add_profile_options(*command, options->profile);
    command->callback([&chosen, options] { chosen = [options] { return draw(*options); }; });
}

}  // namespace mapdiag::cli
