#include "mapdiag/support/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace mapdiag {

std::size_t worker_count() {
    // hardware_concurrency() counts processors that a cpuset may forbid.
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
        return static_cast<std::size_t>(std::max(1, CPU_COUNT(&allowed)));
    }
    return std::max(1U, std::thread::hardware_concurrency());
}

void in_parallel(std::size_t parts, const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next = 0;
    std::exception_ptr failure;
    std::mutex failure_lock;
    const auto take_parts = [&] {
        try {
            for (auto part = next.fetch_add(1); part < parts; part = next.fetch_add(1)) {
                work(part);
            }
        } catch (...) {
            next = parts;
            const std::lock_guard guard(failure_lock);
            failure = failure ? failure : std::current_exception();
        }
    };
    std::vector<std::jthread> helpers;
    const auto wanted = std::min(worker_count(), parts);
    for (std::size_t i = 1; i < wanted; ++i) {
        try {
            helpers.emplace_back(take_parts);
        } catch (const std::system_error&) {
            break;  // a process limit: the work is done by fewer threads
        }
    }
    take_parts();
    helpers.clear();
    if (failure) {
        std::rethrow_exception(failure);
    }
}

}  // namespace mapdiag
