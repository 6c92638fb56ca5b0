#include <algorithm>

#include "json_tools.h"

namespace mapdiag::record {
namespace {

std::optional<double> read_seconds(const Json& json) {
    return json.is_number() ? std::optional(json.get<double>()) : std::nullopt;
}

MemoryEvents read_events(const Members& members) {
    return {members.count("low"),     members.count("high"),     members.count("max"),
            members.count("oom"),     members.count("oom_kill"), members.count("oom_group_kill"),
            members.count("swap_max")};
}

std::optional<MemoryEvents> find_events(const Json& json) {
    return json.is_object() ? std::optional(read_events(Members(json))) : std::nullopt;
}

MemorySplit read_split(const Members& members) {
    return {members.count("anon"),   members.count("file"), members.count("shmem"),
            members.count("kernel"), members.count("swap"), members.count("dirty")};
}

std::optional<Limit> find_limit(const Json& json) {
    const Members members(json);
    const auto bytes = members.count("bytes");
    if (!bytes) {
        return std::nullopt;
    }
    return Limit{*bytes, members.text("owner").value_or(""),
                 members.flag("carried").value_or(false)};
}

std::optional<PeakSample> find_peak_sample(const Json& json) {
    const Members members(json);
    const auto memory = members.count("memory");
    if (!memory) {
        return std::nullopt;
    }
    return PeakSample{*memory, members.number("at_s").value_or(0), read_split(members)};
}

// Exit codes and signals outside of what a kernel can report are no ending.
std::optional<Ending> find_ending(const Members& members) {
    const auto how = members.text("how").value_or("");
    if (how == "not ended") {
        return Ending{};
    }
    if (how == "mapdiag killed") {
        return Ending{WrapperKilled{}};
    }
    if (how == "not started") {
        return Ending{NotStarted{static_cast<int>(members.count("status").value_or(125) & 0xFF),
                                 members.text("reason").value_or("")}};
    }
    const auto code = members.count("code");
    if (how == "exited" && code && *code <= 255) {
        return Ending{Exited{static_cast<int>(*code)}};
    }
    const auto signal = members.count("signal");
    if (how == "killed" && signal && *signal >= 1 && *signal <= 64) {
        return Ending{
            Killed{static_cast<int>(*signal), members.flag("core_dumped").value_or(false)}};
    }
    return std::nullopt;
}

void read_held_to(const Json& json, HeldTo& held) {
    if (!json.is_object()) {
        return;
    }
    const Members members(json);
    held = {members.count("memory"), members.number("time_s"), members.number("kill_after_s"),
            members.number("cores"), members.flag("killed").value_or(false)};
}

void read_surroundings(const Members& members, RunRecord& record) {
    record.placement =
        find_placement(members.text("placement").value_or("")).value_or(record.placement);
    members.take("cgroup", record.cgroup);
    if (members.find("steps_down") != nullptr) {
        record.steps_down.clear();
    }
    members.for_each("steps_down", [&](const Members& step) {
        record.steps_down.push_back(
            {find_placement(step.text("placement").value_or("")).value_or(Placement::none),
             step.text("reason").value_or("")});
    });
    if (members.find("ancestors") != nullptr) {
        record.ancestors.clear();
    }
    members.for_each("ancestors", [&](const Members& group) {
        const auto* local = group.find("local");
        record.ancestors.push_back(
            {group.text("path").value_or(""), group.count("limit"), group.count("usage_at_end"),
             local == nullptr ? MemoryEvents{} : read_events(Members(*local))});
    });
    if (const auto sees = members.flag("sees_root")) {
        record.sees_root = sees;
    }
    if (const auto* held = members.find("held_to")) {
        read_held_to(*held, record.held_to);
    }
    members.take_reading("limit", record.limit, find_limit);
    members.take_reading("swap_limit", record.swap_limit, find_limit);
    members.take_reading("machine_memory", record.machine_memory, find_count);
}

void read_memory(const Members& members, RunRecord& record) {
    members.take_reading("peak", record.peak, find_count);
    members.take_reading("peak_sample", record.peak_sample, find_peak_sample);
    members.take_reading("swap_peak", record.swap_peak, find_count);
    members.take_reading("events", record.events, find_events);
    members.take_reading("own_events", record.own_events, find_events);
    members.take_reading("machine_oom_kills", record.machine_oom_kills, find_count);
    members.take("killer_disabled", record.killer_disabled);
    members.take("stuck_at_limit", record.stuck_at_limit);
    members.take_reading("memory_pressure_s", record.memory_pressure_s, read_seconds);
    members.take_reading("io_pressure_s", record.io_pressure_s, read_seconds);
    members.take_reading("major_faults", record.major_faults, find_count);
    members.take_reading("largest_process", record.largest_process, find_count);
}

void read_work(const Members& members, RunRecord& record) {
    members.take_reading("user_s", record.user_s, read_seconds);
    members.take_reading("system_s", record.system_s, read_seconds);
    members.take_reading("throttled_s", record.throttled_s, read_seconds);
    members.take_reading("cores", record.cores, read_seconds);
    members.take_reading("process_limit_hits", record.process_limit_hits, find_count);
    members.take_reading("cpu_time_limit_s", record.cpu_time_limit_s, find_count);
    members.take_reading("file_size_limit", record.file_size_limit, find_count);
}

OutputSide read_side(const Json& json) {
    const Members members(json);
    return {members.count("bytes").value_or(0), members.count("lost_bytes").value_or(0),
            members.text("failure").value_or("")};
}

void read_output(const Members& members, RunRecord& record) {
    if (const auto* out = members.find("out")) {
        record.out = read_side(*out);
    }
    if (const auto* err = members.find("err")) {
        record.err = read_side(*err);
    }
    if (const auto* json = members.find("log")) {
        const Members log(*json);
        log.take("path", record.log.path);
        log.take("lost_bytes", record.log.lost_bytes);
        log.take("failure", record.log.failure);
        record.log.hint =
            find_stderr_hint(log.text("stderr_hint").value_or("")).value_or(StderrHint::none);
    }
    if (const auto* json = members.find("output_file"); json != nullptr && json->is_object()) {
        const Members file(*json);
        OutputFileState state;
        file.take("exists", state.exists);
        file.take("bytes", state.bytes);
        file.take("older_than_start", state.older_than_start);
        file.take("leftover_temporary", state.leftover_temporary);
        record.output_file = state;
    }
}

void read_lists(const Members& members, RunRecord& record) {
    members.for_each("signals", [&](const Members& seen) {
        SignalSeen signal;
        seen.take("at_s", signal.at_s);
        seen.take("signal", signal.signal);
        seen.take("sender", signal.sender);
        seen.take("sender_program", signal.sender_program);
        seen.take("passed_on", signal.passed_on);
        record.signals.push_back(signal);
    });
    members.for_each("stack_dumps", [&](const Members& written) {
        StackDump dump;
        written.take("at_s", dump.at_s);
        written.take("why", dump.why);
        written.take("path", dump.path);
        written.take("processes", dump.processes);
        written.take("failure", dump.failure);
        record.stack_dumps.push_back(dump);
    });
    members.for_each("leftovers", [&](const Members& found) {
        Leftover leftover;
        found.take("pid", leftover.pid);
        found.take("program", leftover.program);
        found.take("holds_output", leftover.holds_output);
        found.take("stopped", leftover.stopped);
        record.leftovers.push_back(leftover);
    });
    const auto* troubles = members.find("troubles");
    if (troubles != nullptr && troubles->is_array()) {
        for (const auto& trouble : *troubles) {
            if (trouble.is_string()) {
                record.troubles.push_back(safe_text(trouble.get_ref<const std::string&>()));
            }
        }
    }
}

}  // namespace

void read_record(const Json& object, RunRecord& record) {
    const Members members(object);
    members.take("entity", record.entity);
    members.take("program", record.program);
    record.argument_count = members.count("argument_count").value_or(record.argument_count);
    members.take("started_at", record.started_at);
    members.take("wall_s", record.wall_s);
    record.wall_s = std::max(record.wall_s, 0.0);
    if (const auto* json = members.find("ending")) {
        if (auto ending = find_ending(Members(*json))) {
            record.ending = std::move(*ending);
        }
    }
    members.take("timed_out", record.timed_out);
    members.take("python_seen", record.python_seen);
    if (const auto interval = members.number("sampling_interval_s")) {
        record.sampling_interval_s = interval;
    }
    read_surroundings(members, record);
    read_memory(members, record);
    read_work(members, record);
    read_output(members, record);
    read_lists(members, record);
    if (const auto* profile = members.find("profile")) {
        read_profile(*profile, record.profile);
    }
}

Sample read_sample(const Json& object) {
    const Members members(object);
    Sample sample;
    members.take("at_s", sample.at_s);
    sample.memory = members.count("memory");
    sample.split = read_split(members);
    sample.cpu_s = members.number("cpu_s");
    sample.throttled_s = members.number("throttled_s");
    sample.pressure_some_s = members.number("pressure_some_s");
    std::uint32_t processes = 0;
    if (members.count("processes")) {
        members.take("processes", processes);
        sample.processes = processes;
    }
    members.take("under_oom", sample.under_oom);
    sample.memory_kills = members.count("memory_kills");
    return sample;
}

Event read_event(const Json& object) {
    const Members members(object);
    Event event;
    members.take("at_s", event.at_s);
    members.take("kind", event.kind);
    const auto* fields = members.find("fields");
    if (fields == nullptr || !fields->is_object()) {
        return event;
    }
    const Members of(*fields);
    for (const auto& [name, value] : fields->items()) {
        const auto key = safe_text(name);
        if (value.is_boolean()) {
            event.fields.push_back({key, value.get<bool>()});
        } else if (const auto integer = of.integer(name.c_str())) {
            event.fields.push_back({key, *integer});
        } else if (const auto number = of.number(name.c_str())) {
            event.fields.push_back({key, *number});
        } else if (auto text = of.text(name.c_str())) {
            event.fields.push_back({key, std::move(*text)});
        }
    }
    return event;
}

}  // namespace mapdiag::record
