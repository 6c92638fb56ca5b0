#include "run_command.h"

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "containment_options.h"
#include "mapdiag/diagnose/diagnose.h"
#include "mapdiag/report/diag_lines.h"
#include "mapdiag/run/job_run.h"
#include "mapdiag/run/plan.h"
#include "profiler_options.h"
#include "talk.h"

namespace mapdiag::cli {
namespace {

constexpr const char* kName = "run";

struct RunFlags {
    run::RunOptions options;
    ProfilerFlags profiler;
};

std::shared_ptr<RunFlags> add_options(CLI::App& app) {
    auto flags = std::make_shared<RunFlags>();
    auto* options = &flags->options;
    auto* command = app.add_subcommand(
        kName,
        "Runs a command and tells what happened to it: true status, peak of memory, whose limit,\n"
        "profile. On when DM_MAP_PROFILE is true, 1, yes or on, or with --profile; otherwise the\n"
        "command replaces mapdiag and nothing else is done.");
    command->add_option("COMMAND", options->command, "The command to run, with its arguments")
        ->type_name("...");
    command
        ->add_option("--entity", options->entity,
                     "Name of the files of this run; else $MAPDIAG_ENTITY, else the command's "
                     "own --entity, else (with --profile) the program's name")
        ->type_name("NAME");
    command
        ->add_option("--log-dir", options->log_dir,
                     "Folder of the log, journal and profile; else $MAPDIAG_LOG_DIR, else "
                     "'logs'. Given explicitly it writes the log even when off")
        ->type_name("DIR");
    command
        ->add_option("--placement", options->placement,
                     "Where the job is measured, and nowhere else: v2 or v1 (a cgroup of its "
                     "own), shared (the cgroup that others are in too: an upper bound), tree (its "
                     "processes, sampled), none; else the best that can be had")
        ->type_name("NAME");
    command->add_flag("--no-log", options->no_log,
                      "Write no log: for recipes that tee the output themselves");
    command->add_flag("--quiet", options->quiet, "Do not repeat the [diag] lines on stderr");
    command->add_flag("--profile", options->profile, "On, whatever DM_MAP_PROFILE says");
    command->add_flag("--no-profile", options->no_profile, "Off, whatever else says on");
    add_containment_options(*command, *options);
    add_profiler_options(*command, flags->profiler);
    return flags;
}

// How many words of the command line belong to one option: 2 where its value is a word of its own.
std::size_t words_of(const CLI::App& command, const std::string& word) {
    if (word.find('=') != std::string::npos) {
        return 1;
    }
    const auto* option = command.get_option_no_throw(word);
    return option != nullptr && option->get_items_expected_max() > 0 ? 2 : 1;
}

struct SplitLine {
    std::vector<std::string> head;     ///< options of mapdiag
    std::vector<std::string> command;  ///< everything from the first word that is none
};

SplitLine split_line(const CLI::App& command, int argc, char** argv) {
    SplitLine line;
    std::size_t at = 2;
    const auto count = static_cast<std::size_t>(argc);
    while (at < count) {
        const std::string word = argv[at];
        if (word == "--") {
            ++at;
            break;
        }
        if (word.size() < 2 || word.front() != '-') {
            break;
        }
        for (auto left = words_of(command, word); left > 0 && at < count; --left) {
            line.head.emplace_back(argv[at++]);
        }
    }
    for (; at < count; ++at) {
        line.command.emplace_back(argv[at]);
    }
    return line;
}

std::optional<std::string> environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::optional<run::ProfilerOptions> profiler_options(const ProfilerFlags& flags,
                                                     const run::RunPlan& plan) {
    if (!flags.on) {
        return std::nullopt;
    }
    run::ProfilerOptions options;
    options.settings = plan.taken_over ? settings_with(flags, *plan.taken_over) : flags.settings;
    options.py_spy = flags.py_spy;
    options.py_spy_variable = environment("MAPDIAG_PYSPY").value_or("");
    options.search_path = environment("PATH").value_or("");
    return options;
}

// Judges, words and writes what was observed.
void tell(run::JobRun& job, run::RunOutcome outcome) {
    if (const auto closed = job.close_journal(outcome.record); !closed) {
        outcome.record.troubles.push_back(closed.error().text());
    }
    const auto findings = diagnose::diagnose(outcome.record, outcome.samples);
    job.write_lines(report::diag_lines(outcome.record, findings));
}

// Without a diagnosis only what mapdiag was asked to do is worth a line.
void tell_without_diagnosis(const run::RunPlan& plan, const run::RunOutcome& outcome) {
    const auto& record = outcome.record;
    if (!record.log.failure.empty()) {
        say_warning(record.log.failure);
    }
    if (!plan.containment.any() || std::holds_alternative<record::NotStarted>(record.ending)) {
        return;
    }
    for (const auto& trouble : record.troubles) {
        say_warning(trouble);
    }
    const bool memory_kill = record.events && record.events->oom_kill.value_or(0) > 0;
    if (record.timed_out || memory_kill) {
        say_warning(diagnose::diagnose(record, outcome.samples).front().text);
    }
}

constexpr int kTimedOut = 124;  ///< as timeout(1)

int start(const run::RunPlan& plan, const ProfilerFlags& profiler) {
    if (plan.warning && !plan.quiet) {
        say_warning(*plan.warning);
    }
    if (plan.mode == run::Mode::off) {
        const auto failure = run::exec_in_place(plan.command);
        say_error(failure.line);
        return failure.status;
    }
    run::JobRun job(plan, {profiler_options(profiler, plan),
                           report::wrapper_killed_line(plan.entity.display), MAPDIAG_VERSION});
    auto outcome = job.execute();
    const auto ending = outcome.record.ending;
    const bool timed_out = outcome.record.timed_out;
    if (const auto* not_started = std::get_if<record::NotStarted>(&ending)) {
        say_error(not_started->reason);
    }
    if (plan.mode == run::Mode::on) {
        tell(job, std::move(outcome));
    } else if (!plan.quiet) {
        tell_without_diagnosis(plan, outcome);
    }
    return timed_out ? kTimedOut : job.leave_as(ending);
}

}  // namespace

void add_run_command(CLI::App& app, Action& chosen) {
    (void)add_options(app);
    chosen = [] { return kUsage; };
}

int run_the_run_command(int argc, char** argv) {
    CLI::App app("", "mapdiag");
    const auto flags = add_options(app);
    auto line = split_line(*app.get_subcommand(kName), argc, argv);
    std::vector<std::string> reversed(line.head.rbegin(), line.head.rend());
    reversed.emplace_back(kName);
    if (const auto stopped = parse_or_stop(app, std::move(reversed))) {
        return *stopped;
    }
    flags->options.command = std::move(line.command);
    flags->options.own_profiler = flags->profiler.on;
    const auto plan = run::plan_run(flags->options, environment);
    if (!plan) {
        say_error(plan.error().text() + "\nUsage: mapdiag run [OPTIONS] [--] COMMAND...");
        return kUsage;
    }
    return start(*plan, flags->profiler);
}

}  // namespace mapdiag::cli
