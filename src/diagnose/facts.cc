#include "facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "mapdiag/record/signal_names.h"
#include "mapdiag/support/units.h"

namespace mapdiag::diagnose {
namespace {

using namespace record;

bool asks_to_end(int signal) {
    return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;
}

struct EndingWords {
    std::string operator()(std::monostate) const { return "not known: the journal has no end"; }
    std::string operator()(const NotStarted& ending) const {
        return fmt::format("never started (status {}): {}", ending.status, ending.reason);
    }
    std::string operator()(const Exited& ending) const {
        return fmt::format("exited with {}", ending.code);
    }
    std::string operator()(const Killed& ending) const {
        return fmt::format("killed by {}{}", signal_with_number(ending.signal),
                           ending.core_dumped ? ", core dumped" : "");
    }
    std::string operator()(const WrapperKilled&) const {
        return "not known: mapdiag itself was killed, and the job with it";
    }
};

template <class T, class Format>
Proof make_proof(std::string name, const Reading<T>& reading, Format format) {
    if (reading) {
        return {std::move(name), format(*reading), reading.source()};
    }
    return {std::move(name), not_available(reading.reason()), ""};
}

}  // namespace

std::optional<int> Facts::signal() const {
    const auto* killed = std::get_if<Killed>(&record_.ending);
    return killed == nullptr ? std::nullopt : std::optional(killed->signal);
}

std::optional<int> Facts::exit_code() const {
    const auto* exited = std::get_if<Exited>(&record_.ending);
    return exited == nullptr ? std::nullopt : std::optional(exited->code);
}

bool Facts::cut_short() const {
    if (std::holds_alternative<NotStarted>(record_.ending)) {
        return false;
    }
    const auto code = exit_code();
    return !code || *code >= 128 || memory_killed() || record_.timed_out;
}

std::optional<std::uint64_t> Facts::memory_kills() const {
    return record_.events ? record_.events->oom_kill : std::nullopt;
}

std::optional<double> Facts::cpu_s() const {
    if (!record_.user_s || !record_.system_s) {
        return std::nullopt;
    }
    return *record_.user_s + *record_.system_s;
}

const SignalSeen* Facts::find_signal(int signal) const {
    const auto found = std::ranges::find(record_.signals, signal, &SignalSeen::signal);
    return found == record_.signals.end() ? nullptr : &*found;
}

const SignalSeen* Facts::find_end_request() const {
    const auto from_last =
        std::ranges::find_if(record_.signals.rbegin(), record_.signals.rend(),
                             [](const SignalSeen& seen) { return asks_to_end(seen.signal); });
    return from_last == record_.signals.rend() ? nullptr : &*from_last;
}

StderrHint Facts::stderr_hint() const {
    return record_.log.hint == StderrHint::none ? stderr_hint_of(record_.log.last_stderr_line)
                                                : record_.log.hint;
}

std::optional<std::uint64_t> Facts::needed_bytes() const {
    // An upper bound is no need.
    const bool bound = record_.placement == Placement::shared_cgroup;
    if (!record_.peak || !record_.peak_sample || bound) {
        return std::nullopt;
    }
    const auto cache = record_.peak_sample->split.file.value_or(0);
    return *record_.peak - std::min(*record_.peak, cache);
}

Proof proof_of(std::string name, const Reading<std::uint64_t>& bytes) {
    return make_proof(std::move(name), bytes, [](std::uint64_t value) {
        return fmt::format("{} ({} bytes)", format_bytes(value), value);
    });
}

Proof proof_of_count(std::string name, const Reading<std::uint64_t>& count) {
    return make_proof(std::move(name), count,
                      [](std::uint64_t value) { return std::to_string(value); });
}

Proof proof_of_seconds(std::string name, const Reading<double>& seconds) {
    return make_proof(std::move(name), seconds, format_seconds);
}

Proof proof_of_limit(const RunRecord& record) {
    return make_proof("memory limit in force", record.limit, [](const Limit& limit) {
        return fmt::format("{} ({} bytes){}", format_bytes(limit.bytes), limit.bytes,
                           limit.carried ? ", carried by the job's own cgroup" : "");
    });
}

Proof proof_of_ending(const RunRecord& record) {
    return {"ending", ending_text(record.ending), "wait status of the job"};
}

Proof proof_of_event(std::string name, const Reading<MemoryEvents>& events,
                     std::optional<std::uint64_t> MemoryEvents::* counter) {
    if (!events) {
        return {std::move(name), not_available(events.reason()), ""};
    }
    const auto& value = *events.*counter;
    if (!value) {
        return {std::move(name), not_available("this kernel has no such counter"), events.source()};
    }
    return {std::move(name), std::to_string(*value), events.source()};
}

std::string ending_text(const Ending& ending) {
    return std::visit(EndingWords{}, ending);
}

std::string not_available(const std::string& reason) {
    return "not available, because " + reason;
}

std::string counted(std::uint64_t count, const char* one, const char* many) {
    return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace mapdiag::diagnose
