#include <nlohmann/json.hpp>

#include "mapdiag/record/record_json.h"
#include "mapdiag/record/signal_names.h"
#include "mapdiag/report/run_report.h"
#include "memory_lines.h"
#include "report_row.h"
#include "run_rank.h"

namespace mapdiag::report {
namespace {

using namespace record;

// Puts a value, or null with the reason in "not_available".
class Figures {
  public:
    explicit Figures(Json& run) : run_(run), missing_(Json::object()) {}

    template <class T>
    void put(const char* key, const Reading<T>& reading) {
        if (reading) {
            run_[key] = *reading;
        } else {
            miss(key, reading.reason());
        }
    }
    void miss(const char* key, const std::string& reason) {
        run_[key] = nullptr;
        missing_[key] = reason;
    }
    void finish() { run_["not_available"] = missing_; }

  private:
    Json& run_;
    Json missing_;
};

template <class T>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

void put_memory(Json& json, Figures& figures, const RunRecord& record) {
    figures.put("peak_bytes", record.peak);
    json["peak_is"] = !record.peak                                   ? Json(nullptr)
                      : is_sampled(record)                           ? "sampled, at least"
                      : record.placement == Placement::shared_cgroup ? "shared, at most"
                                                                     : "exact";
    json["highest_sample"] = nullptr;
    if (record.peak_sample) {
        const auto& split = record.peak_sample->split;
        json["highest_sample"] = {
            {"at_s", record.peak_sample->at_s}, {"bytes", record.peak_sample->memory},
            {"anon", or_null(split.anon)},      {"file", or_null(split.file)},
            {"shmem", or_null(split.shmem)},    {"kernel", or_null(split.kernel)},
            {"swap", or_null(split.swap)}};
    }
    if (record.limit) {
        json["limit_bytes"] = record.limit->bytes;
        json["limit_owner"] = record.limit->owner;
    } else {
        figures.miss("limit_bytes", record.limit.reason());
        json["limit_owner"] = nullptr;
    }
    json["share_of_limit"] = or_null(share_of_limit(record));
    figures.put("swap_peak_bytes", record.swap_peak);
    figures.put("largest_process_bytes", record.largest_process);
    if (record.events) {
        const auto& events = *record.events;
        json["memory_events"] = {{"low", or_null(events.low)},
                                 {"high", or_null(events.high)},
                                 {"max", or_null(events.max)},
                                 {"oom", or_null(events.oom)},
                                 {"oom_kill", or_null(events.oom_kill)},
                                 {"oom_group_kill", or_null(events.oom_group_kill)}};
    } else {
        figures.miss("memory_events", record.events.reason());
    }
}

Json findings_json(const std::vector<diagnose::Finding>& findings) {
    Json json = Json::array();
    for (const auto& finding : findings) {
        Json proofs = Json::array();
        for (const auto& proof : finding.proofs) {
            proofs.push_back(
                {{"reading", proof.reading}, {"value", proof.value}, {"source", proof.source}});
        }
        json.push_back({{"id", std::string(finding.id)},
                        {"kind", diagnose::finding_kind_name(finding.kind)},
                        {"label", std::string(finding.label)},
                        {"text", finding.text},
                        {"proofs", proofs}});
    }
    return json;
}

Json unreadable_json(const ReportedRun& run) {
    return {{"journal", run.path}, {"unreadable", run.unreadable}, {"failed", true}};
}

Json run_json(const ReportedRun& run) {
    if (!run.unreadable.empty()) {
        return unreadable_json(run);
    }
    const auto& record = run.journal.record;
    Json json = {{"journal", run.path},
                 {"entity", record.entity},
                 {"failed", run.failed()},
                 {"program", record.program},
                 {"started_at", record.started_at},
                 {"ending", ending_to_json(record.ending)},
                 {"placement", placement_name(record.placement)}};
    json["steps_down"] = Json::array();
    for (const auto& step : record.steps_down) {
        json["steps_down"].push_back(step.reason);
    }
    json["wall_s"] = record.wall_s;
    Figures figures(json);
    figures.put("user_s", record.user_s);
    figures.put("system_s", record.system_s);
    put_memory(json, figures, record);
    json["profile"] = record.profile.path.empty() ? Json(nullptr) : Json(record.profile.path);
    json["profile_samples"] =
        record.profile.path.empty() ? Json(nullptr) : Json(record.profile.samples);
    json["findings"] = findings_json(run.findings);
    json["notes"] = run.journal.notes;
    figures.finish();
    return json;
}

Json overlap_json(const std::optional<Overlap>& overlap) {
    if (!overlap) {
        return nullptr;
    }
    return {{"entities", overlap->entities},
            {"sum_of_peaks_bytes", overlap->sum_of_peaks},
            {"largest_peak_bytes", overlap->largest_peak},
            {"shared_bytes", or_null(overlap->shared_bytes)},
            {"shared_owner", overlap->shared_bytes ? Json(overlap->shared_owner) : Json(nullptr)},
            {"most_at_once", or_null(overlap->most_at_once)}};
}

}  // namespace

std::string report_json(const Report& report) {
    Json runs = Json::array();
    for (const auto& run : report.runs) {
        runs.push_back(run_json(run));
    }
    const Json json = {{"format", "mapdiag-report"},
                       {"version", kReportVersion},
                       {"failed", report.any_failed()},
                       {"runs", runs},
                       {"overlap", overlap_json(report.overlap)}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace mapdiag::report
