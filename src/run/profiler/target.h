#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mapdiag/record/profile.h"
#include "mapdiag/run/profiler.h"
#include "mapdiag/run/profiler_system.h"

#include "process_watch.h"
#include "py_spy_finder.h"
#include "py_spy_session.h"

namespace mapdiag::run {

/// What a target needs to work with.
struct TargetTools {
    const ProfilerOptions& options;
    ProfilerSystem& system;
    PySpyFinder& finder;
    /// Where the next py-spy is to write; an error means that nothing can be written there.
    std::function<Result<std::string>()> new_raw_path;
};

/// One Python of the job and the py-spys that it gets, one after the other where the first fails:
/// waiting -> attached -> (waiting again, after a pause) -> over.
class Target {
  public:
    /// `born`: the last moment at which it was not yet seen as a Python.
    Target(PythonSeen python, record::ProfiledProcess facts, Clock::time_point born)
        : python_(std::move(python)), result_(std::move(facts)), born_(born), next_try_(born) {}

    const PythonSeen& python() const { return python_; }
    std::int32_t pid() const { return python_.id.pid; }
    bool attached() const { return session_.has_value(); }
    /// Nothing more will be tried.
    bool over() const { return over_ && !attached(); }
    bool waits_for_start(Clock::time_point now) const {
        return !over_ && !attached() && now >= next_try_;
    }
    bool owns(std::int32_t pid) const { return session_ && session_->pid() == pid; }

    /// Starts a py-spy. Says whether a process was started.
    bool start(Clock::time_point now, const TargetTools& tools);
    /// Watches the py-spy and, ten times a second, the process. Never waits.
    void poll(Clock::time_point now, const TargetTools& tools);
    /// Another program runs in that process now, or the job has ended.
    void retire(Clock::time_point now, const TargetTools& tools);
    void kill_py_spy();

    const std::vector<std::string>& raw_paths() const { return raw_paths_; }
    record::ProfiledProcess& result() { return result_; }
    /// The first error in making the place where py-spy writes.
    const std::optional<Error>& trouble() const { return trouble_; }

  private:
    void watch_process(Clock::time_point now, const TargetTools& tools);
    void take_end(Clock::time_point now, const TargetTools& tools);
    void digest_failure(const PySpyTalk& talk, Clock::time_point now, const TargetTools& tools);
    void refuse_or_retry(record::ProfileOutcome outcome, Clock::time_point now,
                         const TargetTools& tools);
    void retry(record::ProfileOutcome outcome, unsigned at_most, Clock::time_point now);
    void conclude(record::ProfileOutcome outcome);
    void continue_if_left_stopped(Clock::time_point now, const TargetTools& tools);

    PythonSeen python_;
    record::ProfiledProcess result_;
    std::optional<PySpySession> session_;
    std::vector<std::string> raw_paths_;
    std::optional<Error> trouble_;
    bool over_ = false;
    unsigned failures_ = 0;
    record::ProfileOutcome last_failure_ = record::ProfileOutcome::too_short;
    Clock::time_point born_;
    Clock::time_point next_try_;
    Clock::time_point next_look_;
    /// Since when the process is stopped (T), and since when py-spy holds it (t), without a break.
    std::optional<Clock::time_point> stopped_since_;
    std::optional<Clock::time_point> held_since_;
    double attach_age_s_ = 0;
};

}  // namespace mapdiag::run
