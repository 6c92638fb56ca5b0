#include "json_tools.h"

namespace mapdiag::record {
namespace {

Json settings_json(const ProfilerSettings& settings) {
    return {{"rate", settings.rate},
            {"idle", settings.idle},
            {"subprocesses", settings.subprocesses},
            {"native", settings.native},
            {"nonblocking", settings.nonblocking}};
}

Json process_json(const ProfiledProcess& process) {
    return {{"pid", process.pid},
            {"program", process.program},
            {"python_version", process.python_version},
            {"outcome", profile_outcome_name(process.outcome)},
            {"denial", denial_cause_name(process.denial.cause)},
            {"yama_scope", process.denial.yama_scope},
            {"attached_after_s", seconds_json(process.attached_after_s)},
            {"profiled_s", seconds_json(process.profiled_s)},
            {"attempts", process.attempts},
            {"samplings", process.samplings},
            {"errors", process.errors},
            {"samples", process.samples},
            {"behind_s", seconds_json(process.behind_s)},
            {"told_samplings", process.told_samplings},
            {"stopped_job", process.stopped_job},
            {"helper", process.helper},
            {"signal", process.signal},
            {"message", process.message}};
}

// A process line names its outcome by name; one that this program does not know stays as it is.
ProfiledProcess read_process(const Members& members) {
    ProfiledProcess process;
    members.take("pid", process.pid);
    members.take("program", process.program);
    members.take("python_version", process.python_version);
    process.outcome = find_profile_outcome(members.text("outcome").value_or(""))
                          .value_or(ProfileOutcome::attached);
    process.denial.cause =
        find_denial_cause(members.text("denial").value_or("")).value_or(DenialCause::none);
    members.take("yama_scope", process.denial.yama_scope);
    members.take("attached_after_s", process.attached_after_s);
    members.take("profiled_s", process.profiled_s);
    members.take("attempts", process.attempts);
    members.take("samplings", process.samplings);
    members.take("errors", process.errors);
    members.take("samples", process.samples);
    members.take("behind_s", process.behind_s);
    members.take("told_samplings", process.told_samplings);
    members.take("stopped_job", process.stopped_job);
    members.take("helper", process.helper);
    members.take("signal", process.signal);
    members.take("message", process.message);
    return process;
}

void read_settings(const Members& members, ProfilerSettings& settings) {
    members.take("rate", settings.rate);
    members.take("idle", settings.idle);
    members.take("subprocesses", settings.subprocesses);
    members.take("native", settings.native);
    members.take("nonblocking", settings.nonblocking);
}

}  // namespace

Json profile_to_json(const ProfileRecord& profile) {
    Json json = {{"state", profile_state_name(profile.state)},
                 {"settings", settings_json(profile.settings)}};
    json["found"] = nullptr;
    if (profile.found) {
        json["found"] = {{"source", profiler_source_name(profile.found->source)},
                         {"path", profile.found->path},
                         {"version", profile.found->version}};
    }
    json["looked_at"] = Json::array();
    for (const auto& looked : profile.looked_at) {
        json["looked_at"].push_back({{"source", profiler_source_name(looked.source)},
                                     {"place", looked.place},
                                     {"reason", looked.reason}});
    }
    json["processes"] = Json::array();
    for (const auto& process : profile.processes) {
        json["processes"].push_back(process_json(process));
    }
    json["python_seen"] = profile.python_seen;
    json["path"] = profile.path;
    json["samples"] = profile.samples;
    json["stacks"] = profile.stacks;
    json["mended_lines"] = profile.mended_lines;
    json["lost_lines"] = profile.lost_lines;
    json["left_out_children"] = profile.left_out_children;
    json["over_limit"] = profile.over_limit;
    json["limit_at_once"] = profile.limit_at_once;
    json["trouble"] = profile.trouble;
    return json;
}

void read_profile(const Json& object, ProfileRecord& profile) {
    const Members members(object);
    profile.state = find_profile_state(members.text("state").value_or("")).value_or(profile.state);
    if (const auto* settings = members.find("settings")) {
        read_settings(Members(*settings), profile.settings);
    }
    if (const auto* found = members.find("found"); found != nullptr && found->is_object()) {
        const Members of(*found);
        profile.found = FoundProfiler{
            find_profiler_source(of.text("source").value_or("")).value_or(ProfilerSource::option),
            of.text("path").value_or(""), of.text("version").value_or("")};
    }
    members.for_each("looked_at", [&](const Members& looked) {
        profile.looked_at.push_back({find_profiler_source(looked.text("source").value_or(""))
                                         .value_or(ProfilerSource::search_path),
                                     looked.text("place").value_or(""),
                                     looked.text("reason").value_or("")});
    });
    members.for_each("processes", [&](const Members& process) {
        profile.processes.push_back(read_process(process));
    });
    members.take("python_seen", profile.python_seen);
    members.take("path", profile.path);
    members.take("samples", profile.samples);
    members.take("stacks", profile.stacks);
    members.take("mended_lines", profile.mended_lines);
    members.take("lost_lines", profile.lost_lines);
    members.take("left_out_children", profile.left_out_children);
    members.take("over_limit", profile.over_limit);
    members.take("limit_at_once", profile.limit_at_once);
    members.take("trouble", profile.trouble);
}

}  // namespace mapdiag::record
