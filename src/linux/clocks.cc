#include "mapdiag/linux/clocks.h"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <array>

namespace mapdiag::linux_os {

std::chrono::nanoseconds thread_cpu_time() {
    timespec time = {};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::string utc_now() {
    timespec now = {};
    ::clock_gettime(CLOCK_REALTIME, &now);
    tm parts = {};
    ::gmtime_r(&now.tv_sec, &parts);
    std::array<char, 32> text = {};
    const auto size = ::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
    return fmt::format("{}.{:03}Z", std::string_view(text.data(), size), now.tv_nsec / 1'000'000);
}

int own_pid() {
    return ::getpid();
}

}  // namespace mapdiag::linux_os
