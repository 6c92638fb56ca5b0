#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "mapdiag/record/profile.h"

namespace mapdiag::cli {

/// The profiler's part of the command line of `mapdiag run`.
struct ProfilerFlags {
    bool on = true;      ///< false with --profiler none
    std::string py_spy;  ///< --py-spy; empty: look for it
    record::ProfilerSettings settings;
    bool rate_given = false;  ///< --rate was, so that no other rate counts
    bool idle_given = false;  ///< --idle or --cpu was
};

/// Adds the options to the table of `run`; parsing fills `flags`.
void add_profiler_options(CLI::App& run, ProfilerFlags& flags);

/// The settings of a `py-spy record` that the command had; what was given to mapdiag itself wins.
record::ProfilerSettings settings_with(const ProfilerFlags& flags,
                                       const record::ProfilerSettings& taken_over);

}  // namespace mapdiag::cli
