#pragma once

#include <string_view>

namespace mapdiag::cli {

/// The program's own talk: one line on stderr, "mapdiag: <text>" and "mapdiag: warning: <text>".
/// stdout belongs to results.
void say_error(std::string_view text);
void say_warning(std::string_view text);

}  // namespace mapdiag::cli
