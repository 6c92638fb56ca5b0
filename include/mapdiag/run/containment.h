#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "mapdiag/support/error.h"

namespace mapdiag::run {

/// What the command line says about limits, as it was typed.
struct ContainmentOptions {
    std::optional<std::string> memory_limit;
    std::optional<std::string> time_limit;
    std::optional<std::string> kill_after;
    std::optional<std::string> cpu_limit;
};

/// --memory-limit: a size in bytes, a share of what is there, or a little under what is left.
struct LimitBytes {
    std::uint64_t bytes;
};
struct LimitShare {
    double share;  ///< above 0, at most 1
};
struct LimitAuto {};
using MemoryLimit = std::variant<LimitBytes, LimitShare, LimitAuto>;

/// What the job is held to.
struct Containment {
    std::optional<MemoryLimit> memory;
    std::optional<std::chrono::nanoseconds> time;
    std::chrono::nanoseconds kill_after = std::chrono::seconds(10);
    std::optional<double> cores;

    bool any() const { return memory || time || cores; }
    /// Needs a cgroup of the job's own.
    bool needs_group() const { return memory || cores; }
};

/// An error is a wrong use.
Result<Containment> read_containment(const ContainmentOptions& options);

/// --last-gasp: a share of the memory limit in percent, "90" or "90%"; 0 is never.
Result<std::optional<double>> read_last_gasp(const std::optional<std::string>& text);

/// The limit in bytes, a whole number of pages. `whole`: the smallest limit above the job or, where
/// there is none, the machine's memory; `room`: what is left of it.
std::uint64_t memory_limit_bytes(const MemoryLimit& limit, std::uint64_t whole, std::uint64_t room);

/// What DuckDB may take of a job that has `bytes`: four fifths, as linkml-map itself takes of a
/// limit that it finds; in whole MiB and with the unit that DuckDB wants: "819MiB".
std::string duckdb_limit(std::uint64_t bytes);

}  // namespace mapdiag::run
