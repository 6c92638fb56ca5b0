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

void try_group(Place& place, record::Placement placement,
               Result<std::unique_ptr<linux_os::JobGroup>> made) {
    if (!made) {
        place.steps_down.push_back({placement, made.error().text()});
        return;
    }
    place.placement = placement;
    place.limits = (*made)->limits();
    place.above = (*made)->above();
    place.group = std::move(*made);
}

// The hierarchy that controls memory for this process; 0 where none can be seen.
int memory_version(const CgroupView& view) {
    return v2_controls_memory(view) ? 2 : view.find_v1("memory") ? 1 : 0;
}

// What can be seen of limits and kills around the job. A group of its own has looked already.
void look_around(Place& place, const CgroupView& view) {
    const auto home = place.version == 2 ? view.find_v2() : view.find_v1("memory");
    if (!home) {
        return;
    }
    place.sees_root = home->shows_root;
    if (place.group) {
        return;
    }
    place.limits = linux_os::find_limits(*home, place.version);
    for (const auto& folder : home->upwards()) {
        place.above.push_back({folder, linux_os::read_own_limit(folder, place.version),
                               linux_os::read_local_events(folder, place.version)});
    }
}

// The group around the job, whose peak bounds the job's from above.
Result<void> try_shared(Place& place, const CgroupView& view) {
    const auto home = place.version == 2 ? view.find_v2() : view.find_v1("memory");
    auto shared = home ? linux_os::SharedGroup::open(*home, place.version)
                       : Result<linux_os::SharedGroup>(std::unexpected(home.error()));
    if (!shared) {
        return std::unexpected(shared.error());
    }
    place.shared = std::move(*shared);
    return {};
}

Result<void> try_placement(Place& place, const CgroupView& view, const std::string& group_name) {
    using record::Placement;
    switch (place.placement) {
        case Placement::own_cgroup_v2:
            try_group(place, place.placement, linux_os::make_job_group_v2(view, group_name));
            break;
        case Placement::own_cgroup_v1:
            try_group(place, place.placement, linux_os::make_job_group_v1(view, group_name));
            break;
        case Placement::shared_cgroup:
            return try_shared(place, view);
        default:
            return {};
    }
    return place.steps_down.empty()
               ? Result<void>{}
               : std::unexpected(Error::because("have the placement",
                                                record::placement_name(place.placement),
                                                place.steps_down.front().reason));
}

}  // namespace

Place find_place(const std::string& group_name) {
    const auto view = CgroupView::read();
    if (!view) {
        Place place;
        place.steps_down.push_back({record::Placement::own_cgroup_v2, view.error().text()});
        return place;
    }
    return find_place(*view, group_name);
}

Place find_place(const CgroupView& view, const std::string& group_name) {
    Place place;
    // A machine may have both hierarchies; one of them controls memory, and only that one is a
    // place.
    place.version = memory_version(view);
    if (place.version != 1) {
        try_group(place, record::Placement::own_cgroup_v2,
                  linux_os::make_job_group_v2(view, group_name));
    }
    if (!place.group && place.version != 2) {
        try_group(place, record::Placement::own_cgroup_v1,
                  linux_os::make_job_group_v1(view, group_name));
    }
    if (!place.group && place.version != 0) {
        if (const auto had = try_shared(place, view); !had) {
            place.steps_down.push_back({record::Placement::shared_cgroup, had.error().text()});
        }
    }
    look_around(place, view);
    return place;
}

Result<Place> find_place(record::Placement wanted, const std::string& group_name) {
    const auto view = CgroupView::read();
    if (view) {
        return find_place(*view, wanted, group_name);
    }
    if (wanted != record::Placement::process_tree && wanted != record::Placement::none) {
        return std::unexpected(view.error());
    }
    Place place;
    place.placement = wanted;
    return place;
}

Result<Place> find_place(const CgroupView& view, record::Placement wanted,
                         const std::string& group_name) {
    Place place;
    place.placement = wanted;
    place.version = memory_version(view);
    if (auto had = try_placement(place, view, group_name); !had) {
        return std::unexpected(had.error());
    }
    look_around(place, view);
    return place;
}

void step_down_to_tree(Place& place, const std::string& reason) {
    place.steps_down.push_back({place.placement, reason});
    place.group.reset();
    place.placement = record::Placement::process_tree;
}

}  // namespace mapdiag::run
