// Runs that were under way at the same time. Each may be within its limit while all of them
// together are not: nobody else adds their peaks up.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <tuple>

#include "mapdiag/report/run_report.h"
#include "mapdiag/support/text.h"
#include "run_rank.h"

namespace mapdiag::report {
namespace {

using namespace record;

// Digits [from, from + count) of a time stamp.
std::optional<int> digits(std::string_view text, std::size_t from, std::size_t count) {
    const auto value =
        from + count <= text.size() ? find_u64(text.substr(from, count)) : std::nullopt;
    return value && *value <= 9999 ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

struct Moment {
    double seconds = 0;      ///< since 1970
    double uncertainty = 0;  ///< it may be later by as much
};

// "2026-12-01T04:25:23Z" or with a fraction of the second before the Z.
std::optional<Moment> find_moment(std::string_view text) {
    const auto year = digits(text, 0, 4);
    const auto month = digits(text, 5, 2);
    const auto day = digits(text, 8, 2);
    const auto hour = digits(text, 11, 2);
    const auto minute = digits(text, 14, 2);
    const auto second = digits(text, 17, 2);
    if (!year || !month || !day || !hour || !minute || !second || !text.ends_with('Z')) {
        return std::nullopt;
    }
    const std::chrono::year_month_day date(std::chrono::year(*year),
                                           std::chrono::month(static_cast<unsigned>(*month)),
                                           std::chrono::day(static_cast<unsigned>(*day)));
    if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) {
        return std::nullopt;
    }
    const auto days = std::chrono::sys_days(date).time_since_epoch().count();
    Moment moment{static_cast<double>(days) * 86400 + *hour * 3600 + *minute * 60 + *second, 1};
    const auto fraction = text.substr(19, text.size() - 20);
    if (const auto part = fraction.starts_with('.') ? find_u64(fraction.substr(1)) : std::nullopt) {
        moment.seconds +=
            static_cast<double>(*part) / std::pow(10.0, static_cast<double>(fraction.size() - 1));
        moment.uncertainty = 0;
    }
    return moment;
}

struct Span {
    const ReportedRun* run;
    double from;
    double to;  ///< the earliest end that the time stamps allow
    std::uint64_t peak;
};

std::vector<Span> spans_of(const std::vector<ReportedRun>& runs) {
    std::vector<Span> spans;
    for (const auto& run : runs) {
        const auto& record = run.journal.record;
        const auto start = find_moment(record.started_at);
        const auto peak = best_peak(record);
        if (!start || !peak) {
            continue;
        }
        // A start that is known to the second only is taken for as late as it may be.
        const double from = start->seconds + start->uncertainty;
        const double to = start->seconds + record.wall_s;
        if (to > from) {
            spans.push_back({&run, from, to, *peak});
        }
    }
    return spans;
}

std::uint64_t add_up(std::uint64_t a, std::uint64_t b) {
    const auto most = std::numeric_limits<std::uint64_t>::max();
    return a > most - b ? most : a + b;
}

struct Change {
    double at;
    bool begins;  ///< ends come first: one run begins as another ends, and they don't overlap
    const Span* span;
};

std::vector<Change> changes_of(const std::vector<Span>& spans) {
    std::vector<Change> changes;
    for (const auto& span : spans) {
        changes.push_back({span.from, true, &span});
        changes.push_back({span.to, false, &span});
    }
    std::ranges::sort(changes, [](const Change& a, const Change& b) {
        return std::tie(a.at, a.begins) < std::tie(b.at, b.begins);
    });
    return changes;
}

// Goes through all starts and ends in order of time; the sum of two runs or more that is largest
// stands right behind some start.
std::vector<const Span*> heaviest_moment(const std::vector<Span>& spans) {
    std::vector<const Span*> heaviest;
    std::vector<const Span*> now;
    std::uint64_t most = 0;
    for (const auto& change : changes_of(spans)) {
        if (!change.begins) {
            std::erase(now, change.span);
            continue;
        }
        now.push_back(change.span);
        std::uint64_t sum = 0;
        for (const auto* span : now) {
            sum = add_up(sum, span->peak);
        }
        if (now.size() > 1 && sum > most) {
            most = sum;
            heaviest = now;
        }
    }
    return heaviest;
}

// What these runs share: one cgroup's limit where all name the same, else the machine.
void find_shared(Overlap& overlap, const std::vector<const Span*>& spans) {
    const auto& first = spans.front()->run->journal.record;
    const bool one_limit = std::ranges::all_of(spans, [&](const Span* span) {
        const auto& limit = span->run->journal.record.limit;
        return limit && first.limit && limit->owner == first.limit->owner;
    });
    if (one_limit) {
        overlap.shared_bytes = first.limit->bytes;
        overlap.shared_owner = first.limit->owner;
    } else if (first.machine_memory) {
        overlap.shared_bytes = *first.machine_memory;
        overlap.shared_owner = "the machine";
    }
}

}  // namespace

std::optional<Overlap> find_overlap(const std::vector<ReportedRun>& runs) {
    const auto spans = spans_of(runs);
    const auto together = heaviest_moment(spans);
    if (together.empty()) {
        return std::nullopt;
    }
    Overlap overlap;
    for (const auto* span : together) {
        overlap.entities.push_back(span->run->journal.record.entity);
        overlap.sum_of_peaks = add_up(overlap.sum_of_peaks, span->peak);
        overlap.largest_peak = std::max(overlap.largest_peak, span->peak);
    }
    std::ranges::sort(overlap.entities);
    find_shared(overlap, together);
    if (overlap.shared_bytes && overlap.largest_peak > 0) {
        overlap.most_at_once = *overlap.shared_bytes / overlap.largest_peak;
    }
    return overlap;
}

}  // namespace mapdiag::report
