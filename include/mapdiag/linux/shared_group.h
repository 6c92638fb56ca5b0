#pragma once

#include <cstdint>
#include <string>

#include "mapdiag/linux/cgroup_mounts.h"
#include "mapdiag/linux/control_folder.h"
#include "mapdiag/support/error.h"
#include "mapdiag/support/fd.h"

namespace mapdiag::linux_os {

/// The cgroup that mapdiag and its job are in together with others (a container's own): its peak is
/// an upper bound of the job's. Nothing in it is changed that others could see.
class SharedGroup {
  public:
    /// What time a peak speaks of.
    enum class Span : std::uint8_t {
        run,    ///< from open() on, by the kernel's own count
        rose,   ///< the group's whole life, but it rose after open(): the peak was in the run
        older,  ///< the group's whole life, and it was as high before open()
    };
    struct Peak {
        std::uint64_t bytes = 0;
        Span span = Span::older;
    };

    /// Looks at the peak as it is now. An error where the kernel keeps none, or where the group is
    /// the whole machine.
    static Result<SharedGroup> open(const CgroupPlace& place, int version);

    const std::string& folder() const { return group_.path(); }
    /// "memory.peak", or "memory.max_usage_in_bytes" on v1.
    const char* file() const { return file_; }
    Result<Peak> peak() const;

  private:
    SharedGroup(ControlFolder group, const char* file, Fd descriptor)
        : group_(std::move(group)), file_(file), descriptor_(std::move(descriptor)) {}
    Result<std::uint64_t> read() const;

    ControlFolder group_;
    const char* file_;
    Fd descriptor_;
    bool reset_ = false;  ///< the count of this descriptor began with open()
    std::uint64_t at_start_ = 0;
};

}  // namespace mapdiag::linux_os
