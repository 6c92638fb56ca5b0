#pragma once

#include <cstddef>
#include <string_view>

namespace mapdiag::stacks {

/// A command line is at most this long here; the kernel allows 2 MiB, python -c rarely sees more
/// than a few kilobytes.
inline constexpr std::size_t kLongestRecord = 1U << 16;

/// True where `text`, whole lines of which the first begins with a process frame, ends before the
/// record that begins there does: the frame's quote is still open.
bool record_is_open(std::string_view text);

/// Length of the record at the start of `text`, without its line end: one line, or several where a
/// process frame holds line ends. 0 where the frame's quote is never closed.
std::size_t process_record_length(std::string_view text);

}  // namespace mapdiag::stacks
