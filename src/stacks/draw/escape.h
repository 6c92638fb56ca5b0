#pragma once

#include <string>
#include <string_view>

namespace mapdiag::stacks {

/// Appends `text` as XML character data: valid UTF-8, with what XML can't hold replaced by U+FFFD.
void append_xml(std::string& out, std::string_view text);

/// At most `columns` columns of a fixed-width font, cut at the end with ".." where it is longer;
/// wide characters (Chinese, Japanese, Korean, emoji) take two. `text` is valid UTF-8.
std::string fit_columns(std::string_view text, std::size_t columns);

/// The columns that `text`, valid UTF-8, takes.
std::size_t columns_of(std::string_view text);

/// The first bytes of a frame's text, whole characters, with " ..." where there are more: frames
/// may be of any length, and nobody reads the end of such a one.
std::string shortened(std::string_view text);

}  // namespace mapdiag::stacks
