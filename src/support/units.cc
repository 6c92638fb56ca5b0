#include "mapdiag/support/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "mapdiag/support/text.h"

namespace mapdiag {
namespace {

struct Unit {
    std::string_view name;
    double factor;
};

constexpr double kKibi = 1024.0;

// The number before the unit and the unit itself, or nothing when there is no number.
struct NumberAndUnit {
    double number;
    std::string_view unit;
};

Result<NumberAndUnit> split_unit(std::string_view tried, std::string_view text) {
    const auto trimmed = trim(text);
    double number = 0;
    const auto [end, failure] =
        std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), number);
    if (failure != std::errc{} || !std::isfinite(number) || number < 0) {
        return std::unexpected(
            Error::because(std::string(tried), quoted(text), "not a number of 0 or more"));
    }
    const auto used = static_cast<std::size_t>(end - trimmed.data());
    return NumberAndUnit{number, trim(trimmed.substr(used))};
}

template <std::size_t N>
Result<double> scaled(std::string_view tried, std::string_view text,
                      const std::array<Unit, N>& units) {
    const auto parts = split_unit(tried, text);
    if (!parts) {
        return std::unexpected(parts.error());
    }
    for (const auto& unit : units) {
        if (equals_ignoring_case(unit.name, parts->unit)) {
            return parts->number * unit.factor;
        }
    }
    std::string known;
    for (const auto& unit : units) {
        if (!unit.name.empty()) {
            known += known.empty() ? "" : ", ";
            known += unit.name;
        }
    }
    return std::unexpected(
        Error::because(std::string(tried), quoted(text), "the unit must be one of " + known));
}

}  // namespace

std::string format_bytes(std::uint64_t bytes) {
    constexpr std::array<std::string_view, 7> kNames = {"B",   "KiB", "MiB", "GiB",
                                                        "TiB", "PiB", "EiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    // 1023.95 would round to "1024.0": step up before that shows.
    while (value >= 1023.95 && unit + 1 < kNames.size()) {
        value /= kKibi;
        ++unit;
    }
    if (unit == 0) {
        return fmt::format("{} B", bytes);
    }
    return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : 1, kNames[unit]);
}

std::string format_seconds(double seconds) {
    if (seconds < 9.995) {
        return fmt::format("{:.2f} s", seconds);
    }
    if (seconds < 119.95) {
        return fmt::format("{:.1f} s", seconds);
    }
    const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
    if (whole < 7200) {
        return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    }
    return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string format_share(double part, double whole) {
    if (!(whole > 0)) {
        return "no share";
    }
    const double percent = 100.0 * part / whole;
    if (part > 0 && percent < 0.05) {
        return "< 0.1 %";
    }
    return percent == 0 ? "0 %" : fmt::format("{:.1f} %", percent);
}

std::string format_count(std::uint64_t count) {
    auto digits = std::to_string(count);
    for (auto at = digits.size(); at > 3; at -= 3) {
        digits.insert(at - 3, 1, ' ');
    }
    return digits;
}

Result<std::uint64_t> parse_size(std::string_view text) {
    constexpr double kKilo = 1000.0;
    constexpr std::array<Unit, 14> kUnits = {{{"", 1},
                                              {"B", 1},
                                              {"K", kKibi},
                                              {"M", kKibi * kKibi},
                                              {"G", kKibi * kKibi * kKibi},
                                              {"T", kKibi * kKibi * kKibi * kKibi},
                                              {"KiB", kKibi},
                                              {"MiB", kKibi * kKibi},
                                              {"GiB", kKibi * kKibi * kKibi},
                                              {"TiB", kKibi * kKibi * kKibi * kKibi},
                                              {"KB", kKilo},
                                              {"MB", kKilo * kKilo},
                                              {"GB", kKilo * kKilo * kKilo},
                                              {"TB", kKilo * kKilo * kKilo * kKilo}}};
    const auto bytes = scaled("read the size", text, kUnits);
    if (!bytes) {
        return std::unexpected(bytes.error());
    }
    if (*bytes >= 18446744073709551616.0) {
        return std::unexpected(
            Error::because("read the size", quoted(text), "more than 2^64 bytes"));
    }
    return static_cast<std::uint64_t>(*bytes);
}

Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
    constexpr std::array<Unit, 6> kUnits = {
        {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"h", 3600}, {"d", 86400}}};
    const auto seconds = scaled("read the duration", text, kUnits);
    if (!seconds) {
        return std::unexpected(seconds.error());
    }
    if (*seconds > 9e9) {
        return std::unexpected(
            Error::because("read the duration", quoted(text), "more than 285 years"));
    }
    return std::chrono::nanoseconds(static_cast<std::int64_t>(*seconds * 1e9));
}

}  // namespace mapdiag
