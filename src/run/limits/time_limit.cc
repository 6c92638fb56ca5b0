#include "time_limit.h"

#include <algorithm>

namespace mapdiag::run {
namespace {

using namespace std::chrono_literals;

constexpr auto kDumpPatience = 5s;
/// Between two looks while something is under way.
constexpr auto kSoon = 20ms;

}  // namespace

TimeLimit::Step TimeLimit::next(Clock::time_point now, bool dumping) {
    if (stage_ == Stage::before && now >= end_) {
        stage_ = Stage::dumping;
        end_ = now + kDumpPatience;
        return Step::dump;
    }
    if (stage_ == Stage::dumping && (!dumping || now >= end_)) {
        stage_ = Stage::terminated;
        end_ = now + kill_after_;
        return Step::terminate;
    }
    if (stage_ == Stage::terminated && now >= end_) {
        killed_ = true;
        return Step::kill;
    }
    return Step::nothing;
}

std::chrono::nanoseconds TimeLimit::until_next(Clock::time_point now) const {
    const auto due = std::max<std::chrono::nanoseconds>(end_ - now, 0ns);
    if (stage_ == Stage::dumping || killed_) {
        return std::min<std::chrono::nanoseconds>(std::max<std::chrono::nanoseconds>(due, 1ms),
                                                  kSoon);
    }
    return due;
}

}  // namespace mapdiag::run
