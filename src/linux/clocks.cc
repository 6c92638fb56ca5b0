#include "mapdiag/linux/clocks.h"

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
    const auto now = ::time(nullptr);
    tm parts = {};
    ::gmtime_r(&now, &parts);
    std::array<char, 32> text = {};
    const auto size = ::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return {text.data(), size};
}

int own_pid() {
    return ::getpid();
}

}  // namespace mapdiag::linux_os
