#include "job_limits.h"

#include <algorithm>
#include <cstdlib>

#include "mapdiag/support/units.h"

namespace mapdiag::run {
namespace {

constexpr const char* kLimitVariable = "MAPDIAG_MEMORY_LIMIT";
constexpr const char* kDuckDbVariable = "LINKML_MAP_DUCKDB_MEMORY_LIMIT";

double seconds(std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
}

Error no_group(const char* option, const Place& place) {
    const auto why = place.steps_down.empty() ? std::string("the job has no cgroup of its own here")
                                              : place.steps_down.back().reason;
    return Error::because("hold the job to", option, why);
}

}  // namespace

Result<std::optional<Error>> JobLimits::hold(const Containment& wish, Place& place,
                                             const std::string& group_name) {
    if (wish.time) {
        held_.time_s = seconds(*wish.time);
        held_.kill_after_s = seconds(wish.kill_after);
    }
    std::optional<Error> remark;
    if (wish.memory) {
        auto held = hold_memory(*wish.memory, place);
        if (!held) {
            return held;
        }
        remark = std::move(*held);
    }
    if (wish.cores) {
        if (!place.group) {
            return std::unexpected(no_group("--cpu-limit", place));
        }
        auto cpu = linux_os::CpuLimit::set(*place.group, group_name, *wish.cores);
        if (!cpu) {
            return std::unexpected(std::move(cpu.error()).within("for --cpu-limit"));
        }
        cpu_ = std::move(*cpu);
        held_.cores = *wish.cores;
    }
    return remark;
}

Result<std::optional<Error>> JobLimits::hold_memory(const MemoryLimit& limit, Place& place) {
    if (!place.group) {
        return std::unexpected(no_group("--memory-limit", place));
    }
    const auto room = linux_os::find_memory_room(place.above, place.version);
    if (!room) {
        return std::unexpected(room.error());
    }
    const auto machine = linux_os::machine_memory();
    const auto whole = place.limits.memory ? place.limits.memory->bytes : machine.value_or(*room);
    const auto bytes = memory_limit_bytes(limit, whole, *room);
    if (place.limits.memory && place.limits.memory->bytes <= bytes) {
        tell_job(place.limits.memory->bytes);
        return place.limits.memory->bytes == bytes
                   ? std::optional<Error>()
                   : Error::because("raise the memory limit to", format_bytes(bytes),
                                    place.limits.memory->owner + " sets " +
                                        format_bytes(place.limits.memory->bytes) +
                                        ", which stays in force");
    }
    if (auto set = linux_os::set_memory_limit(*place.group, bytes); !set) {
        return std::unexpected(std::move(set.error()).within("for --memory-limit"));
    }
    const auto& folder = place.group->folder();
    place.limits.memory = linux_os::GroupLimit{bytes, folder};
    if (place.group->accounts_swap()) {
        // v1: memory and swap together; v2: swap alone.
        place.limits.swap =
            linux_os::GroupLimit{place.version == 1 ? bytes + linux_os::kSwapLeftOnV1 : 0, folder};
    }
    held_.memory = bytes;
    tell_job(bytes);
    return std::optional<Error>();
}

// Into mapdiag's own environment, which the job gets. Before any thread is started.
void JobLimits::tell_job(std::uint64_t bytes) {
    ::setenv(kLimitVariable, std::to_string(bytes).c_str(), 1);
    ::setenv(kDuckDbVariable, duckdb_limit(bytes).c_str(), 0);
}

void JobLimits::record(record::RunRecord& record) const {
    const bool killed = record.held_to.killed;
    record.held_to = held_;
    record.held_to.killed = killed;
    if (!cpu_) {
        return;
    }
    if (!record.cores || *held_.cores < *record.cores) {
        record.cores = record::Reading<double>::of(*held_.cores, "--cpu-limit");
    }
    if (const auto throttled = cpu_->throttled_s(); throttled && !record.throttled_s) {
        record.throttled_s =
            record::Reading<double>::of(*throttled, "cpu.stat of the job's own cgroup");
    }
}

Result<void> JobLimits::remove() {
    return cpu_ ? cpu_->remove() : Result<void>{};
}

}  // namespace mapdiag::run
