#pragma once

#include "app.h"

namespace mapdiag::cli {

/// `mapdiag timeline`: one run over time, from its journal.
void add_timeline_command(CLI::App& app, Action& chosen);

}  // namespace mapdiag::cli
