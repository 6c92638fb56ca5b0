#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "mapdiag/stacks/profile.h"
#include "mapdiag/stacks/reader.h"

namespace mapdiag::stacks {

/// Counts are kept to this many decimals.
inline constexpr unsigned kMostDecimals = 6;

/// A count as it stands at the end of a line.
struct Count {
    Weight whole = 0;
    std::uint32_t millionths = 0;
    bool rounded = false;  ///< had more than kMostDecimals decimals
};

/// One line taken apart. `problem` is set where it can't be used; `stack` then has no meaning.
struct Line {
    std::string_view stack;
    Count count;
    std::optional<Count> second;  ///< a second count after `count`, in a differential file
    std::optional<Problem> problem;
    Weight negative = 0;  ///< how much a refused negative count took away
};

/// Takes `text`, a line without its end, apart. `columns` is 2 where every line has two counts.
Line read_line(std::string_view text, unsigned columns);

/// True for a blank line and a comment.
bool says_nothing(std::string_view text);

/// Without the blanks, tabs and carriage returns at the end.
std::string_view without_end_blanks(std::string_view text);

/// True where the line ends in two numbers, as difffolded writes them.
bool has_two_counts(std::string_view text);

/// Length of `process N:"` where `text` starts so, else 0.
std::size_t process_opening(std::string_view text);

/// Length of the process frame, with its closing quote, at the start of `stack`; 0 where the quote
/// is never closed. A command line may hold `;` and quotes of its own, so the frame ends at the
/// quote before the next process, else at the last quote that ends a frame.
std::size_t process_frame_length(std::string_view stack);

}  // namespace mapdiag::stacks
