#include "run_words.h"

#include <fmt/format.h>

#include "mapdiag/record/signal_names.h"
#include "mapdiag/support/units.h"

namespace mapdiag::report {
namespace {

using namespace record;

struct ExitWords {
    std::string operator()(std::monostate) const { return "not known: the journal has no end"; }
    std::string operator()(const NotStarted& ending) const {
        return fmt::format("never started, status {}: {}", ending.status, ending.reason);
    }
    std::string operator()(const Exited& ending) const {
        return fmt::format("exited with {}", ending.code);
    }
    std::string operator()(const Killed& ending) const {
        return fmt::format("killed by {}, status {}{}", signal_with_number(ending.signal),
                           128 + ending.signal, ending.core_dumped ? ", core dumped" : "");
    }
    std::string operator()(const WrapperKilled&) const {
        return "mapdiag itself was killed and its watcher ended the job";
    }
};

}  // namespace

std::string exit_text(const RunRecord& record) {
    return std::visit(ExitWords{}, record.ending) +
           (record.timed_out ? "; mapdiag leaves with 124, since its time limit was reached" : "");
}

std::string stack_dump_text(const StackDump& dump) {
    const auto when =
        fmt::format("stacks at the {}, after {}", dump.why, format_seconds(dump.at_s));
    if (dump.path.empty()) {
        return fmt::format(
            "{}: not available, because {}", when,
            dump.failure.empty() ? "the job ended before they were read" : dump.failure);
    }
    return fmt::format("{}, of {} process{}: {}{}", when, dump.processes,
                       dump.processes == 1 ? "" : "es", dump.path,
                       dump.failure.empty() ? "" : "; not of all: " + dump.failure);
}

std::string time_text(const RunRecord& record) {
    const auto wall = format_seconds(record.wall_s);
    if (!record.user_s || !record.system_s) {
        const auto& missing = record.user_s ? record.system_s : record.user_s;
        return fmt::format("{} wall clock; CPU not available, because {}", wall, missing.reason());
    }
    const auto cpu = *record.user_s + *record.system_s;
    return fmt::format("{} wall clock, {} CPU ({} user, {} system; {} of one core), {}", wall,
                       format_seconds(cpu), format_seconds(*record.user_s),
                       format_seconds(*record.system_s), format_share(cpu, record.wall_s),
                       record.user_s.source());
}

}  // namespace mapdiag::report
