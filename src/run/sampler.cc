#include "sampler.h"

#include <algorithm>

#include "mapdiag/linux/clocks.h"

namespace mapdiag::run {
namespace {

using std::chrono::duration_cast;
using std::chrono::nanoseconds;

double seconds(nanoseconds time) {
    return std::chrono::duration<double>(time).count();
}

nanoseconds from_seconds(double s) {
    return duration_cast<nanoseconds>(std::chrono::duration<double>(s));
}

// A short run has its peak before the first tenth of a second.
constexpr auto kFirst = std::chrono::milliseconds(20);

// However much a measurement costs: who seldom looks sees no peak.
constexpr auto kLongestInterval = std::chrono::seconds(1);

// A job that was stuck and is killed may be seen once more, no longer waiting, before it is gone.
constexpr auto kLastMoments = std::chrono::seconds(1);

}  // namespace

double thinning_interval_s(double elapsed_s) {
    return std::max(0.1, elapsed_s / 200);
}

Sampler::Sampler(Measure measure, SampleSink sink, Pace pace, Clock::time_point start)
    : measure_(std::move(measure)),
      sink_(std::move(sink)),
      pace_(pace),
      start_(start),
      next_(start + std::min<nanoseconds>(kFirst, pace.shortest.value_or(kFirst))),
      next_journal_(start),
      last_(start) {}

void Sampler::poll(Clock::time_point now) {
    if (now >= next_) {
        take(now);
    }
}

void Sampler::measure_now(Clock::time_point now) {
    take(now);
}

nanoseconds Sampler::until_next(Clock::time_point now) const {
    return std::max<nanoseconds>(next_ - now, nanoseconds(0));
}

void Sampler::take(Clock::time_point now) {
    const auto before = cost_so_far();
    auto sample = measure_();
    const auto cost = cost_so_far() - before;
    // The first one costs more than the others: what it calls is not in the caches yet.
    cost_ += (cost - cost_) / (count_ < 8 ? 1 : 8);
    spent_ += cost;

    sample.at_s = seconds(now - start_);
    if (sample.memory && (!highest_ || *sample.memory > highest_->memory)) {
        highest_ = record::PeakSample{*sample.memory, sample.at_s, sample.split};
    }
    if (sample.split.swap) {
        highest_swap_ = std::max(highest_swap_.value_or(0), *sample.split.swap);
    }
    if (sample.under_oom) {
        under_oom_since_ = under_oom_since_.value_or(now);
        under_oom_until_ = now;
    } else if (!stuck() || now - under_oom_until_ > kLastMoments) {
        under_oom_since_.reset();
    }
    if (now >= next_journal_) {
        sink_(sample);
        next_journal_ = now + from_seconds(thinning_interval_s(sample.at_s));
    }
    ++count_;
    last_ = now;
    next_ = now + (pace_.shortest ? interval(now - start_)
                                  : from_seconds(thinning_interval_s(sample.at_s)));
}

nanoseconds Sampler::cost_so_far() const {
    return linux_os::thread_cpu_time() - (pace_.apart ? pace_.apart() : nanoseconds(0));
}

nanoseconds Sampler::interval(nanoseconds elapsed) const {
    const auto allowed = from_seconds(seconds(elapsed) * pace_.cost_share) + pace_.credit;
    if (spent_ < allowed) {
        return *pace_.shortest;
    }
    const auto affordable = from_seconds(seconds(cost_) / pace_.cost_share);
    return std::clamp<nanoseconds>(affordable, *pace_.shortest,
                                   std::max<nanoseconds>(*pace_.shortest, kLongestInterval));
}

std::optional<double> Sampler::mean_interval_s() const {
    if (count_ < 2) {
        return std::nullopt;
    }
    return seconds(last_ - start_) / static_cast<double>(count_);
}

bool Sampler::stuck() const {
    return under_oom_since_ && under_oom_until_ - *under_oom_since_ >= std::chrono::seconds(1);
}

}  // namespace mapdiag::run
