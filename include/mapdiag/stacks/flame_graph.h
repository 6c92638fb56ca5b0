#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mapdiag/stacks/profile.h"
#include "mapdiag/stacks/tree.h"
#include "mapdiag/support/error.h"

namespace mapdiag::stacks {

enum class Palette { warm, cool, module, grey };

/// Takes a piece of the output; a failure ends the drawing.
using Sink = std::function<Result<void>(std::string_view)>;

struct SvgOptions {
    std::string title = "Flame graph";
    std::vector<std::string> subtitles;  ///< small lines below the title
    Palette palette = Palette::warm;
    bool icicle = false;  ///< the root at the top
};

/// Draws one self-contained SVG: no reference to anything outside of it; zoom, search and keys by a
/// script of its own, and a picture without one. The same tree gives the same bytes.
Result<void> write_flame_svg(const Tree& tree, const Profile& profile, const SvgOptions& options,
                             const Sink& sink);

struct TextOptions {
    std::size_t width = 100;  ///< columns
    bool colour = false;
};

/// The same picture as an indented tree of the heaviest paths, for a terminal.
std::string draw_flame_text(const Tree& tree, const Profile& profile, const TextOptions& options);

}  // namespace mapdiag::stacks
