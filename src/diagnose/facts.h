#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mapdiag/diagnose/diagnose.h"
#include "mapdiag/record/record.h"

namespace mapdiag::diagnose {

/// A record, seen with the questions that the rules ask.
class Facts {
  public:
    Facts(const record::RunRecord& of, std::span<const record::Sample> time_line)
        : record_(of), samples_(time_line) {}

    const record::RunRecord& record() const { return record_; }
    std::span<const record::Sample> samples() const { return samples_; }

    /// The signal that ended the job; nothing where none did.
    std::optional<int> signal() const;
    /// The status that the job left with by itself.
    std::optional<int> exit_code() const;
    bool ended_well() const { return exit_code() == 0; }
    /// Something ended the run before it was done: its output can't be whole.
    bool cut_short() const;

    bool is_v1() const { return record_.placement == record::Placement::own_cgroup_v1; }
    /// Memory kills in the job's own group and below; nothing where nobody could look.
    std::optional<std::uint64_t> memory_kills() const;
    bool memory_killed() const { return memory_kills().value_or(0) > 0; }

    /// User and system together.
    std::optional<double> cpu_s() const;
    /// The first of the signals that reached mapdiag with that number.
    const record::SignalSeen* find_signal(int signal) const;
    /// The last one that asks a program to end: SIGTERM, SIGINT, SIGHUP, SIGQUIT.
    const record::SignalSeen* find_end_request() const;
    record::StderrHint stderr_hint() const;

    /// What can't be given back: the peak less the file cache seen at the highest sample.
    std::optional<std::uint64_t> needed_bytes() const;

  private:
    const record::RunRecord& record_;
    std::span<const record::Sample> samples_;
};

/// A proof from a reading, "not available, because ..." included.
Proof proof_of(std::string name, const record::Reading<std::uint64_t>& bytes);
Proof proof_of_count(std::string name, const record::Reading<std::uint64_t>& count);
Proof proof_of_seconds(std::string name, const record::Reading<double>& seconds);
Proof proof_of_limit(const record::RunRecord& record);
Proof proof_of_ending(const record::RunRecord& record);
/// One counter of the job's own memory events.
Proof proof_of_event(std::string name, const record::Reading<record::MemoryEvents>& events,
                     std::optional<std::uint64_t> record::MemoryEvents::* counter);

/// "exited with 7", "killed by SIGKILL (signal 9)", "never started", ...
std::string ending_text(const record::Ending& ending);
/// "not available, because <reason>".
std::string not_available(const std::string& reason);
/// "1 process", "3 processes".
std::string counted(std::uint64_t count, const char* one, const char* many);

}  // namespace mapdiag::diagnose
