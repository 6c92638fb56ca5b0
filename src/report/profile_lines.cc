#include "mapdiag/report/profile_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "mapdiag/record/signal_names.h"
#include "mapdiag/support/units.h"

namespace mapdiag::report {
namespace {

using record::Denial;
using record::DenialCause;
using record::ProfiledProcess;
using record::ProfileOutcome;
using record::ProfileRecord;
using record::ProfilerSource;
using record::ProfileState;

// Below this, a share of one function is off by 14 % of itself or more (1 / sqrt(N)).
constexpr std::uint64_t kFewSamples = 50;
constexpr std::size_t kMostProcessLines = 8;

using Processes = std::vector<const ProfiledProcess*>;

// "1 sample", "1 234 samples".
std::string counted(std::uint64_t count, const char* one) {
    return fmt::format("{} {}{}", format_count(count), one, count == 1 ? "" : "s");
}

std::string py_spy_with_version(const ProfileRecord& profile) {
    return profile.found && !profile.found->version.empty() ? "py-spy " + profile.found->version
                                                            : std::string("this py-spy");
}

std::string shown_process(const ProfiledProcess& process) {
    auto text = fmt::format("process {} ({}", process.pid, process.program);
    if (!process.python_version.empty()) {
        text += ", Python " + process.python_version;
    }
    return text + ")";
}

std::string mode_of(const ProfileRecord& profile) {
    std::string mode = profile.settings.idle ? "wall clock (waiting counts too)"
                                             : "busy time only (waiting is left out)";
    mode += profile.settings.native ? ", native frames too" : "";
    mode += profile.settings.nonblocking ? ", without stopping the job" : "";
    return mode;
}

std::string place_text(const record::LookedAt& place) {
    std::string text;
    switch (place.source) {
        case ProfilerSource::option:
            text = fmt::format("--py-spy ({})", place.place);
            break;
        case ProfilerSource::variable:
            text = fmt::format("$MAPDIAG_PYSPY ({})", place.place);
            break;
        case ProfilerSource::search_path:
            text = fmt::format("PATH ({})", place.place);
            break;
        case ProfilerSource::interpreter:
            text = fmt::format("beside the job's Python ({})", place.place);
            break;
        case ProfilerSource::uv:
            text = "uv run --with py-spy";
            break;
        case ProfilerSource::uvx:
            text = "uvx --from py-spy";
            break;
    }
    return place.reason.empty() ? text : text + ": " + place.reason;
}

const char* source_text(ProfilerSource source) {
    switch (source) {
        case ProfilerSource::option:
            return "given by --py-spy";
        case ProfilerSource::variable:
            return "given by $MAPDIAG_PYSPY";
        case ProfilerSource::search_path:
            return "found in PATH";
        case ProfilerSource::interpreter:
            return "found beside the job's Python";
        case ProfilerSource::uv:
            return "provided by uv run --with py-spy";
        case ProfilerSource::uvx:
            return "provided by uvx --from py-spy";
    }
    return "";
}

std::string not_found_line(const ProfileRecord& profile) {
    std::string places;
    for (const auto& place : profile.looked_at) {
        places += (places.empty() ? "" : "; ") + place_text(place);
    }
    return fmt::format(
        "none: py-spy was not found. Looked for at: {}. To get it: pip install py-spy, or name it "
        "with --py-spy",
        places.empty() ? "nowhere" : places);
}

// One line with the cause and the remedy; py-spy's own words ("try sudo") often mislead.
std::string denial_text(const ProfiledProcess& process) {
    const Denial& denial = process.denial;
    switch (denial.cause) {
        case DenialCause::yama:
            if (denial.yama_scope >= 3) {
                return "the kernel forbids every ptrace (kernel.yama.ptrace_scope is 3), until the "
                       "machine is started again with a lower value: py-spy can't look into the "
                       "job";
            }
            return fmt::format(
                "py-spy may not look into the job: ptrace is restricted "
                "(kernel.yama.ptrace_scope is {}). Remedy: sysctl kernel.yama.ptrace_scope=0 on "
                "the machine itself, or for a container --cap-add=SYS_PTRACE and root in it",
                denial.yama_scope);
        case DenialCause::capability:
            return "py-spy may not look into the job: mapdiag has no CAP_SYS_PTRACE, as is usual "
                   "in a container. Remedy: start the container with --cap-add=SYS_PTRACE";
        case DenialCause::other_user:
            return "py-spy may not look into the job, which runs as another user: ptrace needs the "
                   "same user. Remedy: run mapdiag as that user, or with CAP_SYS_PTRACE";
        case DenialCause::seccomp:
            return "py-spy may not look into the job: a system call filter (seccomp) refuses "
                   "ptrace. Remedy: start the container with --cap-add=SYS_PTRACE, or allow ptrace "
                   "in its seccomp profile";
        case DenialCause::none:
        case DenialCause::unknown:
            break;
    }
    return fmt::format(
        "py-spy failed: it was refused permission to look into the job, and nothing that forbids "
        "it can be seen from here. Its words: {}",
        process.message.empty() ? "(none)" : process.message);
}

std::string no_samples_text(const ProfiledProcess& process, const ProfileRecord& profile) {
    auto text = fmt::format("0 samples from {}", shown_process(process));
    if (process.told_samplings) {
        text += fmt::format(", though py-spy took {} in {}", counted(process.samplings, "look"),
                            format_seconds(process.profiled_s));
    }
    if (process.told_samplings && process.samplings == 0) {
        return text + ": it ended before py-spy's first look";
    }
    if (process.errors > 0) {
        return text + fmt::format(": {} of its looks failed", format_count(process.errors));
    }
    return text + (profile.settings.idle
                       ? ": it saw no Python frame in it"
                       : ": it was never seen busy (without --cpu, waiting is counted too)");
}

std::string failure_text(const ProfiledProcess& process) {
    return process.message.empty() ? "py-spy failed: it ended without a profile and said nothing"
                                   : "py-spy failed: " + process.message;
}

// Why there are no samples of a process.
std::string reason_text(const ProfiledProcess& process, const ProfileRecord& profile) {
    switch (process.outcome) {
        case ProfileOutcome::denied:
            return denial_text(process);
        case ProfileOutcome::unsupported_python:
            return fmt::format(
                "unsupported version of Python{}{}: {} does not know it. Remedy: a newer py-spy "
                "(pip install -U py-spy)",
                process.python_version.empty() ? "" : " ", process.python_version,
                py_spy_with_version(profile));
        case ProfileOutcome::no_interpreter:
            return fmt::format("py-spy saw no Python interpreter in {}, in {}{}",
                               shown_process(process), counted(process.attempts, "attempt"),
                               process.message.empty() ? "" : ". Its words: " + process.message);
        case ProfileOutcome::too_short:
            return fmt::format("{} ended before py-spy was ready: too short a run to profile",
                               shown_process(process));
        case ProfileOutcome::cannot_start:
            return "py-spy can't be started: " + process.message;
        case ProfileOutcome::died:
            return fmt::format(
                "the profiler died: py-spy was killed by {} while it profiled {}; its samples are "
                "lost",
                record::signal_name(process.signal), shown_process(process));
        case ProfileOutcome::hung:
            return fmt::format(
                "py-spy did not end when it was told to and had to be killed; its samples of {} "
                "are lost",
                shown_process(process));
        case ProfileOutcome::failed:
            return failure_text(process);
        case ProfileOutcome::no_samples:
            return no_samples_text(process, profile);
        case ProfileOutcome::over_limit:
        case ProfileOutcome::attached:
        case ProfileOutcome::sampled:
            break;
    }
    return fmt::format("nothing is known of {}", shown_process(process));
}

// The processes without samples, by what became of them; what has a line of its own is left out.
std::map<ProfileOutcome, Processes> processes_without_samples(const ProfileRecord& profile) {
    std::map<ProfileOutcome, Processes> by_outcome;
    for (const auto& process : profile.processes) {
        if (process.outcome != ProfileOutcome::sampled &&
            process.outcome != ProfileOutcome::over_limit && !process.helper) {
            by_outcome[process.outcome].push_back(&process);
        }
    }
    return by_outcome;
}

std::string with_count(std::string text, std::size_t processes) {
    return processes < 2 ? text : fmt::format("{} (and {} more like it)", text, processes - 1);
}

void add_written(ProfileLines& lines, const ProfileRecord& profile) {
    lines.profile.push_back(fmt::format(
        "{}: {} samples in {} stacks, {} a second, {}", profile.path, format_count(profile.samples),
        format_count(profile.stacks), profile.settings.rate, mode_of(profile)));
    std::size_t shown = 0;
    std::size_t sampled = 0;
    for (const auto& process : profile.processes) {
        if (process.outcome != ProfileOutcome::sampled || process.helper) {
            continue;
        }
        ++sampled;
        if (shown < kMostProcessLines) {
            ++shown;
            lines.profile.push_back(
                fmt::format("{}: {} samples in {}, from {:.2f} s after its start",
                            shown_process(process), format_count(process.samples),
                            format_seconds(process.profiled_s), process.attached_after_s));
        }
    }
    if (sampled > shown) {
        lines.profile.push_back(fmt::format("and {} more like these", sampled - shown));
    }
    for (const auto& [outcome, processes] : processes_without_samples(profile)) {
        lines.warnings.push_back(with_count(
            "not in the profile: " + reason_text(*processes.front(), profile), processes.size()));
    }
}

void add_empty(ProfileLines& lines, const ProfileRecord& profile) {
    for (const auto& [outcome, processes] : processes_without_samples(profile)) {
        lines.profile.push_back(with_count(
            (lines.profile.empty() ? "none: " : "") + reason_text(*processes.front(), profile),
            processes.size()));
    }
    if (lines.profile.empty()) {
        lines.profile.emplace_back("none: no Python of the job was profiled");
    }
}

// What was left out on purpose.
void add_left_out(ProfileLines& lines, const ProfileRecord& profile) {
    if (profile.left_out_children > 0) {
        lines.profile.push_back(
            fmt::format("{} that a profiled one started: not in it (--subprocesses takes them in)",
                        counted(profile.left_out_children, "Python")));
    }
    const auto helpers = std::ranges::count_if(
        profile.processes, [](const ProfiledProcess& process) { return process.helper; });
    if (helpers > 0) {
        lines.profile.push_back(
            fmt::format("{} of uv itself: not in it",
                        counted(static_cast<std::uint64_t>(helpers), "short Python")));
    }
    if (profile.over_limit > 0) {
        lines.warnings.push_back(
            fmt::format("{} not profiled: mapdiag runs {} py-spys at once at most",
                        counted(profile.over_limit, "Python"), profile.limit_at_once));
    }
}

void add_errors(ProfileLines& lines, const ProfileRecord& profile) {
    std::uint64_t samplings = 0;
    std::uint64_t errors = 0;
    for (const auto& process : profile.processes) {
        samplings += process.helper ? 0 : process.samplings;
        errors += process.helper ? 0 : process.errors;
    }
    // py-spy 0.4 counts a failed look among the looks; one that counts more errors than looks does
    // not.
    const auto looks = errors > samplings ? samplings + errors : samplings;
    if (errors * 10 < looks || errors == 0) {
        return;
    }
    lines.warnings.push_back(
        fmt::format("{} of {} looks of py-spy at the job failed with an error: {}",
                    format_count(errors), format_count(looks),
                    errors * 2 >= looks ? "do not trust this profile"
                                        : "shares in this profile may be off by several points"));
}

void add_warnings(ProfileLines& lines, const ProfileRecord& profile) {
    if (profile.state == ProfileState::written) {
        add_errors(lines, profile);
        if (profile.samples < kFewSamples) {
            lines.warnings.push_back(fmt::format("only {}: too few for shares of single functions",
                                                 counted(profile.samples, "sample")));
        }
    }
    double behind_s = 0;
    for (const auto& process : profile.processes) {
        behind_s = std::max(behind_s, process.behind_s);
        if (process.stopped_job) {
            lines.warnings.push_back(fmt::format("py-spy left {} stopped; mapdiag continued it",
                                                 shown_process(process)));
        }
    }
    if (behind_s > 0) {
        lines.warnings.push_back(fmt::format(
            "py-spy was {:.2f} s behind in sampling: {} a second is too much here, shares may be "
            "off. Remedy: a lower --rate",
            behind_s, profile.settings.rate));
    }
    if (profile.lost_lines > 0) {
        lines.warnings.push_back(fmt::format("{} of py-spy's profile could not be read: left out",
                                             counted(profile.lost_lines, "line")));
    }
}

}  // namespace

ProfileLines profile_lines(const ProfileRecord& profile) {
    ProfileLines lines;
    switch (profile.state) {
        case ProfileState::off:
            return lines;
        case ProfileState::written:
            add_written(lines, profile);
            break;
        case ProfileState::not_found:
            lines.profile.push_back(not_found_line(profile));
            break;
        case ProfileState::no_python:
            lines.profile.emplace_back("none: no Python process was seen in the job");
            break;
        case ProfileState::empty:
            add_empty(lines, profile);
            break;
        case ProfileState::not_written:
            lines.profile.push_back("none: " + profile.trouble);
            break;
    }
    if (profile.state == ProfileState::written && profile.found) {
        lines.profile.push_back(fmt::format("taken by {}, {} ({})", py_spy_with_version(profile),
                                            profile.found->path,
                                            source_text(profile.found->source)));
    }
    add_left_out(lines, profile);
    add_warnings(lines, profile);
    return lines;
}

}  // namespace mapdiag::report
