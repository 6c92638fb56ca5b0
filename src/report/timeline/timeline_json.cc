#include <nlohmann/json.hpp>

#include "mapdiag/record/record_json.h"
#include "mapdiag/report/timeline.h"

namespace mapdiag::report {

std::string timeline_json(const Timeline& timeline) {
    using record::Json;
    Json samples = Json::array();
    for (const auto& sample : timeline.samples) {
        samples.push_back(record::sample_to_json(sample));
    }
    Json marks = Json::array();
    for (const auto& mark : timeline.marks) {
        marks.push_back({{"at_s", mark.at_s}, {"text", mark.text}});
    }
    const Json json = {{"format", "mapdiag-timeline"},
                       {"version", kTimelineVersion},
                       {"entity", timeline.entity},
                       {"placement", timeline.placement},
                       {"end_s", timeline.end_s},
                       {"limit_bytes", timeline.limit ? Json(*timeline.limit) : Json(nullptr)},
                       {"highest_bytes", timeline.highest},
                       {"samples", samples},
                       {"marks", marks},
                       {"notes", timeline.notes}};
    return record::one_line(json) + '\n';
}

}  // namespace mapdiag::report
