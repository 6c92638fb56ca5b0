#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mapdiag {

/// Without blanks, tabs and line ends on both sides.
std::string_view trim(std::string_view text);

/// The parts between separators; "a::b" at ':' gives three, "" gives one empty part.
std::vector<std::string_view> split(std::string_view text, char separator);

/// The words between runs of blanks, tabs and line ends.
std::vector<std::string_view> split_words(std::string_view text);

/// A whole decimal number that fills the text; nothing for signs, blanks, junk or overflow.
std::optional<std::uint64_t> find_u64(std::string_view text);
/// The same with an optional leading '-'.
std::optional<std::int64_t> find_i64(std::string_view text);

/// ASCII letters only.
bool equals_ignoring_case(std::string_view a, std::string_view b);

/// The value after "key " on the line that starts with it, in a kernel file such as memory.stat.
std::optional<std::uint64_t> find_key_value(std::string_view file, std::string_view key);

/// Safe to print on a terminal or in a log line: control characters, DEL and bytes that are not
/// UTF-8 become \xNN (line ends \n, tabs \t); everything else stays.
std::string printable(std::string_view text);

/// printable() in double quotes.
std::string quoted(std::string_view text);

/// Valid UTF-8 with every bad byte replaced by U+FFFD, as JSON and XML need it.
std::string to_valid_utf8(std::string_view bytes);

/// The number of bytes of the valid UTF-8 character at the start of `bytes`, 0 where it is none
/// (overlong forms, surrogates and code points over U+10FFFF are none).
std::size_t utf8_length(std::string_view bytes);

}  // namespace mapdiag
