#pragma once

#include <string_view>

namespace mapdiag::stacks {

/// The style rules of the page around the frames.
std::string_view page_styles();

/// The script of the picture: zoom, search, keys. Plain ECMAScript 2015 without a library.
std::string_view page_script();

}  // namespace mapdiag::stacks
