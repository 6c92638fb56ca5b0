#pragma once

#include <string>

#include "option_table.h"

namespace mapdiag::cli {

/// A completion script for bash: commands, options, the values of options, files.
std::string bash_completion(const CommandEntry& program);

/// The same for zsh, to be found in $fpath as _mapdiag.
std::string zsh_completion(const CommandEntry& program);

}  // namespace mapdiag::cli
