#pragma once

#include "mapdiag/linux/job_group.h"

namespace mapdiag::test {

/// A group whose every file can be set or made missing: stands in for kernels that this machine
/// does not have.
class FakeGroup final : public linux_os::JobGroup {
  public:
    static Error missing(const char* file) { return Error("read", file, 2); }

    int kernel_version = 2;
    std::string path = "/sys/fs/cgroup/a/job";
    Result<std::uint64_t> usage_value = std::unexpected(missing("memory.current"));
    Result<linux_os::GroupSplit> split_value = std::unexpected(missing("memory.stat"));
    Result<std::uint64_t> peak_value = std::unexpected(missing("memory.peak"));
    Result<std::uint64_t> swap_peak_value = std::unexpected(missing("memory.swap.peak"));
    Result<linux_os::GroupEvents> events_value = std::unexpected(missing("memory.events"));
    Result<linux_os::GroupCpu> cpu_value = std::unexpected(missing("cpu.stat"));
    bool swap_accounted = false;
    bool under_oom_value = false;
    bool killer_disabled_value = false;

    void carry(linux_os::LimitsAbove limits) {
        limits_ = std::move(limits);
        carries_limit_ = true;
    }

    int version() const override { return kernel_version; }
    const std::string& folder() const override { return path; }
    int clone_descriptor() const override { return -1; }
    const std::vector<int>& enter_descriptors() const override { return none_; }
    Result<std::uint64_t> usage() const override { return usage_value; }
    Result<linux_os::GroupSplit> split() const override { return split_value; }
    Result<std::uint64_t> peak() const override { return peak_value; }
    Result<std::uint64_t> swap_peak() const override { return swap_peak_value; }
    Result<linux_os::GroupEvents> events() const override { return events_value; }
    linux_os::GroupEvents own_events() const override {
        return events_value.value_or(linux_os::GroupEvents{});
    }
    Result<linux_os::GroupCpu> cpu() const override { return cpu_value; }
    Result<double> pressure_some() const override {
        return std::unexpected(missing("memory.pressure"));
    }
    Result<double> io_pressure_some() const override {
        return std::unexpected(missing("io.pressure"));
    }
    Result<std::uint64_t> major_faults() const override {
        return std::unexpected(missing("memory.stat"));
    }
    bool accounts_swap() const override { return swap_accounted; }
    bool under_oom() const override { return under_oom_value; }
    bool killer_disabled() const override { return killer_disabled_value; }
    std::vector<std::int32_t> processes() const override { return {}; }
    Result<void> remove() override { return {}; }

  private:
    std::vector<int> none_;
};

}  // namespace mapdiag::test
