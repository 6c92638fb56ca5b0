#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "mapdiag/record/record.h"

namespace mapdiag::test {

inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

/// Builds records as the run loop makes them: a job in its own cgroup that ended well. build()
/// checks what holds for every record, so that no test proves something about an impossible one.
class RecordBuilder {
  public:
    static RecordBuilder v2() {
        RecordBuilder builder;
        builder.record_.placement = record::Placement::own_cgroup_v2;
        return builder.with_events({0, 0, 0, 0, 0, 0});
    }
    static RecordBuilder v1() {
        RecordBuilder builder;
        builder.record_.placement = record::Placement::own_cgroup_v1;
        builder.record_.cgroup = "/sys/fs/cgroup/memory/a/mapdiag.1";
        return builder.with_events({{}, {}, 0, {}, 0, {}});
    }
    static RecordBuilder process_tree(std::string reason) {
        RecordBuilder builder;
        auto& r = builder.record_;
        r.placement = record::Placement::process_tree;
        r.cgroup.clear();
        r.steps_down = {{record::Placement::own_cgroup_v1, std::move(reason)}};
        r.sampling_interval_s = 0.01;
        r.peak =
            record::Reading<std::uint64_t>::of(105 * kMiB, "resident set of the job's processes");
        r.events =
            record::Reading<record::MemoryEvents>::unavailable("the job had no cgroup of its own");
        r.own_events = r.events;
        r.swap_peak =
            record::Reading<std::uint64_t>::unavailable("the job had no cgroup of its own");
        return builder;
    }

    RecordBuilder& exited(int code) {
        record_.ending = record::Exited{code};
        return *this;
    }
    RecordBuilder& killed(int signal, bool core = false) {
        record_.ending = record::Killed{signal, core};
        return *this;
    }
    RecordBuilder& with_limit(std::uint64_t bytes, std::string owner = "/a", bool carried = true) {
        record_.limit = record::Reading<record::Limit>::of({bytes, owner, carried}, owner);
        return *this;
    }
    RecordBuilder& with_peak(std::uint64_t bytes) {
        record_.peak =
            record::Reading<std::uint64_t>::of(bytes, "memory.peak of the job's own cgroup");
        record_.peak_sample = record::Reading<record::PeakSample>::of(
            {bytes - bytes / 100, 0.3, {bytes / 2, bytes / 4, 0, bytes / 8, 0, 0}},
            "the highest sample");
        return *this;
    }
    RecordBuilder& with_split(record::MemorySplit split) {
        auto sample = *record_.peak_sample;
        sample.split = split;
        record_.peak_sample = record::Reading<record::PeakSample>::of(sample, "the highest sample");
        return *this;
    }
    RecordBuilder& with_events(record::MemoryEvents events) {
        record_.events = record::Reading<record::MemoryEvents>::of(events, "memory.events");
        record_.own_events = record_.events;
        return *this;
    }
    RecordBuilder& with_machine_kills(std::uint64_t kills) {
        record_.machine_oom_kills =
            record::Reading<std::uint64_t>::of(kills, "/proc/vmstat oom_kill");
        return *this;
    }
    RecordBuilder& with_above(record::AncestorGroup group) {
        record_.ancestors.push_back(std::move(group));
        return *this;
    }
    RecordBuilder& with_time(double wall_s, double user_s, double system_s) {
        record_.wall_s = wall_s;
        record_.user_s = record::Reading<double>::of(user_s, "cpu.stat of the job's own cgroup");
        record_.system_s =
            record::Reading<double>::of(system_s, "cpu.stat of the job's own cgroup");
        return *this;
    }
    /// Everything that has no setter of its own.
    template <class Change>
    RecordBuilder& with(Change change) {
        change(record_);
        return *this;
    }

    record::RunRecord build() const {
        check();
        return record_;
    }

  private:
    RecordBuilder() {
        auto& r = record_;
        r.entity = "E";
        r.program = "linkml-map";
        r.argument_count = 12;
        r.started_at = "2026-12-01T04:25:23Z";
        r.ending = record::Exited{0};
        r.python_seen = true;
        r.cgroup = "/sys/fs/cgroup/a/mapdiag.1";
        r.limit = record::Reading<record::Limit>::unavailable("no limit is set");
        r.swap_limit = record::Reading<record::Limit>::unavailable("no limit is set");
        r.swap_peak = record::Reading<std::uint64_t>::unavailable("not accounted");
        r.largest_process = record::Reading<std::uint64_t>::of(100 * kMiB, "ru_maxrss");
        r.sees_root = true;
        with_peak(110 * kMiB);
        with_time(10, 8, 1);
        with_machine_kills(0);
    }

    static void require(bool holds, const char* what) {
        if (!holds) {
            throw std::logic_error(std::string("impossible record: ") + what);
        }
    }

    void check() const {
        const auto& r = record_;
        const bool has_group = r.placement == record::Placement::own_cgroup_v1 ||
                               r.placement == record::Placement::own_cgroup_v2 ||
                               r.placement == record::Placement::systemd_scope;
        require(has_group == !r.cgroup.empty(), "an own cgroup has a path, and nothing else has");
        require(has_group || !r.events, "events without an own cgroup");
        require(!r.sampling_interval_s || *r.sampling_interval_s > 0, "an interval of 0");
        require(r.wall_s >= 0, "a negative duration");
        require(!r.limit || r.limit->bytes > 0, "a limit of 0");
        require(
            !(r.peak && r.peak_sample) || r.sampling_interval_s || r.peak_sample->memory <= *r.peak,
            "a sample above the peak");
        if (r.events && r.events->oom_kill && r.machine_oom_kills) {
            require(*r.machine_oom_kills >= *r.events->oom_kill,
                    "more memory kills in the group than on the machine");
        }
        if (const auto* killed = std::get_if<record::Killed>(&r.ending)) {
            require(killed->signal >= 1 && killed->signal <= 64, "a signal out of range");
        }
    }

    record::RunRecord record_;
};

}  // namespace mapdiag::test
