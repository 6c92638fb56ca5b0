#pragma once

#include <nlohmann/json_fwd.hpp>

#include "mapdiag/record/journal.h"
#include "mapdiag/record/record.h"

namespace mapdiag::record {

/// Keys in the order in which they are written, so that a person finds them.
using Json = nlohmann::ordered_json;

/// The whole record as docs/journal.md describes it. What was not available is null with a "reason"
/// beside it. Neither arguments nor output text of the job are in it.
Json record_to_json(const RunRecord& record);
/// What is known before the job starts; what is known as soon as it runs.
Json header_to_json(const RunRecord& record);
Json start_to_json(const RunRecord& record);

Json sample_to_json(const Sample& sample);
Json event_to_json(const Event& event);
Json ending_to_json(const Ending& ending);
Json profile_to_json(const ProfileRecord& profile);

/// Takes every known key of the object over into `record`; what is missing or has a wrong type
/// leaves it as it was. Text becomes printable and is cut at 4 KiB.
void read_record(const Json& object, RunRecord& record);
Sample read_sample(const Json& object);
Event read_event(const Json& object);
void read_profile(const Json& object, ProfileRecord& profile);

/// One line, without a line end; bytes that are not UTF-8 become U+FFFD.
std::string one_line(const Json& json);

}  // namespace mapdiag::record
