#include "process_tree.h"

#include <algorithm>

#include "mapdiag/linux/clocks.h"

namespace mapdiag::run {
namespace {

// A new highest sum is worth a slow reading when it is this much above the last one read.
constexpr double kWorthReading = 1.005;
// Reading may take this share of the time gone, and a little beside.
constexpr int kShare = 1000;
constexpr auto kFreeOfCharge = std::chrono::milliseconds(20);

}  // namespace

std::vector<std::int32_t> ProcessTree::processes(const std::vector<std::int32_t>& adopted) const {
    std::vector<std::int32_t> all = {job_};
    const auto below = proc_.descendants(job_);
    all.insert(all.end(), below.begin(), below.end());
    for (const auto pid : adopted) {
        all.push_back(pid);
        const auto more = proc_.descendants(pid);
        all.insert(all.end(), more.begin(), more.end());
    }
    std::ranges::sort(all);
    const auto same = std::ranges::unique(all);
    all.erase(same.begin(), same.end());
    return all;
}

record::Sample ProcessTree::measure(const std::vector<std::int32_t>& processes,
                                    std::chrono::nanoseconds elapsed) {
    record::Sample sample;
    std::uint64_t resident = 0;
    std::uint32_t alive = 0;
    for (const auto pid : processes) {
        if (const auto bytes = proc_.resident_bytes(pid)) {
            resident += *bytes;
            alive += *bytes > 0 ? 1 : 0;
        }
    }
    sample.processes = alive;
    if (alive == 0) {
        return sample;  // all gone: no figure, rather than 0
    }
    sample.memory = resident;
    highest_rss_ = std::max(highest_rss_, resident);
    if (alive > 1) {
        read_proportional(processes, resident, elapsed);
    }
    return sample;
}

void ProcessTree::read_proportional(const std::vector<std::int32_t>& processes,
                                    std::uint64_t resident, std::chrono::nanoseconds elapsed) {
    const bool worth =
        static_cast<double>(resident) > kWorthReading * static_cast<double>(rss_at_pss_);
    if (!worth || spent_on_pss_ > kFreeOfCharge + elapsed / kShare) {
        return;
    }
    const auto before = linux_os::thread_cpu_time();
    std::uint64_t proportional = 0;
    for (const auto pid : processes) {
        proportional += proc_.proportional_bytes(pid).value_or(0);
    }
    spent_on_pss_ += linux_os::thread_cpu_time() - before;
    if (proportional > 0) {
        highest_pss_ = std::max(highest_pss_.value_or(0), proportional);
        rss_at_pss_ = resident;
    }
}

}  // namespace mapdiag::run
