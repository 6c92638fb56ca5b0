// A sample, as py-spy writes it for `python -c` with a program of several lines:
//
//   process 21416:"python -c import time
//   spin()  # 42
//   ";<module> (<string>:6);spin (<string>:4) 81
//
// The second line looks like a stack of its own. It is none: the quote is open.
#include "record.h"

#include <algorithm>

#include "line.h"

namespace mapdiag::stacks {
namespace {

// The quote is closed and a count follows.
bool is_whole(std::string_view record) {
    const auto line = read_line(without_end_blanks(record), 1);
    return !line.problem && process_frame_length(line.stack) > 0;
}

}  // namespace

std::size_t process_record_length(std::string_view text) {
    std::size_t end = 0;
    while (end < std::min(text.size(), kLongestRecord)) {
        end = std::min(text.find('\n', end), text.size());
        if (is_whole(text.substr(0, end))) {
            return end;
        }
        // A line that begins with a process frame begins a new record.
        if (end >= text.size() || process_opening(text.substr(end + 1)) > 0) {
            return 0;
        }
        ++end;
    }
    return 0;
}

bool record_is_open(std::string_view text) {
    return process_record_length(text) == 0 && text.size() < kLongestRecord;
}

}  // namespace mapdiag::stacks
