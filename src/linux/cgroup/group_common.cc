#include "group_common.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include <fmt/format.h>

#include "mapdiag/support/text.h"

namespace mapdiag::linux_os {
namespace {

namespace fs = std::filesystem;

void sleep_ms(long ms) {
    const timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    ::nanosleep(&pause, nullptr);
}

Error in_user_terms(const Error& error, const CgroupPlace& parent) {
    if (parent.read_only || error.errno_value() == EROFS) {
        return Error::because("make a cgroup below", parent.folder,
                              "the cgroup tree is mounted read-only");
    }
    if (error.errno_value() == EACCES || error.errno_value() == EPERM) {
        return Error::because("make a cgroup below", parent.folder,
                              "permission denied (it is not delegated to this user)");
    }
    return error;
}

void move_processes(const ControlFolder& from, const ControlFolder& target) {
    const auto pids = from.processes();
    for (const auto pid : pids ? *pids : std::vector<std::int32_t>{}) {
        // One that is gone by now, or a zombie, does not matter.
        (void)target.write("cgroup.procs", std::to_string(pid));
    }
}

}  // namespace

std::string make_group_name() {
    timespec now = {};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    // The pid alone is not enough: pid namespaces may share one cgroup.
    return fmt::format("mapdiag-{}-{:x}", ::getpid(), now.tv_sec * 1000000000LL + now.tv_nsec);
}

Result<ControlFolder> make_fresh_group(const CgroupPlace& parent, const std::string& name) {
    for (int attempt = 0;; ++attempt) {
        auto made = ControlFolder::make(parent.folder, name + '-' + std::to_string(attempt));
        if (made) {
            return made;
        }
        if (made.error().errno_value() != EEXIST || attempt == 100) {
            return std::unexpected(in_user_terms(made.error(), parent));
        }
    }
}

std::vector<std::int32_t> processes_below(const ControlFolder& group) {
    std::vector<std::int32_t> all = group.processes().value_or(std::vector<std::int32_t>{});
    for (const auto& path : group.groups_below()) {
        if (const auto below = ControlFolder::open(path)) {
            for (const auto pid : below->processes().value_or(std::vector<std::int32_t>{})) {
                all.push_back(pid);
            }
        }
    }
    return all;
}

void kill_processes_below(const ControlFolder& group) {
    for (int round = 0; round < 1000; ++round) {
        const auto pids = processes_below(group);
        if (pids.empty()) {
            return;
        }
        for (const auto pid : pids) {
            ::kill(pid, SIGKILL);
        }
        sleep_ms(10);
    }
}

namespace {

void end_group(const std::string& folder, const ControlFolder& home) {
    if (const auto group = ControlFolder::open(folder)) {
        // Reaches processes that fork meanwhile (v2, Linux 5.14 and newer).
        (void)group->write("cgroup.kill", "1");
        kill_processes_below(*group);
        (void)dissolve_group(*group, home);
    }
}

void end_groups_below(const fs::path& folder, const std::string& name, const fs::path& but,
                      const ControlFolder& home) {
    std::error_code failure;
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder, failure)) {
        if (entry.path().filename().native().starts_with(name) && entry.path() != but) {
            found.push_back(entry.path().string());
        }
    }
    for (const auto& path : found) {
        end_group(path, home);
    }
}

void end_groups_around(const std::string& own, const std::string& name) {
    // mapdiag may have stepped down into a leaf of that name, and the caller with it.
    const fs::path here = own;
    const bool in_leaf = here.filename().native().starts_with(name);
    const auto home_path = in_leaf ? here.parent_path() : here;
    const auto home = ControlFolder::open(home_path.string());
    if (!home) {
        return;
    }
    for (const auto& place : {home_path, home_path.parent_path()}) {
        end_groups_below(place, name, in_leaf ? here : fs::path(), *home);
    }
    if (const auto leaf = ControlFolder::open(own); in_leaf && leaf) {
        (void)home->write("cgroup.subtree_control", "-memory");
        (void)home->write("cgroup.subtree_control", "-cpu");
        (void)dissolve_group(*leaf, *home);
    }
}

}  // namespace

