#pragma once

#include <string>
#include <string_view>

#include "option_table.h"

namespace mapdiag::cli {

/// The man page of the program with all its commands, as roff for man(7).
std::string man_page(const CommandEntry& program, std::string_view version);

/// Plain text as roff that prints exactly it.
std::string roff(std::string_view text);

}  // namespace mapdiag::cli
