#pragma once

#include <string>
#include <vector>

#include "mapdiag/run/profiler_system.h"

namespace mapdiag::run {

/// The files that py-spys write into, beside the profile: ".E.folded.PID-N.raw", PID being
/// mapdiag's. They are removed at the end; those of a mapdiag that was killed, by the next one.
class RawFiles {
  public:
    RawFiles(const std::string& folded_path, const ProfilerSystem& system);
    RawFiles(const RawFiles&) = delete;
    RawFiles& operator=(const RawFiles&) = delete;
    ~RawFiles() { remove_all(); }

    /// A new, empty file: py-spy itself would find out only after the whole recording that it can't
    /// write there.
    Result<std::string> next();
    void remove_all();

  private:
    void remove_abandoned(const ProfilerSystem& system) const;

    std::string folder_;
    std::string prefix_;
    std::int32_t own_pid_;
    std::vector<std::string> made_;
};

}  // namespace mapdiag::run
