#include "json_tools.h"
#include "mapdiag/record/signal_names.h"

namespace mapdiag::record {
namespace {

Json bytes_json(std::uint64_t bytes) {
    return bytes;
}

Json events_json(const MemoryEvents& events) {
    return {{"low", optional_json(events.low)},
            {"high", optional_json(events.high)},
            {"max", optional_json(events.max)},
            {"oom", optional_json(events.oom)},
            {"oom_kill", optional_json(events.oom_kill)},
            {"oom_group_kill", optional_json(events.oom_group_kill)},
            {"swap_max", optional_json(events.swap_max)}};
}

Json limit_json(const Limit& limit) {
    return {{"bytes", limit.bytes}, {"owner", limit.owner}, {"carried", limit.carried}};
}

void put_split(Json& json, const MemorySplit& split) {
    json["anon"] = optional_json(split.anon);
    json["file"] = optional_json(split.file);
    json["shmem"] = optional_json(split.shmem);
    json["kernel"] = optional_json(split.kernel);
    json["swap"] = optional_json(split.swap);
    json["dirty"] = optional_json(split.dirty);
}

Json peak_sample_json(const PeakSample& sample) {
    Json json = {{"memory", sample.memory}, {"at_s", seconds_json(sample.at_s)}};
    put_split(json, sample.split);
    return json;
}

Json steps_json(const std::vector<StepDown>& steps) {
    Json json = Json::array();
    for (const auto& step : steps) {
        json.push_back({{"placement", placement_name(step.placement)}, {"reason", step.reason}});
    }
    return json;
}

Json ancestors_json(const std::vector<AncestorGroup>& groups) {
    Json json = Json::array();
    for (const auto& group : groups) {
        json.push_back({{"path", group.path},
                        {"limit", optional_json(group.limit)},
                        {"usage_at_end", optional_json(group.usage_at_end)},
                        {"local", events_json(group.local)}});
    }
    return json;
}

Json signals_json(const std::vector<SignalSeen>& signals) {
    Json json = Json::array();
    for (const auto& seen : signals) {
        json.push_back({{"at_s", seconds_json(seen.at_s)},
                        {"signal", seen.signal},
                        {"signal_name", signal_name(seen.signal)},
                        {"sender", seen.sender},
                        {"sender_program", seen.sender_program},
                        {"passed_on", seen.passed_on}});
    }
    return json;
}

Json held_to_json(const HeldTo& held) {
    const auto seconds = [](const std::optional<double>& value) {
        return value ? seconds_json(*value) : Json(nullptr);
    };
    return {{"memory", optional_json(held.memory)},
            {"time_s", seconds(held.time_s)},
            {"kill_after_s", seconds(held.kill_after_s)},
            {"cores", seconds(held.cores)},
            {"killed", held.killed}};
}

Json stack_dumps_json(const std::vector<StackDump>& dumps) {
    Json json = Json::array();
    for (const auto& dump : dumps) {
        json.push_back({{"at_s", seconds_json(dump.at_s)},
                        {"why", dump.why},
                        {"path", dump.path},
                        {"processes", dump.processes},
                        {"failure", dump.failure}});
    }
    return json;
}

Json leftovers_json(const std::vector<Leftover>& leftovers) {
    Json json = Json::array();
    for (const auto& leftover : leftovers) {
        json.push_back({{"pid", leftover.pid},
                        {"program", leftover.program},
                        {"holds_output", leftover.holds_output},
                        {"stopped", leftover.stopped}});
    }
    return json;
}

Json side_json(const OutputSide& side) {
    return {{"bytes", side.bytes}, {"lost_bytes", side.lost_bytes}, {"failure", side.failure}};
}

// The path of the output file is an argument of the job: it stays out.
Json output_file_json(const std::optional<OutputFileState>& file) {
    if (!file) {
        return nullptr;
    }
    return {{"exists", file->exists},
            {"bytes", file->bytes},
            {"older_than_start", file->older_than_start},
            {"leftover_temporary", file->leftover_temporary}};
}

Json log_json(const LogOutcome& log) {
    const auto hint =
        log.hint == StderrHint::none ? stderr_hint_of(log.last_stderr_line) : log.hint;
    return {{"path", log.path},
            {"lost_bytes", log.lost_bytes},
            {"failure", log.failure},
            {"stderr_hint", stderr_hint_name(hint)}};
}

struct EndingWriter {
    Json operator()(std::monostate) const { return Json::object({{"how", "not ended"}}); }
    Json operator()(const NotStarted& ending) const {
        return {{"how", "not started"}, {"status", ending.status}, {"reason", ending.reason}};
    }
    Json operator()(const Exited& ending) const {
        return {{"how", "exited"}, {"code", ending.code}};
    }
    Json operator()(const Killed& ending) const {
        return {{"how", "killed"},
                {"signal", ending.signal},
                {"signal_name", signal_name(ending.signal)},
                {"core_dumped", ending.core_dumped}};
    }
    Json operator()(const WrapperKilled&) const {
        return Json::object({{"how", "mapdiag killed"}});
    }
};

void put_memory(Json& json, const RunRecord& record) {
    json["peak"] = reading_json(record.peak, bytes_json);
    json["peak_sample"] = reading_json(record.peak_sample, peak_sample_json);
    json["swap_peak"] = reading_json(record.swap_peak, bytes_json);
    json["events"] = reading_json(record.events, events_json);
    json["own_events"] = reading_json(record.own_events, events_json);
    json["machine_oom_kills"] = reading_json(record.machine_oom_kills, bytes_json);
    json["killer_disabled"] = record.killer_disabled;
    json["stuck_at_limit"] = record.stuck_at_limit;
    json["memory_pressure_s"] = reading_json(record.memory_pressure_s, seconds_json);
    json["io_pressure_s"] = reading_json(record.io_pressure_s, seconds_json);
    json["major_faults"] = reading_json(record.major_faults, bytes_json);
    json["largest_process"] = reading_json(record.largest_process, bytes_json);
}

void put_work(Json& json, const RunRecord& record) {
    json["user_s"] = reading_json(record.user_s, seconds_json);
    json["system_s"] = reading_json(record.system_s, seconds_json);
    json["throttled_s"] = reading_json(record.throttled_s, seconds_json);
    json["cores"] = reading_json(record.cores, seconds_json);
    json["process_limit_hits"] = reading_json(record.process_limit_hits, bytes_json);
    json["cpu_time_limit_s"] = reading_json(record.cpu_time_limit_s, bytes_json);
    json["file_size_limit"] = reading_json(record.file_size_limit, bytes_json);
}

}  // namespace

Json ending_to_json(const Ending& ending) {
    return std::visit(EndingWriter{}, ending);
}

Json header_to_json(const RunRecord& record) {
    return {{"entity", record.entity},
            {"program", record.program},
            {"argument_count", record.argument_count},
            {"started_at", record.started_at}};
}

Json start_to_json(const RunRecord& record) {
    return {{"placement", placement_name(record.placement)},
            {"steps_down", steps_json(record.steps_down)},
            {"cgroup", record.cgroup},
            {"held_to", held_to_json(record.held_to)},
            {"limit", reading_json(record.limit, limit_json)},
            {"swap_limit", reading_json(record.swap_limit, limit_json)},
            {"ancestors", ancestors_json(record.ancestors)},
            {"sees_root", optional_json(record.sees_root)},
            {"machine_memory", reading_json(record.machine_memory, bytes_json)}};
}

Json record_to_json(const RunRecord& record) {
    Json json = header_to_json(record);
    json["wall_s"] = seconds_json(record.wall_s);
    json["ending"] = ending_to_json(record.ending);
    json["timed_out"] = record.timed_out;
    json["python_seen"] = record.python_seen;
    json.update(start_to_json(record));
    json["sampling_interval_s"] =
        record.sampling_interval_s ? seconds_json(*record.sampling_interval_s) : Json(nullptr);
    put_memory(json, record);
    put_work(json, record);
    json["signals"] = signals_json(record.signals);
    json["stack_dumps"] = stack_dumps_json(record.stack_dumps);
    json["leftovers"] = leftovers_json(record.leftovers);
    json["out"] = side_json(record.out);
    json["err"] = side_json(record.err);
    json["log"] = log_json(record.log);
    json["output_file"] = output_file_json(record.output_file);
    json["troubles"] = record.troubles;
    json["profile"] = profile_to_json(record.profile);
    return json;
}

Json sample_to_json(const Sample& sample) {
    Json json = {{"at_s", seconds_json(sample.at_s)}, {"memory", optional_json(sample.memory)}};
    put_split(json, sample.split);
    const auto seconds = [](const std::optional<double>& value) {
        return value ? seconds_json(*value) : Json(nullptr);
    };
    json["cpu_s"] = seconds(sample.cpu_s);
    json["throttled_s"] = seconds(sample.throttled_s);
    json["pressure_some_s"] = seconds(sample.pressure_some_s);
    json["processes"] = optional_json(sample.processes);
    json["memory_kills"] = optional_json(sample.memory_kills);
    if (sample.under_oom) {
        json["under_oom"] = true;
    }
    return json;
}

Json event_to_json(const Event& event) {
    Json fields = Json::object();
    for (const auto& field : event.fields) {
        fields[field.name] = std::visit([](const auto& value) { return Json(value); }, field.value);
    }
    return {{"at_s", seconds_json(event.at_s)}, {"kind", event.kind}, {"fields", fields}};
}

std::string one_line(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace mapdiag::record
