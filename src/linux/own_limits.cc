#include "mapdiag/linux/own_limits.h"

#include <sched.h>
#include <sys/resource.h>

namespace mapdiag::linux_os {
namespace {

std::optional<std::uint64_t> soft_limit(__rlimit_resource resource) {
    rlimit limit = {};
    if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return std::nullopt;
    }
    return limit.rlim_cur;
}

}  // namespace

std::optional<std::uint64_t> cpu_time_limit_s() {
    return soft_limit(RLIMIT_CPU);
}

std::optional<std::uint64_t> file_size_limit() {
    return soft_limit(RLIMIT_FSIZE);
}

unsigned usable_cores() {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    if (::sched_getaffinity(0, sizeof cores, &cores) != 0) {
        return 1;
    }
    return static_cast<unsigned>(CPU_COUNT(&cores));
}

}  // namespace mapdiag::linux_os
