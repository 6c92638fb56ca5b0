#include "mapdiag/run/plan.h"

#include <algorithm>
#include <array>
#include <utility>

#include "drop_in.h"
#include "mapdiag/support/text.h"

namespace mapdiag::run {
namespace {

constexpr const char* kSwitch = "DM_MAP_PROFILE";
constexpr const char* kEntity = "MAPDIAG_ENTITY";
constexpr const char* kLogDir = "MAPDIAG_LOG_DIR";
constexpr std::string_view kEntityOption = "--entity";

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& words) {
    return std::ranges::any_of(
        words, [&](std::string_view word) { return equals_ignoring_case(word, text); });
}

std::string unknown_switch(std::string_view value) {
    return std::string(kSwitch) + '=' + printable(value) +
           " is neither on (true, 1, yes, on) nor off (false, 0, no, off, empty): taken as off";
}

std::string program_name(const std::string& program) {
    const auto name = program.substr(program.rfind('/') + 1);
    return name.empty() ? program : name;
}

std::optional<std::string> not_empty(std::optional<std::string> text) {
    return text && !text->empty() ? text : std::nullopt;
}

// "logs/Person.folded" -> "Person"
std::optional<std::string> stem_of(const std::optional<std::string>& path) {
    if (!path) {
        return std::nullopt;
    }
    const auto name = path->substr(path->rfind('/') + 1);
    return not_empty(name.substr(0, name.rfind('.')));
}

std::optional<std::string> folder_of(const std::optional<std::string>& path) {
    if (!path) {
        return std::nullopt;
    }
    const auto slash = path->rfind('/');
    return slash == std::string::npos ? "." : not_empty(path->substr(0, slash)).value_or("/");
}

// The log stays the recipe's, which writes it from the output: mapdiag's lines are in it, since
// they are on stderr.
void take_over(RunPlan& plan, RecordCall call) {
    if (!call.obstacle.empty()) {
        plan.left_as_it_is = left_as_it_is(call.obstacle);
        return;
    }
    plan.command = std::move(call.command);
    plan.taken_over = call.settings;
    plan.profile_path = std::move(call.output);
}

}  // namespace

std::optional<bool> find_switch(std::string_view text) {
    constexpr std::array<std::string_view, 4> kOn = {"true", "1", "yes", "on"};
    constexpr std::array<std::string_view, 5> kOff = {"false", "0", "no", "off", ""};
    const auto word = trim(text);
    if (is_one_of(word, kOn)) {
        return true;
    }
    return is_one_of(word, kOff) ? std::optional(false) : std::nullopt;
}

std::optional<record::Placement> find_placement_word(std::string_view word) {
    using record::Placement;
    constexpr std::array<std::pair<std::string_view, Placement>, 5> kWords = {
        {{"v2", Placement::own_cgroup_v2},
         {"v1", Placement::own_cgroup_v1},
         {"shared", Placement::shared_cgroup},
         {"tree", Placement::process_tree},
         {"none", Placement::none}}};
    for (const auto& [name, placement] : kWords) {
        if (name == word) {
            return placement;
        }
    }
    return std::nullopt;
}

std::optional<std::string> find_entity_argument(const std::vector<std::string>& command) {
    for (std::size_t i = 1; i < command.size(); ++i) {
        const std::string_view word = command[i];
        if (word == kEntityOption && i + 1 < command.size()) {
            return command[i + 1];
        }
        if (word.starts_with(kEntityOption) && word.substr(kEntityOption.size()).starts_with('=')) {
            return std::string(word.substr(kEntityOption.size() + 1));
        }
    }
    return std::nullopt;
}

Result<RunPlan> plan_run(const RunOptions& options, const Environment& environment) {
    if (options.command.empty()) {
        return std::unexpected(Error::because("run", "", "no command was given"));
    }
    if (options.entity && options.entity->empty()) {
        return std::unexpected(Error::because("use", "--entity", "the name is empty"));
    }
    RunPlan plan;
    if (options.placement) {
        plan.placement = find_placement_word(*options.placement);
        if (!plan.placement) {
            return std::unexpected(Error::because("use the placement",
                                                  mapdiag::quoted(*options.placement),
                                                  "it is none of v2, v1, shared, tree, none"));
        }
    }
    auto containment = read_containment(options.containment);
    if (!containment) {
        return std::unexpected(containment.error());
    }
    plan.containment = *containment;
    const auto last_gasp = read_last_gasp(options.last_gasp);
    if (!last_gasp) {
        return std::unexpected(last_gasp.error());
    }
    plan.last_gasp_share = *last_gasp;
    plan.command = options.command;
    plan.quiet = options.quiet;

    bool on = false;
    if (!options.no_profile) {
        const auto value = environment(kSwitch).value_or("");
        const auto known = find_switch(value);
        if (!known && !options.profile) {
            plan.warning = unknown_switch(value);
        }
        on = options.profile || known.value_or(false);
    }
    auto entity = options.entity;
    if (!entity) {
        entity = not_empty(environment(kEntity));
    }
    if (!entity) {
        entity = not_empty(find_entity_argument(options.command));
    }
    auto record_call =
        on && options.own_profiler ? find_record_call(options.command) : std::nullopt;
    const auto output = record_call ? record_call->output : std::nullopt;
    if (!entity) {
        entity = stem_of(output);
    }
    if (!entity && (options.profile || options.log_dir)) {
        entity = program_name(options.command.front());
    }
    if (on && !entity) {
        // A recipe whose whole RUN variable is prefixed also runs commands that are no map step:
        // they are passed through. A lone program name is no such command, but a person who forgot
        // to say what the run is called.
        if (options.command.size() == 1) {
            return std::unexpected(Error::because(
                "diagnose", options.command.front(),
                "no entity is known: give --entity NAME, or --profile to use the program's name"));
        }
        on = false;
    }
    const auto log_dir = not_empty(options.log_dir);
    if (!on && !log_dir && !plan.containment.any()) {
        return plan;
    }
    plan.mode = on ? Mode::on : Mode::log_only;
    plan.entity = make_entity_name(entity.value_or(program_name(options.command.front())));
    if (on && record_call) {
        take_over(plan, std::move(*record_call));
    }
    const auto elsewhere = not_empty(environment(kLogDir));
    plan.log_dir = log_dir.or_else([&] { return elsewhere; })
                       .or_else([&] { return folder_of(output); })
                       .value_or("logs");
    plan.write_log = !options.no_log && (on || log_dir) && !plan.taken_over;
    return plan;
}

}  // namespace mapdiag::run
