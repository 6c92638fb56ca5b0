#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mapdiag/linux/control_folder.h"
#include "mapdiag/linux/job_group.h"
#include "mapdiag/support/error.h"
#include "mapdiag/support/fd.h"

// What the v1 and v2 groups have in common. Private to the room.
namespace mapdiag::linux_os {

/// Makes a group below `parent` whose name begins with `name`; says "read-only" and "permission" in
/// the user's terms.
Result<ControlFolder> make_fresh_group(const CgroupPlace& parent, const std::string& name);

/// Everything in the group and below it, from cgroup.procs.
std::vector<std::int32_t> processes_below(const ControlFolder& group);

/// SIGKILL to everything in the group until nothing is left, ten seconds at most.
void kill_processes_below(const ControlFolder& group);

/// Descriptors held so that as many are there later, when the caller's limit may have left none
/// for taking a group away again.
Result<std::vector<Fd>> reserve_descriptors(const ControlFolder& like, std::size_t count);

/// What making a group takes at once, undoing it included; and what taking it away takes.
constexpr std::size_t kDescriptorsToMake = 12;
constexpr std::size_t kDescriptorsToRemove = 4;

/// Moves every process of the group and below into `target`, then removes the groups, the deepest
/// first. Goes on for two seconds while the kernel says that one is busy.
Result<void> dissolve_group(const ControlFolder& group, const ControlFolder& target);

/// The smaller of a limit found so far and a new one; the lower group wins where both are equal.
void keep_smallest(std::optional<GroupLimit>& found, std::uint64_t bytes, const std::string& owner);

/// The two halves of find_limits() and read_local_events().
LimitsAbove find_limits_v1(const CgroupPlace& place);
LimitsAbove find_limits_v2(const CgroupPlace& place);
std::optional<std::uint64_t> read_own_limit_v1(const ControlFolder& group);
std::optional<std::uint64_t> read_own_limit_v2(const ControlFolder& group);
GroupEvents read_local_events_v1(const ControlFolder& group);
GroupEvents read_local_events_v2(const ControlFolder& group);

/// Sums counters; a counter that either has is in the sum.
void add_events(GroupEvents& sum, const GroupEvents& more);

/// total= of the "some" line of a pressure file, in seconds.
Result<double> parse_pressure_some(std::string_view text, const std::string& shown);

}  // namespace mapdiag::linux_os
