#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mapdiag/support/error.h"

namespace mapdiag::linux_os {

/// One mounted cgroup hierarchy, from a line of /proc/self/mountinfo (proc(5)).
struct CgroupMount {
    int version = 2;  ///< 1 or 2
    std::string mount_point;
    std::string root;                      ///< the hierarchy's folder that is mounted there
    std::vector<std::string> controllers;  ///< v1 only: the mount's own
    bool read_only = false;
};

/// This process's place in one hierarchy, from a line of /proc/self/cgroup (cgroups(7)).
struct CgroupMembership {
    int version = 2;
    std::vector<std::string> controllers;  ///< v1 only
    std::string path;
};

/// Both are pure functions of the file's text; lines that are no cgroup's are passed over.
std::vector<CgroupMount> parse_cgroup_mounts(std::string_view mountinfo);
std::vector<CgroupMembership> parse_cgroup_memberships(std::string_view proc_self_cgroup);

/// The folder of this process's own cgroup in one hierarchy.
struct CgroupPlace {
    std::string folder;       ///< own group, "/sys/fs/cgroup/memory/a/b"
    std::string mount_point;  ///< where the visible part of the hierarchy ends
    bool read_only = false;
    /// The mount shows the hierarchy from its real root on (a cgroup namespace hides that).
    bool shows_root = false;

    /// folder and every folder above it, up to and including the mount point.
    std::vector<std::string> upwards() const;
};

/// What this process can see of the cgroup hierarchies.
class CgroupView {
  public:
    CgroupView(std::vector<CgroupMount> mounts, std::vector<CgroupMembership> memberships)
        : mounts_(std::move(mounts)), memberships_(std::move(memberships)) {}

    /// Reads <proc>/self/mountinfo and <proc>/self/cgroup.
    static Result<CgroupView> read(const std::string& proc = "/proc");

    /// The own group in the v1 hierarchy that has the controller ("memory", "cpuacct").
    Result<CgroupPlace> find_v1(std::string_view controller) const;
    /// The own group in the v2 hierarchy.
    Result<CgroupPlace> find_v2() const;

  private:
    Result<CgroupPlace> place(const CgroupMembership& member, const CgroupMount& mount) const;

    std::vector<CgroupMount> mounts_;
    std::vector<CgroupMembership> memberships_;
    bool initial_namespace_ = false;
};

}  // namespace mapdiag::linux_os
