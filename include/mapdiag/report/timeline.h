#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mapdiag/record/journal.h"
#include "mapdiag/support/error.h"

namespace mapdiag::report {

/// The version of the JSON of `mapdiag timeline --json`, apart from the program's version.
inline constexpr int kTimelineVersion = 1;

/// Something that happened at one moment.
struct TimelineMark {
    double at_s = 0;
    std::string text;  ///< one line for a person
};

/// A run over time, as its journal's samples and events show it.
struct Timeline {
    std::string entity;
    std::string placement;
    double end_s = 0;  ///< the job's end, or the last sample where no end is known; above 0
    std::vector<record::Sample> samples;  ///< in order of time, at least one of them with memory
    std::optional<std::uint64_t> limit;
    std::uint64_t highest = 0;  ///< of the samples' memory
    std::vector<TimelineMark> marks;
    std::vector<std::string> notes;  ///< what of the journal could not be read
};

/// An error: there is no sample to draw.
Result<Timeline> make_timeline(const record::Journal& journal);

/// Drawn with block characters, `width` columns wide (20 at least), for a terminal.
std::string timeline_text(const Timeline& timeline, std::size_t width);
/// A picture of its own, without scripts or anything from outside.
std::string timeline_svg(const Timeline& timeline);
/// As docs/report.md describes it, with a line end.
std::string timeline_json(const Timeline& timeline);

}  // namespace mapdiag::report
