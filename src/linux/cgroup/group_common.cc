#include "group_common.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "mapdiag/support/text.h"

namespace mapdiag::linux_os {
namespace {

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

Result<ControlFolder> make_fresh_group(const CgroupPlace& parent) {
    for (int attempt = 0;; ++attempt) {
        auto made = ControlFolder::make(
            parent.folder, "mapdiag-" + std::to_string(::getpid()) + '-' + std::to_string(attempt));
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
