#include "last_gasp.h"

#include <algorithm>

namespace mapdiag::run {
namespace {

using namespace std::chrono_literals;

constexpr auto kEvery = 100ms;

}  // namespace

bool LastGasp::is_due(Clock::time_point now, const linux_os::JobGroup& group) {
    if (over_ || now < next_) {
        return false;
    }
    next_ = now + kEvery;
    const auto threshold = share_ * static_cast<double>(limit_);
    const auto usage = group.usage();
    if (!usage || static_cast<double>(*usage) < threshold) {
        return false;
    }
    const auto split = group.split();
    const auto file = split ? split->file.value_or(0) : 0;
    memory_ = *usage - std::min(*usage, file);
    over_ = static_cast<double>(memory_) >= threshold;
    return over_;
}

std::chrono::nanoseconds LastGasp::until_next(Clock::time_point now) const {
    return over_ ? std::chrono::nanoseconds(1h)
                 : std::max<std::chrono::nanoseconds>(next_ - now, 0ns);
}

}  // namespace mapdiag::run
