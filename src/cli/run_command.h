#pragma once

#include "app.h"

namespace mapdiag::cli {

/// The options of `run`, for --help, the man page and the completions.
void add_run_command(CLI::App& app, Action& chosen);

/// `mapdiag run [options] [--] COMMAND...`. The command's own words never pass through the option
/// parser, which would read some of them ("[a,b]") in its own way. Gives the exit status, where
/// mapdiag is not replaced or ended in the job's place.
int run_the_run_command(int argc, char** argv);

}  // namespace mapdiag::cli
