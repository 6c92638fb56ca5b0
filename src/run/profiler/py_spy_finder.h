#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mapdiag/record/profile.h"
#include "mapdiag/run/profiler.h"
#include "mapdiag/run/profiler_system.h"

namespace mapdiag::run {

/// One way to have uv provide py-spy and print where it is.
struct UvWay {
    record::ProfilerSource source;
    std::string program;
    std::vector<std::string> arguments;
    bool last;  ///< no other way with this program comes after it
};

/// Finds a py-spy: the named one, else along PATH, else beside the job's interpreter, else by uv.
/// uv is asked by a process of its own, at once when PATH has none, so that its answer is there
/// when the job's Python is.
class PySpyFinder {
  public:
    PySpyFinder(const ProfilerOptions& options, ProfilerSystem& system);

    /// Goes on with what takes time. Never waits.
    void poll(Clock::time_point now);
    /// A Python of the job: py-spy may stand beside it.
    void offer_interpreter(std::int32_t pid, const std::string& executable);
    /// The py-spy that was found did not work as one (a shim without anything behind it).
    void discard(std::string reason);

    /// The py-spy to use now; nothing while there is none (yet).
    const std::optional<record::FoundProfiler>& found() const { return found_; }
    bool asking_uv() const { return uv_ != nullptr; }
    bool owns(std::int32_t pid) const { return uv_ && uv_->pid() == pid; }
    const std::vector<record::LookedAt>& looked_at() const { return looked_at_; }
    /// Ends what still runs; says so where that was a way that might have succeeded.
    void give_up();

  private:
    bool try_path(record::ProfilerSource source, const std::string& path);
    bool look_along(record::ProfilerSource source, const std::string& name);
    bool look_at_named(record::ProfilerSource source, const std::string& value);
    std::string find_along(const std::string& name) const;
    void missed(record::ProfilerSource source, std::string place, std::string reason = {});
    void ask_uv(const UvWay& way, Clock::time_point now);
    void take_uv_answer();

    const ProfilerOptions& options_;
    ProfilerSystem& system_;
    std::optional<record::FoundProfiler> found_;
    std::vector<record::LookedAt> looked_at_;
    std::vector<std::string> discarded_;
    std::vector<std::string> folders_;  // beside an interpreter, already looked at
    bool only_named_ = false;

    std::vector<UvWay> ways_;
    std::unique_ptr<Helper> uv_;
    std::size_t next_way_ = 0;
    Clock::time_point uv_since_;
};

}  // namespace mapdiag::run
