#pragma once

#include <optional>
#include <string>

#include "../placement.h"
#include "mapdiag/linux/containment.h"
#include "mapdiag/record/record.h"
#include "mapdiag/run/containment.h"

namespace mapdiag::run {

/// The limits that the user asked for, held by the job's own group.
class JobLimits {
  public:
    /// Sets them and puts them into the environment for the job. An error says why the job can't
    /// be held to one; gives a remark where a limit above is the tighter one.
    Result<std::optional<Error>> hold(const Containment& wish, Place& place,
                                      const std::string& group_name);

    /// A further file that takes "0" to enter a group; -1: none.
    int enter_descriptor() const { return cpu_ ? cpu_->enter_descriptor() : -1; }
    /// What the job was held to, and what of it the kernel counted.
    void record(record::RunRecord& record) const;
    /// To be called before the job's own group is removed.
    Result<void> remove();

  private:
    Result<std::optional<Error>> hold_memory(const MemoryLimit& limit, Place& place);
    static void tell_job(std::uint64_t bytes);

    record::HeldTo held_;
    std::optional<linux_os::CpuLimit> cpu_;
};

}  // namespace mapdiag::run
