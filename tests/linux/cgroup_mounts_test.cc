#include "mapdiag/linux/cgroup_mounts.h"

#include "support/catch.h"
#include "support/temp_folder.h"

#include <unistd.h>

using namespace mapdiag;
using namespace mapdiag::linux_os;

namespace {

// One fake machine: <folder>/proc/self/{mountinfo,cgroup} and cgroup folders.
CgroupView view_of(const test::TempFolder& folder, const std::string& mountinfo,
                   const std::string& membership) {
    folder.write("proc/self/mountinfo", mountinfo);
    folder.write("proc/self/cgroup", membership);
    auto view = CgroupView::read(folder.path("proc"));
    REQUIRE(view);
    return *view;
}

}  // namespace

TEST_CASE("mount lines are read with their escapes, options and controllers") {
    const auto mounts = parse_cgroup_mounts(
        "22 1 259:1 / / rw - ext4 /dev/vda rw\n"
        "31 30 0:27 /a\\040b /sys/fs/cgroup/memory ro,nosuid shared:9 - cgroup cgroup rw,memory\n"
        "32 30 0:28 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n"
        "junk\n33 30 - cgroup\n");
    REQUIRE(mounts.size() == 2);
    CHECK(mounts[0].version == 1);
    CHECK(mounts[0].root == "/a b");
    CHECK(mounts[0].read_only);
    CHECK(mounts[0].controllers == std::vector<std::string>{"rw", "memory"});
    CHECK(mounts[1].version == 2);
    CHECK(mounts[1].mount_point == "/sys/fs/cgroup/unified");
    CHECK_FALSE(mounts[1].read_only);
}

TEST_CASE("memberships keep colons in paths and tell v2 from named v1 hierarchies") {
    const auto members = parse_cgroup_memberships("9:name=systemd:/\n4:cpu,cpuacct:/a:b\n0::/c\n");
    REQUIRE(members.size() == 3);
    CHECK(members[1].path == "/a:b");
    CHECK(members[1].controllers == std::vector<std::string>{"cpu", "cpuacct"});
    CHECK(members[2].version == 2);
    CHECK(members[0].version == 1);
}

TEST_CASE("the own group is found below the part of the hierarchy that is mounted") {
    const test::TempFolder folder;
    const auto mount = folder.path("cg");
    folder.write("cg/job/cgroup.procs", "");
    const auto view = view_of(folder, "31 30 0:27 /docker/x " + mount + " rw - cgroup2 c rw\n",
                              "0::/docker/x/job\n");
    const auto place = view.find_v2();
    REQUIRE(place);
    CHECK(place->folder == mount + "/job");
    CHECK(place->upwards() == std::vector<std::string>{mount + "/job", mount});
}

TEST_CASE("a group outside the mounted part is named, not guessed") {
    const test::TempFolder folder;
    const auto mount = folder.path("cg");
    folder.write("cg/cgroup.procs", "");
    const auto mountinfo = "31 30 0:27 /docker/x " + mount + " rw - cgroup2 c rw\n";
    CHECK(view_of(folder, mountinfo, "0::/other\n").find_v2().error().text() ==
          "can't find this process's cgroup /other: only /docker/x is mounted, at " + mount);
    CHECK(view_of(folder, "31 30 0:27 / " + mount + " rw - cgroup2 c rw\n", "0::/../other\n")
              .find_v2()
              .error()
              .text() == "can't find this process's cgroup /../other: only / is mounted, at " +
                             mount + ", in another namespace");
    CHECK(view_of(folder, mountinfo, "4:memory:/x\n").find_v2().error().text() ==
          "can't find a cgroup v2 hierarchy: the kernel has none");
    CHECK(view_of(folder, "", "0::/x\n").find_v2().error().text() ==
          "can't find a cgroup v2 hierarchy: none is mounted here");
    CHECK(view_of(folder, "", "4:memory:/x\n").find_v1("memory").error().text() ==
          "can't find a cgroup v1 memory hierarchy: none is mounted here");
}

TEST_CASE("in a cgroup namespace the own group is searched by its members") {
    // A mount made outside the namespace shows its root as "/..": the folder one level below the
    // mount point that lists this process is the own one.
    const test::TempFolder folder;
    const auto mount = folder.path("cg");
    folder.write("cg/a/cgroup.procs", "1\n");
    folder.write("cg/b/cgroup.procs", std::to_string(::getpid()) + "\n");
    const auto mountinfo = "31 30 0:27 /.. " + mount + " rw - cgroup c rw,memory\n";
    const auto view = view_of(folder, mountinfo, "4:memory:/\n");
    REQUIRE(view.find_v1("memory"));
    CHECK(view.find_v1("memory")->folder == mount + "/b");

    folder.write("cg/b/cgroup.procs", "1\n");
    CHECK(view.find_v1("memory").error().text() ==
          "can't find this process's cgroup below " + mount +
              ": a cgroup namespace hides its name (mount root /..)");
}
