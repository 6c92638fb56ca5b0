#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "mapdiag/record/profile.h"
#include "mapdiag/run/profiler_system.h"

#include "py_spy_words.h"

namespace mapdiag::run {

/// What is needed to start one py-spy.
struct SessionStart {
    std::string py_spy;
    record::ProfilerSettings settings;
    std::int32_t pid = 0;
    std::string raw_path;  ///< where py-spy writes, at its end
};

/// One py-spy on one process, from its start to its end.
class PySpySession {
  public:
    static Result<PySpySession> start(const SessionStart& start, ProfilerSystem& system,
                                      Clock::time_point now);

    std::int32_t pid() const { return helper_->pid(); }
    const std::string& raw_path() const { return raw_path_; }
    Clock::time_point since() const { return since_; }

    /// Takes what it said and its end, and goes on with ending it: SIGINT, again after 1 and 2 s,
    /// SIGKILL after 4 s, later where it is still writing. Never waits.
    void poll(Clock::time_point now);
    /// Asks it to write its file and end: from now on, or after a grace in which it may see by
    /// itself that the process is gone (a SIGINT before it has attached would just kill it).
    void ask_to_end(Clock::time_point now, std::chrono::milliseconds grace);
    /// The end of all patience.
    void kill();

    bool asked_to_end() const { return asked_; }
    /// mapdiag killed it, since it did not end when asked.
    bool killed_by_us() const { return killed_; }
    /// It got a SIGINT of ours.
    bool interrupted() const { return interrupts_ > 0; }
    std::optional<linux_os::HelperEnd> end() const { return helper_->end(); }
    PySpyTalk talk() const { return understand_py_spy(helper_->output()); }

  private:
    PySpySession(std::unique_ptr<Helper> helper, std::string raw_path, Clock::time_point now)
        : helper_(std::move(helper)), raw_path_(std::move(raw_path)), since_(now) {}
    std::uint64_t written() const;

    std::unique_ptr<Helper> helper_;
    std::string raw_path_;
    Clock::time_point since_;
    bool asked_ = false;
    bool killed_ = false;
    int interrupts_ = 0;
    Clock::time_point next_interrupt_;
    Clock::time_point kill_at_;
    std::uint64_t written_ = 0;
};

}  // namespace mapdiag::run
