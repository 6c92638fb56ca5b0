// Deaths by a signal that the kernel's memory killer did not send.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "mapdiag/record/signal_names.h"
#include "mapdiag/support/units.h"
#include "rule_table.h"

namespace mapdiag::diagnose {
namespace {

using namespace record;

constexpr std::array kCrashes = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGSYS, SIGTRAP};

std::string sender_words(const SignalSeen& seen) {
    if (seen.sender == 0) {
        return "from the kernel (a terminal)";
    }
    return seen.sender_program.empty()
               ? fmt::format("from process {}", seen.sender)
               : fmt::format("from process {} ({})", seen.sender, seen.sender_program);
}

std::string seen_words(const SignalSeen& seen) {
    return fmt::format("{} reached mapdiag after {} {}, and {}", signal_name(seen.signal),
                       format_seconds(seen.at_s), sender_words(seen),
                       seen.passed_on ? "mapdiag passed it on" : "the job had it from there, too");
}

Proof signal_proof(const SignalSeen& seen) {
    return {"signal that reached mapdiag",
            fmt::format("{} after {} {}", signal_name(seen.signal), format_seconds(seen.at_s),
                        sender_words(seen)),
            "siginfo of mapdiag's own signal"};
}

Proof kills_proof(const Facts& facts) {
    return proof_of_event("memory kills in the job's own cgroup and below", facts.record().events,
                          &MemoryEvents::oom_kill);
}

// At the hard limit on CPU time the kernel sends SIGKILL.
std::string cpu_limit_words(const Facts& facts) {
    const auto& limit = facts.record().cpu_time_limit_s;
    const auto cpu = facts.cpu_s();
    if (!limit || !cpu || *cpu < 0.9 * static_cast<double>(*limit)) {
        return {};
    }
    return fmt::format(
        "; its CPU time limit of {} s (`ulimit -t`) may be what did it: {} were "
        "used, and the kernel sends SIGKILL at a hard limit",
        *limit, format_seconds(*cpu));
}

// SIGKILL, and the counters of the job's own group say that the memory killer took nobody there.
std::optional<Finding> kill_not_memory(const Facts& facts) {
    if (facts.signal() != SIGKILL || facts.memory_kills() != 0) {
        return std::nullopt;
    }
    return said(
        "SIGKILL from an unknown sender: 0 memory kills were counted in the job's cgroup, so it "
        "was "
        "not the memory killer of this cgroup; the kernel does not tell who sends SIGKILL (a "
        "scheduler, a container that is stopped, `kill -9`)" +
            cpu_limit_words(facts),
        {proof_of_ending(facts.record()), kills_proof(facts), proof_of("peak", facts.record().peak),
         proof_of_limit(facts.record())});
}

// Without a group of its own: no kill at all on the machine, or none in the group that the job
// shared with others, clears the memory killer just as well.
std::optional<Finding> kill_not_memory_shared(const Facts& facts) {
    const auto& record = facts.record();
    if (facts.signal() != SIGKILL || facts.memory_kills()) {
        return std::nullopt;
    }
    const bool none_on_machine = record.machine_oom_kills && *record.machine_oom_kills == 0;
    const bool none_in_shared =
        !record.ancestors.empty() && record.ancestors.front().local.oom_kill == 0;
    if (!none_on_machine && !none_in_shared) {
        return std::nullopt;
    }
    auto proofs = std::vector<Proof>{
        proof_of_ending(record), kills_proof(facts),
        proof_of_count("memory kills on the whole machine", record.machine_oom_kills)};
    if (none_in_shared) {
        proofs.push_back({"memory kills in " + record.ancestors.front().path, "0",
                          "the cgroup that the job shared with others"});
    }
    return said(
        fmt::format(
            "SIGKILL from an unknown sender: 0 memory kills were counted {} during the run, "
            "so it was not the kernel's memory killer; the kernel does not tell who sends "
            "SIGKILL (a scheduler, a container that is stopped, `kill -9`){}",
            none_on_machine ? "on the whole machine" : "in the cgroup that the job shared",
            cpu_limit_words(facts)),
        std::move(proofs));
}

std::optional<Finding> kill_unknown(const Facts& facts) {
    const auto& record = facts.record();
    if (facts.signal() != SIGKILL) {
        return std::nullopt;
    }
    const auto why =
        record.machine_oom_kills
            ? fmt::format(
                  "{} on this machine during the run, and the job had no cgroup of its own "
                  "to tell whether it was one of the victims",
                  counted(*record.machine_oom_kills, "memory kill was counted",
                          "memory kills were counted"))
            : std::string("no counter of memory kills can be read here");
    return said(
        fmt::format(
            "SIGKILL; can't tell whether by the kernel's memory killer or by somebody else, "
            "because {}",
            why),
        {proof_of_ending(record), kills_proof(facts),
         proof_of_count("memory kills on the whole machine", record.machine_oom_kills)});
}

std::optional<Finding> signal_through_mapdiag(const Facts& facts) {
    const auto signal = facts.signal();
    const auto* seen = signal ? facts.find_signal(*signal) : nullptr;
    if (seen == nullptr) {
        return std::nullopt;
    }
    return said(seen_words(*seen), {proof_of_ending(facts.record()), signal_proof(*seen)});
}

std::optional<Finding> crash(const Facts& facts) {
    const auto signal = facts.signal();
    if (!signal || std::ranges::find(kCrashes, *signal) == kCrashes.end()) {
        return std::nullopt;
    }
    const auto core = std::get<Killed>(facts.record().ending).core_dumped;
    const auto* what = *signal == SIGABRT ? "it gave up by itself (abort)" : "it crashed";
    return said(
        fmt::format("{}: {}, {}; unless somebody sent it that signal, which the kernel "
                    "does not tell",
                    what, signal_with_number(*signal), core ? "core dumped" : "no core file"),
        {proof_of_ending(facts.record())});
}

// A limit on CPU time is for each process: what all of them used must have come up to it at least.
bool could_have_used(const Facts& facts, double limit_s) {
    constexpr double kClockTick = 0.9;
    const auto cpu = facts.cpu_s();
    return !cpu || *cpu >= kClockTick * limit_s;
}

std::optional<Finding> cpu_time_limit(const Facts& facts) {
    const auto& limit = facts.record().cpu_time_limit_s;
    if (facts.signal() != SIGXCPU || !limit ||
        !could_have_used(facts, static_cast<double>(*limit))) {
        return std::nullopt;
    }
    return said(
        fmt::format("its CPU time limit (RLIMIT_CPU, `ulimit -t` {} s) was used up: {}", *limit,
                    signal_with_number(SIGXCPU)),
        {proof_of_ending(facts.record()), proof_of_count("CPU time limit in seconds", limit),
         proof_of_seconds("user CPU", facts.record().user_s)});
}

// The kernel's shortest limit on CPU time is one second.
std::optional<Finding> cpu_time_unknown(const Facts& facts) {
    if (facts.signal() != SIGXCPU || !could_have_used(facts, 1)) {
        return std::nullopt;
    }
    return said(fmt::format("{}: can't tell whether a CPU time limit (RLIMIT_CPU) that the job had "
                            "set for itself was used up or somebody sent the signal, because "
                            "mapdiag's own limit was not the one",
                            signal_with_number(SIGXCPU)),
                {proof_of_ending(facts.record()),
                 proof_of_count("CPU time limit in seconds", facts.record().cpu_time_limit_s),
                 proof_of_seconds("user CPU", facts.record().user_s)});
}

std::optional<Finding> file_size_limit(const Facts& facts) {
    const auto& limit = facts.record().file_size_limit;
    if (facts.signal() != SIGXFSZ || !limit) {
        return std::nullopt;
    }
    return said(
        fmt::format("it wrote a file larger than its limit (RLIMIT_FSIZE, `ulimit -f` {}): {}",
                    format_bytes(*limit), signal_with_number(SIGXFSZ)),
        {proof_of_ending(facts.record()), proof_of("file size limit", limit)});
}

std::optional<Finding> file_size_unknown(const Facts& facts) {
    if (facts.signal() != SIGXFSZ) {
        return std::nullopt;
    }
    return said(fmt::format("{}: can't tell whether a file grew over a limit (RLIMIT_FSIZE) that "
                            "the job had set for itself or somebody sent the signal, because "
                            "mapdiag itself has no such limit",
                            signal_with_number(SIGXFSZ)),
                {proof_of_ending(facts.record()),
                 proof_of("file size limit", facts.record().file_size_limit)});
}

std::optional<Finding> broken_pipe(const Facts& facts) {
    if (facts.signal() != SIGPIPE) {
        return std::nullopt;
    }
    const auto& record = facts.record();
    const bool ours = !record.out.failure.empty() || !record.err.failure.empty();
    return said(
        fmt::format("{}{}", signal_with_number(SIGPIPE),
                    ours ? ": it wrote to a pipe whose reader was gone: what reads mapdiag's "
                           "output ended early"
                         : ", which the kernel sends to a program that writes to a pipe whose "
                           "reader is gone (mapdiag's own readers were there)"),
        {proof_of_ending(record),
         {"stdout", record.out.failure.empty() ? "passed on" : record.out.failure, ""}});
}

std::optional<Finding> signal_from_elsewhere(const Facts& facts) {
    const auto signal = facts.signal();
    if (!signal) {
        return std::nullopt;
    }
    return said(fmt::format("{} was sent to the job by somebody else or by itself: it did not come "
                            "through mapdiag",
                            signal_with_number(*signal)),
                {proof_of_ending(facts.record()),
                 {"signals that reached mapdiag", std::to_string(facts.record().signals.size()),
                  "mapdiag's own signals"}});
}

constexpr std::array<RuleRow, 11> kRows = {{
    {{"sigkill-not-memory", FindingKind::cause, "SIGKILL, sender unknown",
      "SIGKILL, and 0 memory kills counted in the job's own cgroup"},
     kill_not_memory},
    {{"sigkill-not-memory-shared", FindingKind::cause, "SIGKILL, sender unknown",
      "SIGKILL without an own cgroup, and 0 memory kills counted on the machine or in the shared "
      "cgroup"},
     kill_not_memory_shared},
    {{"sigkill-unknown", FindingKind::cause, "SIGKILL, can't tell",
      "SIGKILL without an own cgroup, and memory kills on the machine or no counter"},
     kill_unknown},
    {{"signal-passed-on", FindingKind::cause, "signal",
      "the signal that ended the job also reached mapdiag"},
     signal_through_mapdiag},
    {{"crash", FindingKind::cause, "crash",
      "SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGSYS or SIGTRAP that did not reach mapdiag"},
     crash},
    {{"cpu-time-limit", FindingKind::cause, "CPU time limit",
      "SIGXCPU, a limit on CPU time that mapdiag has too, and at least as much CPU time used"},
     cpu_time_limit},
    {{"sigxcpu-unknown", FindingKind::cause, "SIGXCPU, can't tell",
      "SIGXCPU without such a limit, and a second of CPU time used (the least limit there is)"},
     cpu_time_unknown},
    {{"file-size-limit", FindingKind::cause, "file size limit",
      "SIGXFSZ, and a limit on file sizes that mapdiag has too"},
     file_size_limit},
    {{"sigxfsz-unknown", FindingKind::cause, "SIGXFSZ, can't tell", "SIGXFSZ without such a limit"},
     file_size_unknown},
    {{"broken-pipe", FindingKind::cause, "reader gone", "SIGPIPE"}, broken_pipe},
    {{"signal-elsewhere", FindingKind::cause, "signal from elsewhere",
      "any other signal ended the job and did not reach mapdiag"},
     signal_from_elsewhere},
}};

}  // namespace

std::span<const RuleRow> signal_rules() {
    return kRows;
}

}  // namespace mapdiag::diagnose
