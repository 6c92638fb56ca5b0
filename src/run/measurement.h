#pragma once

#include <cstdint>
#include <optional>

#include "mapdiag/linux/job_process.h"
#include "mapdiag/record/record.h"
#include "placement.h"
#include "process_tree.h"
#include "sampler.h"

namespace mapdiag::run {

/// CPU time and largest process, added up from every process of the job that mapdiag has reaped.
struct ReapedUse {
    linux_os::ResourceUse job;
    double orphans_user_s = 0;
    double orphans_system_s = 0;
    std::uint64_t largest_bytes = 0;
    /// mapdiag's own peak when it forked the job: a child of a fork starts with that as its own.
    std::uint64_t inherited_bytes = 0;

    void add_orphan(const linux_os::ResourceUse& use);
};

/// One sample of the job's own group.
record::Sample measure_group(const linux_os::JobGroup& group);

/// The counter of kills on the whole machine, /proc/vmstat oom_kill; nothing on kernels without it.
std::optional<std::uint64_t> read_machine_kills();

/// Puts the figures of the group into the record: peak, events, swap, CPU.
void record_group(record::RunRecord& record, const linux_os::JobGroup& group,
                  const Sampler& sampler);
/// The same for the process tree, where most of them can't be had.
void record_tree(record::RunRecord& record, const ProcessTree& tree, const Sampler& sampler);
/// After record_tree(): the peak of the group that the job is in with others, where it was asked
/// for
/// (`only`) or is near what the job's processes were seen with; else why it says too little.
void record_shared(record::RunRecord& record, const linux_os::SharedGroup& group, bool only);
/// The limits in force.
void record_limits(record::RunRecord& record, const Place& place);
/// The groups above and the machine: differences of their counters over the run.
void record_surroundings(record::RunRecord& record, const Place& place,
                         std::optional<std::uint64_t> machine_kills_at_start);
/// What the job could have had: the machine's memory, cores, limits of the process.
void record_machine(record::RunRecord& record, const Place& place);
/// CPU time where no group told it, and the largest process.
void record_reaped(record::RunRecord& record, const ReapedUse& use);

}  // namespace mapdiag::run
