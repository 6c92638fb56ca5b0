#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "mapdiag/linux/job_group.h"
#include "mapdiag/linux/shared_group.h"
#include "mapdiag/record/record.h"
#include "mapdiag/support/error.h"

namespace mapdiag::run {

/// Where the job goes, and what can be seen of the groups around it in any case.
struct Place {
    record::Placement placement = record::Placement::process_tree;
    std::vector<record::StepDown> steps_down;
    std::unique_ptr<linux_os::JobGroup> group;  ///< empty for the process tree
    /// Without a group of its own: the one that the job is in with others, where its peak can be
    /// had.
    std::optional<linux_os::SharedGroup> shared;

    int version = 0;  ///< of the hierarchy that controls memory; 0 where none can be seen
    /// The groups above the job (or, without a group of its own, around it), the nearest first,
    /// with their counters at the start.
    std::vector<linux_os::GroupAbove> above;
    linux_os::LimitsAbove limits;
    /// `above` reaches the root of the hierarchy; empty where that is not known.
    std::optional<bool> sees_root;
};

/// Tries the placements from the best one on; each that can't be had leaves its reason. Names of
/// groups that are made begin with `group_name`.
Place find_place(const std::string& group_name);
Place find_place(const linux_os::CgroupView& view, const std::string& group_name);

/// Only the placement that was asked for; an error where it can't be had.
Result<Place> find_place(record::Placement wanted, const std::string& group_name);
Result<Place> find_place(const linux_os::CgroupView& view, record::Placement wanted,
                         const std::string& group_name);

/// Gives the own group up, because the job could not be started in it.
void step_down_to_tree(Place& place, const std::string& reason);

}  // namespace mapdiag::run
