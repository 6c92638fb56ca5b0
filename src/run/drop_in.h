#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mapdiag/record/profile.h"

namespace mapdiag::run {

/// A command of a recipe that starts its program through `py-spy record`, taken apart.
struct RecordCall {
    /// The command without `py-spy record` and its options.
    std::vector<std::string> command;
    /// What those options ask for; py-spy's own defaults where they say nothing (100 a second, busy
    /// threads only).
    record::ProfilerSettings settings;
    std::optional<std::string> output;
    /// The option that mapdiag has nothing for ("--threads"): the command has to stay as it is, and
    /// the other members say nothing.
    std::string obstacle;
};

/// Finds `py-spy record` at a place where it is started: as the command itself, or behind programs
/// that only start another one (env, nice, uv run, ...). A tool runner (uvx, uv tool run, pipx run)
/// that provides nothing but py-spy is taken out with it. Nothing where there is none.
std::optional<RecordCall> find_record_call(const std::vector<std::string>& command);

/// The warning for a command that stays as it is.
std::string left_as_it_is(const std::string& obstacle);

}  // namespace mapdiag::run
