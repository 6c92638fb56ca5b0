// Runs that ended by themselves, with whatever status. The last rule always holds.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mapdiag/record/signal_names.h"
#include "mapdiag/support/units.h"
#include "rule_table.h"

namespace mapdiag::diagnose {
namespace {

using namespace record;

// Programs that start a Python for somebody: when they fail before it, the mapping never began.
constexpr std::array<std::string_view, 14> kLaunchers = {
    "uv",  "uvx",   "pipx", "poetry", "pdm",   "hatch",      "rye",
    "tox", "conda", "nox",  "mamba",  "pyenv", "micromamba", "pixi"};

bool is_launcher(std::string_view program) {
    return std::ranges::find(kLaunchers, program) != kLaunchers.end();
}

bool python_seen(const RunRecord& record) {
    return record.python_seen || record.profile.python_seen;
}

std::optional<Finding> exit_after_signal(const Facts& facts) {
    const auto* seen = facts.find_end_request();
    if (!facts.exit_code() || seen == nullptr) {
        return std::nullopt;
    }
    const auto sender = seen->sender == 0 ? std::string("a terminal")
                        : seen->sender_program.empty()
                            ? fmt::format("process {}", seen->sender)
                            : fmt::format("process {} ({})", seen->sender, seen->sender_program);
    return said(
        fmt::format("{} by itself after {} came from {} at {}{}",
                    ending_text(facts.record().ending), signal_name(seen->signal), sender,
                    format_seconds(seen->at_s), seen->passed_on ? " and mapdiag passed it on" : ""),
        {proof_of_ending(facts.record())});
}

// The status says that the job failed; its last line on stderr says of what it ran out.
const char* resource_words(StderrHint hint) {
    switch (hint) {
        case StderrHint::disk_full:
            return "no space was left on a disk (ENOSPC)";
        case StderrHint::disk_quota:
            return "a disk quota was used up (EDQUOT)";
        case StderrHint::open_files:
            return "it had too many files open (EMFILE)";
        case StderrHint::processes:
            return "it could start no more processes or threads (EAGAIN)";
        case StderrHint::file_too_large:
            return "a file grew over its limit (EFBIG)";
        case StderrHint::memory_refused:
            return "memory was refused to it (ENOMEM or a limit of its own)";
        case StderrHint::none:
            break;
    }
    return "";
}

std::optional<Finding> resource_ran_out(const Facts& facts, StderrHint first, StderrHint second) {
    const auto hint = facts.stderr_hint();
    const auto code = facts.exit_code();
    if (!code || *code == 0 || (hint != first && hint != second)) {
        return std::nullopt;
    }
    auto proofs = std::vector<Proof>{
        proof_of_ending(facts.record()),
        {"its last line on stderr names", stderr_hint_name(hint), "the job's stderr"}};
    if (hint == StderrHint::processes) {
        proofs.push_back(
            proof_of_count("times at the limit of processes", facts.record().process_limit_hits));
    }
    if (hint == StderrHint::memory_refused) {
        proofs.push_back(proof_of("peak", facts.record().peak));
        proofs.push_back(proof_of_limit(facts.record()));
    }
    return said(fmt::format("{} after its last line on stderr said that {}",
                            ending_text(facts.record().ending), resource_words(hint)),
                std::move(proofs));
}

std::optional<Finding> disk(const Facts& facts) {
    return resource_ran_out(facts, StderrHint::disk_full, StderrHint::disk_quota);
}
std::optional<Finding> open_files(const Facts& facts) {
    return resource_ran_out(facts, StderrHint::open_files, StderrHint::open_files);
}
std::optional<Finding> processes(const Facts& facts) {
    return resource_ran_out(facts, StderrHint::processes, StderrHint::processes);
}
std::optional<Finding> large_file(const Facts& facts) {
    return resource_ran_out(facts, StderrHint::file_too_large, StderrHint::file_too_large);
}
std::optional<Finding> refused(const Facts& facts) {
    return resource_ran_out(facts, StderrHint::memory_refused, StderrHint::memory_refused);
}

std::optional<Finding> launcher_failed(const Facts& facts) {
    const auto& record = facts.record();
    const auto code = facts.exit_code();
    const bool looked_for_python = record.profile.state != ProfileState::off;
    if (!code || *code == 0 || !looked_for_python || python_seen(record) ||
        !is_launcher(record.program)) {
        return std::nullopt;
    }
    const auto last = record.log.last_stderr_line.empty()
                          ? std::string()
                          : "; its last line on stderr: " + record.log.last_stderr_line;
    return said(
        fmt::format(
            "{} failed before any Python ran: it exited with {} after {}, and no Python was "
            "seen{}",
            record.program, *code, format_seconds(record.wall_s), last),
        {proof_of_ending(record), {"Python seen in the job", "no", "the profiler's search"}});
}

std::optional<Finding> exit_like_signal(const Facts& facts) {
    const auto code = facts.exit_code();
    if (!code || *code <= 128 || *code > 128 + 64) {
        return std::nullopt;
    }
    const auto& record = facts.record();
    const bool no_kill = facts.memory_kills() == 0;
    return said(
        fmt::format(
            "exited with {} by itself, no signal ended it. Can't tell more, because {} is a "
            "plain status as well as what shells and launchers give for a child that {} "
            "ended{}",
            *code, *code, signal_name(*code - 128),
            no_kill ? "; 0 memory kills were counted in the job's cgroup, so the memory "
                      "killer took no such child"
                    : ""),
        {proof_of_ending(record), proof_of_event("memory kills in the job's own cgroup and below",
                                                 record.events, &MemoryEvents::oom_kill)});
}

std::optional<Finding> plain_exit(const Facts& facts) {
    Finding finding =
        said(ending_text(facts.record().ending) + " by itself", {proof_of_ending(facts.record())});
    finding.plain = true;
    return finding;
}

std::optional<Finding> plain_failure(const Facts& facts) {
    const auto code = facts.exit_code();
    return code && *code != 0 ? plain_exit(facts) : std::nullopt;
}

constexpr std::array<RuleRow, 10> kRows = {{
    {{"exit-after-signal", FindingKind::cause, "ended on a signal",
      "the job exited by itself after SIGTERM, SIGINT, SIGHUP or SIGQUIT had come"},
     exit_after_signal},
    {{"disk-full", FindingKind::cause, "disk full",
      "a status other than 0, and the last line on stderr names ENOSPC or EDQUOT"},
     disk},
    {{"open-files", FindingKind::cause, "too many open files",
      "a status other than 0, and the last line on stderr names EMFILE or ENFILE"},
     open_files},
    {{"processes", FindingKind::cause, "too many processes",
      "a status other than 0, and the last line on stderr says that no process or thread could be "
      "started"},
     processes},
    {{"file-too-large", FindingKind::cause, "file size limit",
      "a status other than 0, and the last line on stderr names EFBIG"},
     large_file},
    {{"memory-refused", FindingKind::cause, "memory refused",
      "a status other than 0, and the last line on stderr says that memory was refused"},
     refused},
    {{"launcher-failed", FindingKind::cause, "launcher failed",
      "a launcher (uv, uvx, poetry, ...) exited with another status than 0 and no Python was seen"},
     launcher_failed},
    {{"exit-like-signal", FindingKind::cause, "exit status over 128",
      "the job exited by itself with 129 to 192"},
     exit_like_signal},
    {{"exit-failure", FindingKind::cause, "exit status", "any other status than 0"}, plain_failure},
    {{"exit-zero", FindingKind::cause, "ended well", "status 0, and nothing above holds"},
     plain_exit},
}};

}  // namespace

std::span<const RuleRow> exit_rules() {
    return kRows;
}

}  // namespace mapdiag::diagnose
