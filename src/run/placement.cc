#include "placement.h"

#include "mapdiag/linux/control_folder.h"

namespace mapdiag::run {
namespace {

using linux_os::CgroupView;

// memory.pressure is no sign: a v2 tree without the memory controller has it too.
bool v2_controls_memory(const CgroupView& view) {
    const auto home = view.find_v2();
    const auto group = home ? linux_os::ControlFolder::open(home->folder)
                            : Result<linux_os::ControlFolder>(std::unexpected(home.error()));
    return group && group->has("memory.stat");
}

// What can be seen of limits and kills without a group of the job's own.
void look_around(Place& place, const CgroupView& view, int version) {
    const auto home = version == 2 ? view.find_v2() : view.find_v1("memory");
    if (!home) {
        return;
    }
    place.version = version;
    place.limits = linux_os::find_limits(*home, version);
    for (const auto& folder : home->upwards()) {
        place.above.push_back({folder, linux_os::read_own_limit(folder, version),
                               linux_os::read_local_events(folder, version)});
    }
}

}  // namespace

Place find_place() {
    Place place;
    const auto view = CgroupView::read();
    if (!view) {
        place.steps_down.push_back({record::Placement::own_cgroup_v2, view.error().text()});
        return place;
    }
    // A machine may have both hierarchies; one of them controls memory, and only that one is a
    // place.
    const int version = v2_controls_memory(*view) || !view->find_v1("memory") ? 2 : 1;
    const auto placement =
        version == 2 ? record::Placement::own_cgroup_v2 : record::Placement::own_cgroup_v1;
    if (const auto home = version == 2 ? view->find_v2() : view->find_v1("memory")) {
        place.sees_root = home->shows_root;
    }
    auto made =
        version == 2 ? linux_os::make_job_group_v2(*view) : linux_os::make_job_group_v1(*view);
    if (made) {
        place.placement = placement;
        place.version = version;
        place.limits = (*made)->limits();
        place.above = (*made)->above();
        place.group = std::move(*made);
    } else {
        place.steps_down.push_back({placement, made.error().text()});
        look_around(place, *view, version);
    }
    return place;
}

void step_down_to_tree(Place& place, const std::string& reason) {
    place.steps_down.push_back({place.placement, reason});
    place.group.reset();
    place.placement = record::Placement::process_tree;
}

}  // namespace mapdiag::run
