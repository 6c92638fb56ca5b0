#include "placement.h"

#include "support/catch.h"
#include "support/temp_folder.h"

using namespace mapdiag;
using namespace mapdiag::run;
using mapdiag::record::Placement;
using mapdiag::test::TempFolder;

namespace {

// A machine in a folder: its mounts, this process's groups, and the groups' files.
class Machine {
  public:
    std::string mount(const std::string& name) const { return folder_.path(name); }
    void write(const std::string& name, const std::string& text) const {
        folder_.write(name, text);
    }
    linux_os::CgroupView view(const std::string& mountinfo, const std::string& membership) const {
        folder_.write("proc/self/mountinfo", mountinfo);
        folder_.write("proc/self/cgroup", membership);
        auto view = linux_os::CgroupView::read(folder_.path("proc"));
        REQUIRE(view);
        return *view;
    }
    // A v2 tree in which no group with a memory account can be made, as in a container whose
    // runtime hands no controller on.
    linux_os::CgroupView v2_without_delegation() const {
        write("v2/a/memory.stat", "anon 0\n");
        write("v2/a/cgroup.controllers", "cpu pids\n");
        write("v2/a/cgroup.procs", "");
        return view("31 30 0:27 / " + mount("v2") + " ro - cgroup2 c ro\n", "0::/a\n");
    }

  private:
    TempFolder folder_;
};

std::vector<Placement> placements(const Place& place) {
    std::vector<Placement> out;
    for (const auto& step : place.steps_down) {
        out.push_back(step.placement);
    }
    return out;
}

}  // namespace

TEST_CASE("without a group of its own the job's shared one is looked at too") {
    const Machine machine;
    machine.write("v2/a/memory.peak", "1000\n");
    const auto place = find_place(machine.v2_without_delegation(), "n");
    CHECK(place.placement == Placement::process_tree);
    CHECK_FALSE(place.group);
    CHECK(placements(place) == std::vector{Placement::own_cgroup_v2});
    CHECK(place.steps_down[0].reason == "can't measure memory in " + machine.mount("v2/a") +
                                            ": this cgroup v2 tree has no memory controller here");
    REQUIRE(place.shared);
    CHECK(place.shared->folder() == machine.mount("v2/a"));
}

TEST_CASE("a shared group without a peak leaves its reason") {
    const Machine machine;
    const auto place = find_place(machine.v2_without_delegation(), "n");
    CHECK(placements(place) == std::vector{Placement::own_cgroup_v2, Placement::shared_cgroup});
    CHECK(place.steps_down[1].reason ==
          "can't open " + machine.mount("v2/a/memory.peak") + ": No such file or directory");
}

TEST_CASE("where no hierarchy can be seen each way leaves one reason") {
    const Machine machine;
    const auto place = find_place(machine.view("", "0::/\n"), "n");
    CHECK(place.version == 0);
    CHECK(placements(place) == std::vector{Placement::own_cgroup_v2, Placement::own_cgroup_v1});
    CHECK(place.steps_down[0].reason == "can't find a cgroup v2 hierarchy: none is mounted here");
    CHECK(place.steps_down[1].reason ==
          "can't find a cgroup v1 memory hierarchy: the kernel has none");
    CHECK_FALSE(place.shared);
}

TEST_CASE("a v2 tree with nothing but pressure files does not control memory; v1 beside it does") {
    const Machine machine;
    machine.write("unified/a/memory.pressure", "");
    machine.write("unified/a/cgroup.controllers", "");
    machine.write("memory/b/cgroup.procs", "");
    machine.write("memory/b/memory.max_usage_in_bytes", "7000\n");
    const auto view =
        machine.view("31 30 0:27 / " + machine.mount("unified") + " rw - cgroup2 c rw\n" +
                         "32 30 0:28 / " + machine.mount("memory") + " rw - cgroup c rw,memory\n",
                     "4:memory:/b\n0::/a\n");
    const auto place = find_place(view, Placement::shared_cgroup, "n");
    REQUIRE(place);
    CHECK(place->version == 1);
    REQUIRE(place->shared);
    CHECK(place->shared->folder() == machine.mount("memory/b"));
    CHECK(place->shared->peak()->bytes == 7000);
}

TEST_CASE("a placement that was asked for is had or refused, never another one") {
    const Machine machine;
    const auto view = machine.v2_without_delegation();
    CHECK(find_place(view, Placement::own_cgroup_v2, "n").error().text() ==
          "can't have the placement own cgroup (v2): can't measure memory in " +
              machine.mount("v2/a") + ": this cgroup v2 tree has no memory controller here");
    CHECK(find_place(view, Placement::own_cgroup_v1, "n").error().text() ==
          "can't have the placement own cgroup (v1): can't find a cgroup v1 memory hierarchy: the "
          "kernel has none");
    CHECK(find_place(view, Placement::shared_cgroup, "n").error().text() ==
          "can't open " + machine.mount("v2/a/memory.peak") + ": No such file or directory");
    const auto tree = find_place(view, Placement::process_tree, "n");
    REQUIRE(tree);
    CHECK(tree->steps_down.empty());
    CHECK_FALSE(tree->shared);
    CHECK(find_place(view, Placement::none, "n")->placement == Placement::none);
}
