#include "memory_lines.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "mapdiag/support/units.h"

namespace mapdiag::report {
namespace {

using namespace record;

bool has_own_group(const RunRecord& record) {
    return record.placement == Placement::own_cgroup_v1 ||
           record.placement == Placement::own_cgroup_v2 ||
           record.placement == Placement::systemd_scope;
}

std::string not_available(const std::string& what, const std::string& reason) {
    return fmt::format("{} not available, because {}", what, reason);
}

// Readers take the first number behind the word "peak" for the peak, so no number may stand in
// here: the reasons are fixed texts without one.
const char* why_no_kernel_peak(const RunRecord& record) {
    if (!has_own_group(record)) {
        return "the job had no cgroup of its own";
    }
    return is_sampled(record) ? "this kernel keeps no such figure" : "it could not be read";
}

std::string sampled_words(const RunRecord& record) {
    if (!record.sampling_interval_s) {
        return "sampled";
    }
    const auto seconds = *record.sampling_interval_s;
    return seconds < 0.9995 ? fmt::format("sampled every {:.3g} ms", seconds * 1000)
                            : fmt::format("sampled every {}", format_seconds(seconds));
}

void add_part(std::string& text, const char* name, const std::optional<std::uint64_t>& bytes,
              const char* remark = "") {
    if (bytes) {
        text +=
            fmt::format("{}{} {}{}", text.empty() ? "" : ", ", name, format_bytes(*bytes), remark);
    }
}

std::string split_text(const RunRecord& record) {
    if (!record.peak_sample) {
        return not_available("the split of that figure is", record.peak_sample.reason());
    }
    const auto& sample = *record.peak_sample;
    if (record.placement == Placement::shared_cgroup) {
        return fmt::format(
            "the job's own processes: {} resident in sum at the highest sample ({} after the "
            "start, "
            "{}; pages that they share count once for each)",
            format_bytes(sample.memory), format_seconds(sample.at_s), sampled_words(record));
    }
    std::string parts;
    add_part(parts, "anon", sample.split.anon);
    const bool cached = sample.split.file.value_or(0) > 0;
    add_part(parts, "file cache", sample.split.file,
             cached ? " (the kernel can give most of it back)" : "");
    add_part(parts, "shmem", sample.split.shmem);
    add_part(parts, "kernel", sample.split.kernel);
    if (sample.split.swap.value_or(0) > 0) {
        add_part(parts, "swap", sample.split.swap);
    }
    if (sample.split.dirty.value_or(0) > 0) {
        add_part(parts, "dirty", sample.split.dirty);
    }
    if (parts.empty()) {
        return not_available("the split of that figure is",
                             "only processes could be looked at, and they do not tell it");
    }
    return fmt::format("at the highest sample ({} after {}): {}", format_bytes(sample.memory),
                       format_seconds(sample.at_s), parts);
}

std::string swap_text(const RunRecord& record) {
    if (record.swap_peak) {
        return fmt::format("swap: {} at its highest ({})", format_bytes(*record.swap_peak),
                           record.swap_peak.source());
    }
    const bool looked = has_own_group(record) && record.peak_sample;
    if (looked && !record.peak_sample->split.swap) {
        return "swap: not accounted";
    }
    if (looked) {
        return fmt::format(
            "swap: {} at the highest sample; its own highest is not available, "
            "because {}",
            format_bytes(*record.peak_sample->split.swap), record.swap_peak.reason());
    }
    return not_available("swap:", record.swap_peak.reason());
}

std::string largest_text(const RunRecord& record) {
    if (!record.largest_process) {
        return not_available("largest process:", record.largest_process.reason());
    }
    return fmt::format("largest process: {} resident ({})", format_bytes(*record.largest_process),
                       record.largest_process.source());
}

std::string limit_text(const RunRecord& record) {
    if (!record.limit) {
        return not_available("limit:", record.limit.reason());
    }
    return fmt::format("limit: {} ({} bytes), set by {}{}", format_bytes(record.limit->bytes),
                       record.limit->bytes, record.limit->owner,
                       record.limit->carried ? ", carried over to the job's own cgroup" : "");
}

}  // namespace

bool is_sampled(const RunRecord& record) {
    return record.placement != Placement::shared_cgroup &&
           (record.sampling_interval_s.has_value() || record.placement == Placement::process_tree);
}

std::string peak_text(const RunRecord& record) {
    if (!record.peak) {
        return fmt::format("not available, because {}: the peak", record.peak.reason());
    }
    const auto bytes = *record.peak;
    const char* bound = record.placement == Placement::shared_cgroup ? "at most "
                        : is_sampled(record)                         ? "at least "
                                                                     : "";
    auto text = fmt::format("peak {}{}", bound, format_bytes(bytes));
    if (record.limit) {
        text += fmt::format(
            " of {} ({})", format_bytes(record.limit->bytes),
            format_share(static_cast<double>(bytes), static_cast<double>(record.limit->bytes)));
    }
    text += fmt::format(", {}", placement_name(record.placement));
    if (is_sampled(record)) {
        text +=
            fmt::format(", {}: {} ({} bytes)", sampled_words(record), record.peak.source(), bytes);
    } else if (record.placement == Placement::shared_cgroup) {
        text += fmt::format(", an upper bound, since others are in it: {}", record.peak.source());
    } else {
        text += fmt::format(": {}", record.peak.source());
    }
    return text;
}

std::vector<std::string> cgroup_lines(const RunRecord& record) {
    std::vector<std::string> lines;
    const bool kernel_figure = has_own_group(record) && record.peak && !is_sampled(record);
    lines.push_back(kernel_figure ? fmt::format("cgroup memory.peak bytes: {}", *record.peak)
                                  : fmt::format("cgroup memory.peak bytes: n/a ({})",
                                                why_no_kernel_peak(record)));
    if (!record.events) {
        lines.push_back(fmt::format("cgroup memory.events: n/a ({})", record.events.reason()));
        return lines;
    }
    lines.emplace_back("cgroup memory.events:");
    const auto& events = *record.events;
    const std::array<std::pair<const char*, std::optional<std::uint64_t>>, 6> keys = {{
        {"low", events.low},
        {"high", events.high},
        {"max", events.max},
        {"oom", events.oom},
        {"oom_kill", events.oom_kill},
        {"oom_group_kill", events.oom_group_kill},
    }};
    for (const auto& [key, value] : keys) {
        if (value) {
            lines.push_back(fmt::format("  {} {}", key, *value));
        }
    }
    return lines;
}

std::vector<std::string> memory_lines(const RunRecord& record) {
    std::vector<std::string> lines;
    if (record.placement == Placement::own_cgroup_v1 && record.events) {
        lines.emplace_back(
            "those come from cgroup v1: memory.max_usage_in_bytes as memory.peak, memory.failcnt "
            "as "
            "max, oom_kill of memory.oom_control; v1 counts nothing else of them");
    }
    lines.push_back(peak_text(record));
    lines.push_back(split_text(record));
    lines.push_back(limit_text(record));
    lines.push_back(swap_text(record));
    lines.push_back(largest_text(record));
    for (const auto& step : record.steps_down) {
        lines.push_back(
            fmt::format("{} could not be had: {}", placement_name(step.placement), step.reason));
    }
    return lines;
}

}  // namespace mapdiag::report
