#pragma once

#include <cstddef>
#include <optional>

namespace mapdiag {

inline constexpr int kStandardOutput = 1;

/// True where the descriptor is a terminal.
bool is_terminal(int fd);

/// Its width in columns; nothing where it is no terminal or does not tell.
std::optional<std::size_t> terminal_width(int fd);

/// When to use colour: as the user said, else on a terminal whose user did not set NO_COLOR
/// (https://no-color.org) and whose TERM is not "dumb".
enum class ColourChoice { automatic, always, never };
bool use_colour(ColourChoice choice, int fd);

}  // namespace mapdiag
