#pragma once

#include "app.h"

namespace mapdiag::cli {

/// `mapdiag heap convert`: a dump written anew, or as tables.
void add_convert_command(CLI::App& heap, Action& chosen);

}  // namespace mapdiag::cli
