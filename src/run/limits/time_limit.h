#pragma once

#include <chrono>

#include "../sampler.h"
#include "mapdiag/run/containment.h"

namespace mapdiag::run {

/// When a job that runs for too long is asked for its stacks, asked to end, and ended. Decides
/// only; who calls it does it.
class TimeLimit {
  public:
    enum class Step : std::uint8_t {
        nothing,
        dump,       ///< once: have the stacks written
        terminate,  ///< once: SIGTERM to the job
        kill,       ///< again and again: SIGKILL to everything in the job's group
    };

    TimeLimit(std::chrono::nanoseconds limit, std::chrono::nanoseconds kill_after,
              Clock::time_point start)
        : end_(start + limit), kill_after_(kill_after) {}

    /// `dumping`: the stacks are still being written; they are waited for, five seconds at most.
    Step next(Clock::time_point now, bool dumping);
    /// The time limit was reached.
    bool reached() const { return stage_ != Stage::before; }
    /// Everything in the group had to be killed.
    bool killed() const { return killed_; }
    std::chrono::nanoseconds until_next(Clock::time_point now) const;

  private:
    enum class Stage : std::uint8_t { before, dumping, terminated };

    Clock::time_point end_;
    std::chrono::nanoseconds kill_after_;
    Stage stage_ = Stage::before;
    bool killed_ = false;
};

}  // namespace mapdiag::run
