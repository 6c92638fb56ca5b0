#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "mapdiag/linux/proc.h"
#include "mapdiag/record/record.h"

namespace mapdiag::run {

/// The job's processes without a cgroup: the job, everything below it and what mapdiag has adopted
/// of it. Memory is the sum of their resident sets, in which pages that processes share count once
/// for each; the proportional set size, which counts them once in all, is read seldom, because
/// reading it holds the process up (9 to 16 ms at 2 GiB).
class ProcessTree {
  public:
    ProcessTree(const linux_os::ProcFs& proc, std::int32_t job) : proc_(proc), job_(job) {}

    /// `adopted`: children of mapdiag that are neither the job nor helpers.
    std::vector<std::int32_t> processes(const std::vector<std::int32_t>& adopted) const;

    /// One sample over these processes; `elapsed` since the job's start bounds the time spent on
    /// proportional sets to a thousandth of it.
    record::Sample measure(const std::vector<std::int32_t>& processes,
                           std::chrono::nanoseconds elapsed);

    /// The highest sum of proportional sets that was read, where more than one process was there.
    const std::optional<std::uint64_t>& highest_proportional() const { return highest_pss_; }
    /// The highest sum of resident sets.
    std::uint64_t highest_resident() const { return highest_rss_; }
    /// The sum of resident sets at the time of the last reading of proportional sets.
    std::uint64_t resident_at_proportional() const { return rss_at_pss_; }
    /// Time of this thread that reading proportional sets has taken.
    std::chrono::nanoseconds spent_on_proportional() const { return spent_on_pss_; }

  private:
    void read_proportional(const std::vector<std::int32_t>& processes, std::uint64_t resident,
                           std::chrono::nanoseconds elapsed);

    const linux_os::ProcFs& proc_;
    std::int32_t job_;
    std::optional<std::uint64_t> highest_pss_;
    std::uint64_t highest_rss_ = 0;
    std::uint64_t rss_at_pss_ = 0;
    std::chrono::nanoseconds spent_on_pss_{0};
};

}  // namespace mapdiag::run
