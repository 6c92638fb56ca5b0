#pragma once

#include "app.h"

namespace mapdiag::cli {

/// The commands that read folded profiles.
void add_top_command(CLI::App& app, Action& chosen);
void add_diff_command(CLI::App& app, Action& chosen);
void add_flamegraph_command(CLI::App& app, Action& chosen);
void add_export_command(CLI::App& app, Action& chosen);

}  // namespace mapdiag::cli
