#pragma once

#include "app.h"

namespace mapdiag::cli {

/// `mapdiag heap ...`: questions about heap dumps.
void add_heap_command(CLI::App& app, Action& chosen);

}  // namespace mapdiag::cli
