#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "mapdiag/record/record.h"

namespace mapdiag::run {

using Clock = std::chrono::steady_clock;

/// Where samples come from: the job's group or its processes. Fills everything but `at_s`.
using Measure = std::function<record::Sample()>;
/// Takes one thinned sample, for the journal.
using SampleSink = std::function<void(const record::Sample&)>;

/// When to take the next point of the time line, `elapsed` seconds after the start: every 100 ms at
/// first, then every two hundredth of the time gone, so that a run of an hour has about 1,200
/// points and one of ten hours about 1,700.
double thinning_interval_s(double elapsed_s);

/// Measures at intervals, keeps the highest sample and hands a thinned time line on.
class Sampler {
  public:
    /// `cost_share` is what measuring itself takes; waking up for it costs about as much again.
    /// How often to measure: at `shortest` as long as measuring took no more than `credit` beside
    /// its share of one core, then as seldom as that share allows for what one measurement costs in
    /// the mean. Without `shortest` it is the thinning interval.
    struct Pace {
        std::optional<std::chrono::nanoseconds> shortest;
        double cost_share = 0.002;
        std::chrono::nanoseconds credit = std::chrono::milliseconds(20);
        /// What of the cost so far has a budget of its own.
        std::function<std::chrono::nanoseconds()> apart = {};
    };

    Sampler(Measure measure, SampleSink sink, Pace pace, Clock::time_point start);

    /// Measures where it is time to.
    void poll(Clock::time_point now);
    /// Measures now, whatever the time: at the start and at the end of the job.
    void measure_now(Clock::time_point now);
    std::chrono::nanoseconds until_next(Clock::time_point now) const;

    const std::optional<record::PeakSample>& highest() const { return highest_; }
    const std::optional<std::uint64_t>& highest_swap() const { return highest_swap_; }
    /// The mean time between two measurements; nothing before the second.
    std::optional<double> mean_interval_s() const;
    /// The job was stopped at its limit, with nobody to kill it, for at least one second until now.
    bool stuck() const;

  private:
    void take(Clock::time_point now);
    std::chrono::nanoseconds cost_so_far() const;
    std::chrono::nanoseconds interval(std::chrono::nanoseconds elapsed) const;

    Measure measure_;
    SampleSink sink_;
    Pace pace_;
    Clock::time_point start_;
    Clock::time_point next_;
    Clock::time_point next_journal_;
    Clock::time_point last_;
    std::optional<Clock::time_point> under_oom_since_;
    Clock::time_point under_oom_until_;
    std::optional<record::PeakSample> highest_;
    std::optional<std::uint64_t> highest_swap_;
    std::uint64_t count_ = 0;
    std::chrono::nanoseconds spent_{0};
    std::chrono::nanoseconds cost_{0};
};

}  // namespace mapdiag::run
