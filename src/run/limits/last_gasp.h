#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "../sampler.h"
#include "mapdiag/linux/job_group.h"

namespace mapdiag::run {

/// Looks ten times a second whether the job is about to reach its memory limit: says so once. File
/// cache does not count, which the kernel drops before it kills anybody.
class LastGasp {
  public:
    LastGasp(double share, std::uint64_t limit, Clock::time_point start)
        : share_(share), limit_(limit), next_(start) {}

    bool is_due(Clock::time_point now, const linux_os::JobGroup& group);
    std::chrono::nanoseconds until_next(Clock::time_point now) const;

    /// What was in use then, without file cache.
    std::uint64_t memory() const { return memory_; }
    std::uint64_t limit() const { return limit_; }

  private:
    double share_;
    std::uint64_t limit_;
    Clock::time_point next_;
    std::uint64_t memory_ = 0;
    bool over_ = false;
};

}  // namespace mapdiag::run
