#include "mapdiag/report/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "../run_words.h"
#include "columns.h"
#include "mapdiag/record/signal_names.h"
#include "mapdiag/support/units.h"

namespace mapdiag::report {
namespace {

using namespace record;

/// A memory this share of the limit or more is drawn in one picture with it.
constexpr double kLimitInSight = 0.25;

std::string number_text(const Event& event, const char* name) {
    for (const auto& field : event.fields) {
        const auto* value = std::get_if<std::int64_t>(&field.value);
        if (field.name == name && value != nullptr && *value >= 0) {
            return format_bytes(static_cast<std::uint64_t>(*value));
        }
    }
    return "n/a";
}

std::string event_text(const Event& event) {
    if (event.kind == "last_gasp") {
        return fmt::format("last gasp: {} of {} in use without file cache",
                           number_text(event, "memory"), number_text(event, "limit"));
    }
    return event.kind;
}

void mark_samples(Timeline& timeline) {
    std::uint64_t kills = 0;
    bool stopped = false;
    for (const auto& sample : timeline.samples) {
        if (sample.memory_kills.value_or(0) > kills) {
            timeline.marks.push_back(
                {sample.at_s, fmt::format("memory kills: {} so far", *sample.memory_kills)});
            kills = *sample.memory_kills;
        }
        if (sample.under_oom && !stopped) {
            timeline.marks.push_back({sample.at_s, "stopped at its limit, nobody kills it"});
        }
        stopped = sample.under_oom;
    }
}

void mark_record(Timeline& timeline, const RunRecord& record) {
    for (const auto& seen : record.signals) {
        timeline.marks.push_back(
            {seen.at_s, fmt::format("{} {}", signal_name(seen.signal),
                                    seen.passed_on ? "passed on" : "reached the job, too")});
    }
    for (const auto& dump : record.stack_dumps) {
        timeline.marks.push_back({dump.at_s, stack_dump_text(dump)});
    }
    if (record.held_to.time_s && record.timed_out) {
        timeline.marks.push_back({*record.held_to.time_s, "time limit"});
    }
}

bool is_time(double at_s) {
    return std::isfinite(at_s) && at_s >= 0;
}

}  // namespace

Result<Timeline> make_timeline(const Journal& journal) {
    const auto& record = journal.record;
    Timeline timeline;
    timeline.entity = record.entity;
    timeline.placement = placement_name(record.placement);
    timeline.notes = journal.notes;
    timeline.end_s = is_time(record.wall_s) ? record.wall_s : 0;
    std::ranges::copy_if(journal.samples, std::back_inserter(timeline.samples),
                         [](const Sample& sample) { return is_time(sample.at_s); });
    std::ranges::sort(timeline.samples, {}, &Sample::at_s);
    bool any = false;
    for (const auto& sample : timeline.samples) {
        any = any || sample.memory;
        timeline.highest = std::max(timeline.highest, sample.memory.value_or(0));
        timeline.end_s = std::max(timeline.end_s, sample.at_s);
    }
    if (!any || timeline.end_s <= 0) {
        return std::unexpected(Error::because("draw the time line of", record.entity,
                                              "its journal holds no sample of memory (the run "
                                              "was too short, or was not measured)"));
    }
    if (record.limit) {
        timeline.limit = record.limit->bytes;
    }
    for (const auto& event : journal.events) {
        timeline.marks.push_back({event.at_s, event_text(event)});
    }
    mark_samples(timeline);
    mark_record(timeline, record);
    if (!std::holds_alternative<std::monostate>(record.ending)) {
        timeline.marks.push_back({timeline.end_s, exit_text(record)});
    }
    std::erase_if(timeline.marks, [&](const TimelineMark& mark) { return !is_time(mark.at_s); });
    std::ranges::stable_sort(timeline.marks, {}, &TimelineMark::at_s);
    return timeline;
}

bool shows_limit(const Timeline& timeline) {
    return timeline.limit && *timeline.limit > 0 &&
           static_cast<double>(timeline.highest) >=
               kLimitInSight * static_cast<double>(*timeline.limit);
}

double top_of(const Timeline& timeline) {
    const auto highest = static_cast<double>(std::max(timeline.highest, std::uint64_t{1}));
    return shows_limit(timeline) ? std::max(highest, static_cast<double>(*timeline.limit))
                                 : highest;
}

std::size_t column_of(const Timeline& timeline, double at_s, std::size_t count) {
    const auto share = std::clamp(at_s / timeline.end_s, 0.0, 1.0);
    return std::min(static_cast<std::size_t>(share * static_cast<double>(count)), count - 1);
}

std::vector<std::optional<double>> memory_columns(const Timeline& timeline, std::size_t count) {
    std::vector<std::optional<double>> columns(count);
    for (const auto& sample : timeline.samples) {
        if (sample.memory) {
            auto& column = columns[column_of(timeline, sample.at_s, count)];
            column = std::max(column.value_or(0), static_cast<double>(*sample.memory));
        }
    }
    for (std::size_t i = 1; i < count; ++i) {
        columns[i] = columns[i] ? columns[i] : columns[i - 1];
    }
    return columns;
}

std::vector<std::optional<double>> cpu_columns(const Timeline& timeline, std::size_t count) {
    std::vector<std::optional<double>> columns(count);
    const double width = timeline.end_s / static_cast<double>(count);
    double from = 0;
    double before = 0;
    bool any = false;
    for (const auto& sample : timeline.samples) {
        if (!sample.cpu_s || !std::isfinite(*sample.cpu_s) || sample.at_s <= from) {
            continue;
        }
        const double rate = std::max(*sample.cpu_s - before, 0.0) / (sample.at_s - from);
        for (auto i = column_of(timeline, from, count);
             i <= column_of(timeline, sample.at_s, count); ++i) {
            const auto start = static_cast<double>(i) * width;
            const auto shared = std::min(sample.at_s, start + width) - std::max(from, start);
            columns[i] = columns[i].value_or(0) + rate * std::max(shared, 0.0) / width;
        }
        from = sample.at_s;
        before = *sample.cpu_s;
        any = true;
    }
    return any ? columns : std::vector<std::optional<double>>{};
}

char letter_of(std::size_t mark) {
    constexpr std::size_t kLetters = 26;
    if (mark < kLetters) {
        return static_cast<char>('a' + mark);
    }
    return mark < 2 * kLetters ? static_cast<char>('A' + (mark - kLetters)) : '+';
}

}  // namespace mapdiag::report
