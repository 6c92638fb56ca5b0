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
};

/// Adds the options to the table of `run`; parsing fills `flags`.
void add_profiler_options(CLI::App& run, ProfilerFlags& flags);

}  // namespace mapdiag::cli
