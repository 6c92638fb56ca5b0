#include "mapdiag/run/containment.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "mapdiag/support/text.h"
#include "mapdiag/support/units.h"

namespace mapdiag::run {
namespace {

constexpr std::uint64_t kMiB = 1U << 20;
constexpr std::uint64_t kPage = 4096;
// What mapdiag and the profiler beside the job may need while a limit that was made from what was
// left is in force.
constexpr std::uint64_t kLeastMargin = 64 * kMiB;

Error wrong(const char* option, const std::string& value, std::string why) {
    return Error::because(std::string("use ") + option, mapdiag::quoted(value), std::move(why));
}

std::optional<double> find_number(std::string_view text) {
    double value = 0;
    const auto* end = text.data() + text.size();
    const auto [at, failed] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
    return failed == std::errc() && at == end && std::isfinite(value) ? std::optional(value)
                                                                      : std::nullopt;
}

Result<MemoryLimit> read_memory_limit(const std::string& text) {
    constexpr const char* kOption = "--memory-limit";
    if (text == "auto") {
        return LimitAuto{};
    }
    if (text.ends_with('%')) {
        const auto percent = find_number(std::string_view(text).substr(0, text.size() - 1));
        if (!percent || *percent <= 0 || *percent > 100) {
            return std::unexpected(wrong(kOption, text, "a share is above 0 % and at most 100 %"));
        }
        return LimitShare{*percent / 100};
    }
    const auto bytes = parse_size(text);
    if (!bytes || *bytes < kPage) {
        return std::unexpected(
            wrong(kOption, text,
                  bytes ? "it is less than a page of memory"
                        : "it is neither a size (512M, 2G) nor a share (80%) nor auto"));
    }
    return LimitBytes{*bytes};
}

Result<std::chrono::nanoseconds> read_time(const char* option, const std::string& text) {
    const auto time = parse_duration(text);
    if (!time || *time <= std::chrono::nanoseconds(0)) {
        return std::unexpected(
            wrong(option, text, "it is no duration above 0 (30, 1.5s, 250ms, 2m, 1h)"));
    }
    return *time;
}

}  // namespace

Result<Containment> read_containment(const ContainmentOptions& options) {
    Containment containment;
    if (options.memory_limit) {
        const auto limit = read_memory_limit(*options.memory_limit);
        if (!limit) {
            return std::unexpected(limit.error());
        }
        containment.memory = *limit;
    }
    if (options.time_limit) {
        const auto time = read_time("--time-limit", *options.time_limit);
        if (!time) {
            return std::unexpected(time.error());
        }
        containment.time = *time;
    }
    if (options.kill_after) {
        const auto time = read_time("--kill-after", *options.kill_after);
        if (!time || !options.time_limit) {
            return std::unexpected(
                time ? wrong("--kill-after", *options.kill_after, "there is no --time-limit")
                     : time.error());
        }
        containment.kill_after = *time;
    }
    if (options.cpu_limit) {
        containment.cores = find_number(*options.cpu_limit);
        if (!containment.cores || *containment.cores < 0.01 || *containment.cores > 1e5) {
            return std::unexpected(wrong("--cpu-limit", *options.cpu_limit,
                                         "it is no number of cores of 0.01 or more (2, 0.5)"));
        }
    }
    return containment;
}

Result<std::optional<double>> read_last_gasp(const std::optional<std::string>& text) {
    constexpr double kDefault = 90;
    const auto number = !text                  ? std::optional(kDefault)
                        : text->ends_with('%') ? find_number(text->substr(0, text->size() - 1))
                                               : find_number(*text);
    if (!number || *number < 0 || *number > 100) {
        return std::unexpected(wrong("--last-gasp", *text, "it is no share from 0 to 100 %"));
    }
    return *number == 0 ? std::nullopt : std::optional(*number / 100);
}

std::uint64_t memory_limit_bytes(const MemoryLimit& limit, std::uint64_t whole,
                                 std::uint64_t room) {
    auto bytes = room - std::min(room / 4, std::max(room / 20, kLeastMargin));
    if (const auto* size = std::get_if<LimitBytes>(&limit)) {
        bytes = size->bytes;
    } else if (const auto* part = std::get_if<LimitShare>(&limit)) {
        bytes = static_cast<std::uint64_t>(part->share * static_cast<double>(whole));
    }
    return std::max(bytes / kPage, std::uint64_t{1}) * kPage;
}

std::string duckdb_limit(std::uint64_t bytes) {
    return std::to_string(std::max(bytes / 5 * 4 / kMiB, std::uint64_t{1})) + "MiB";
}

}  // namespace mapdiag::run
