#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "mapdiag/support/error.h"

namespace mapdiag {

/// Bytes for a person, in binary units with three significant digits: "0 B", "812 KiB",
/// "104.9 MiB", "8.00 GiB".
std::string format_bytes(std::uint64_t bytes);

/// A duration for a person: "0.84 s", "12.3 s", "4 min 05 s", "2 h 07 min".
std::string format_seconds(double seconds);

/// A share for a person, part / whole: "26.2 %". "0 %" only for exactly nothing; a whole of 0 gives
/// "no share".
std::string format_share(double part, double whole);

/// A whole number with blanks between thousands: "1 234 567".
std::string format_count(std::uint64_t count);

/// Reads "512", "512K", "1.5G", "2GiB", "100MB" as bytes. K, M, G, T and KiB... are powers of 1024,
/// as for the kernel's own cgroup files; KB, MB, ... are powers of 1000.
Result<std::uint64_t> parse_size(std::string_view text);

/// Reads "30", "1.5s", "250ms", "2m", "1h", "1d" as a duration; a bare number means seconds.
Result<std::chrono::nanoseconds> parse_duration(std::string_view text);

}  // namespace mapdiag
