#pragma once

#include <CLI/CLI.hpp>

#include "mapdiag/run/plan.h"

namespace mapdiag::cli {

/// Adds --memory-limit, --time-limit, --kill-after, --cpu-limit and --last-gasp to `run`.
void add_containment_options(CLI::App& run, run::RunOptions& options);

}  // namespace mapdiag::cli