void end_groups(const std::string& name) {
    const auto view = CgroupView::read();
    if (!view) {
        return;
    }
    for (const auto& place : {view->find_v1("memory"), view->find_v1("cpuacct"),
                              view->find_v1("cpu"), view->find_v2()}) {
        if (place) {
            end_groups_around(place->folder, name);
        }
    }
}

Result<std::vector<Fd>> reserve_descriptors(const ControlFolder& like, std::size_t count) {
    std::vector<Fd> held;
    held.reserve(count);
    while (held.size() < count) {
        Fd one(::fcntl(like.descriptor(), F_DUPFD_CLOEXEC, 0));
        if (!one) {
            return std::unexpected(Error::from_errno("make a cgroup below", like.path()));
        }
        held.push_back(std::move(one));
    }
    return held;
}

Result<void> dissolve_group(const ControlFolder& group, const ControlFolder& target) {
    for (int attempt = 0;; ++attempt) {
        for (const auto& path : group.groups_below()) {
            if (const auto below = ControlFolder::open(path)) {
                move_processes(*below, target);
            }
            ::rmdir(path.c_str());
        }
        move_processes(group, target);
        if (::rmdir(group.path().c_str()) == 0 || errno == ENOENT) {
            return {};
        }
        if ((errno != EBUSY && errno != ENOTEMPTY) || attempt == 200) {
            return std::unexpected(Error::from_errno("remove the cgroup", group.path()));
        }
        sleep_ms(10);
    }
}

void keep_smallest(std::optional<GroupLimit>& found, std::uint64_t bytes,
                   const std::string& owner) {
    if (!found || bytes < found->bytes) {
        found = GroupLimit{bytes, owner};
    }
}

void add_events(GroupEvents& sum, const GroupEvents& more) {
    const auto add = [](std::optional<std::uint64_t>& total,
                        const std::optional<std::uint64_t>& part) {
        if (part) {
            total = total.value_or(0) + *part;
        }
    };
    add(sum.low, more.low);
    add(sum.high, more.high);
    add(sum.max, more.max);
    add(sum.oom, more.oom);
    add(sum.oom_kill, more.oom_kill);
    add(sum.oom_group_kill, more.oom_group_kill);
    add(sum.swap_max, more.swap_max);
}

LimitsAbove find_limits(const CgroupPlace& place, int version) {
    return version == 1 ? find_limits_v1(place) : find_limits_v2(place);
}

GroupEvents read_local_events(const std::string& folder, int version) {
    const auto group = ControlFolder::open(folder);
    if (!group) {
        return {};
    }
    return version == 1 ? read_local_events_v1(*group) : read_local_events_v2(*group);
}

std::optional<std::uint64_t> read_own_limit(const std::string& folder, int version) {
    const auto group = ControlFolder::open(folder);
    if (!group) {
        return std::nullopt;
    }
    return version == 1 ? read_own_limit_v1(*group) : read_own_limit_v2(*group);
}

std::optional<std::uint64_t> read_group_usage(const std::string& folder, int version) {
    const auto group = ControlFolder::open(folder);
    const auto usage =
        group ? group->read_number(version == 1 ? "memory.usage_in_bytes" : "memory.current")
              : std::unexpected(group.error());
    return usage ? *usage : std::nullopt;
}

Result<double> parse_pressure_some(std::string_view text, const std::string& shown) {
    // some avg10=0.00 avg60=0.00 avg300=0.00 total=0
    constexpr std::string_view kKey = "total=";
    const auto line = text.substr(0, text.find('\n'));
    const auto at = line.find(kKey);
    if (line.starts_with("some ") && at != std::string_view::npos) {
        if (const auto microseconds = find_u64(trim(line.substr(at + kKey.size())))) {
            return static_cast<double>(*microseconds) / 1e6;
        }
    }
    return std::unexpected(Error::because("read the pressure in", shown, "no \"some\" total"));
}

}  // namespace mapdiag::linux_os
