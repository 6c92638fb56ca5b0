#pragma once

#include <string>
#include <string_view>

#include "mapdiag/stacks/flame_graph.h"

namespace mapdiag::stacks {

/// The style class of a frame: two frames of one function have one colour in every picture.
std::string_view colour_class(std::string_view frame, Palette palette);

/// The style class of a change of share: `level` from -10 (blue, much less) to 10 (red, much more).
std::string_view change_class(int level);

/// The style rules of those classes, for light and for dark.
std::string palette_styles(Palette palette, bool changes);

}  // namespace mapdiag::stacks
