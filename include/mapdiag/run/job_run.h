#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mapdiag/record/record.h"
#include "mapdiag/run/plan.h"
#include "mapdiag/run/profiler.h"

namespace mapdiag::run {

/// What a run needs beside its plan.
struct JobRunSetup {
    /// Nothing with --profiler none. folded_path is filled in here.
    std::optional<ProfilerOptions> profiler;
    /// The line for E.log when mapdiag itself was killed and the watcher ended the job: made by the
    /// caller, who words everything, because nobody can word it then.
    std::string wrapper_killed_line;
    std::string version;
};

/// What was observed: the readings and the thinned time line.
struct RunOutcome {
    record::RunRecord record;
    std::vector<record::Sample> samples;
};

/// One job from its start to the line behind its log: started inside its own cgroup, watched,
/// sampled and profiled from outside. Nothing that fails here once the job runs costs more than a
/// line of explanation.
class JobRun {
  public:
    JobRun(RunPlan plan, JobRunSetup setup);
    JobRun(const JobRun&) = delete;
    JobRun& operator=(const JobRun&) = delete;
    ~JobRun();

    /// Runs the job to its end and gives everything that was observed.
    RunOutcome execute();

    /// Puts lines behind the job's output: into E.log and, unless quiet, on stderr.
    void write_lines(std::span<const std::string> lines);

    /// Writes the journal's end.
    Result<void> close_journal(const record::RunRecord& record);

    /// Ends mapdiag as the job ended: by the same signal, or with the status to exit with (128+n
    /// where this process can't be ended by a signal).
    int leave_as(const record::Ending& ending);

  private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

/// Replaces mapdiag by the command. Comes back only when that fails: the exit status (126, 127) and
/// the line to say.
struct ExecFailure {
    int status;
    std::string line;
};
ExecFailure exec_in_place(const std::vector<std::string>& command);

/// The status and the line for a command that could not be started.
ExecFailure describe_exec_failure(const std::string& program, int errno_value);

}  // namespace mapdiag::run
