#include "parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "merge.h"
#include "record.h"

namespace mapdiag::stacks {
namespace {

Weight add_at_most(Weight a, Weight b) {
    Weight sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<Weight>::max() : sum;
}

// A frame of blanks only is as nameless as an empty one.
bool is_blank(std::string_view frame) {
    return (frame.front() == ' ' || frame.front() == '\t') &&
           frame.find_first_not_of(" \t") == std::string_view::npos;
}

// The start of a frame that no compiler made, with its size and a number made of all of it, so that
// others that begin like it stay others. FNV-1a.
std::string cut_frame(std::string_view frame) {
    std::uint64_t number = 14695981039346656037ULL;
    for (const char c : frame) {
        number = (number ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    }
    return fmt::format("{} [... {} bytes, {:016x}]", frame.substr(0, kKeptOfLongFrame),
                       frame.size(), number);
}

}  // namespace

void Parser::parse(std::string_view block, std::uint64_t sequence, const LineFormat& format,
                   bool cut_short) {
    BlockNotes notes{.sequence = sequence};
    while (!block.empty()) {
        auto length = std::min(block.find('\n'), block.size());
        std::uint64_t lines = 1;
        if (process_opening(block) > 0) {
            if (const auto whole = process_record_length(block); whole > length) {
                const auto record = block.substr(0, whole);
                lines += static_cast<std::uint64_t>(std::ranges::count(record, '\n'));
                length = whole;
            }
        }
        ++notes.lines;
        if (cut_short && length == block.size()) {
            note_bad(Problem::cut_short, notes.lines, notes);
        } else {
            parse_line(block.substr(0, length), format, notes);
        }
        notes.lines += lines - 1;
        block.remove_prefix(std::min(length + 1, block.size()));
    }
    notes_.blocks.push_back(std::move(notes));
    if (part.stacks.size() >= merge_from) {
        merge_equal();
    }
}

void Parser::skip_line(std::uint64_t sequence) {
    BlockNotes notes{.sequence = sequence, .lines = 1};
    note_bad(Problem::too_long, 1, notes);
    notes_.blocks.push_back(std::move(notes));
}

// A profiler that writes a line a sample repeats few stacks millions of times.
void Parser::merge_equal() {
    const auto carried = merge_equal_stacks(part, fractions);
    fits_ = !__builtin_add_overflow(total, carried, &total) && fits_;
    merge_from = std::max(merge_from, part.stacks.size() * 2);
}

void Parser::parse_line(std::string_view text, const LineFormat& format, BlockNotes& block) {
    text = without_end_blanks(text);
    if (says_nothing(text)) {
        return;
    }
    auto line = read_line(text, format.columns);
    if (!line.problem && process_opening(line.stack) > 0 && process_frame_length(line.stack) == 0) {
        line.problem = Problem::open_command_line;
    }
    if (line.problem) {
        notes_.negative = add_at_most(notes_.negative, line.negative);
        note_bad(*line.problem, block.lines, block);
        return;
    }
    const auto& count = line.second && !format.first_of_two ? *line.second : line.count;
    add_stack(line.stack, count);
}

void Parser::add_stack(std::string_view stack, const Count& count) {
    const auto first = part.frames.size();
    add_frames(stack);
    if (part.frames.size() == first) {
        part.frames.push_back(table.intern(kNoFrames));
    }
    if (count.millionths > 0) {
        while (count.millionths % finest != 0) {
            finest /= 10;
        }
        fractions.push_back({.stack = part.stacks.size(), .millionths = count.millionths});
    }
    notes_.rounded += count.rounded ? 1 : 0;
    part.stacks.push_back({.end = part.frames.size(), .weight = count.whole});
    fits_ = !__builtin_add_overflow(total, count.whole, &total) && fits_;
    ++notes_.stacks;
}

void Parser::add_frames(std::string_view stack) {
    const char* at = stack.data();
    const char* const end = at + stack.size();
    while (at < end) {
        auto left = static_cast<std::size_t>(end - at);
        const char* stop = nullptr;
        if (*at == 'p') {
            if (const std::string_view rest(at, left); process_opening(rest) > 0) {
                const auto length = process_frame_length(rest);
                stop = length > 0 ? at + length : nullptr;
            }
        }
        if (stop == nullptr) {
            stop = static_cast<const char*>(std::memchr(at, ';', left));
        }
        if (stop == nullptr) {
            stop = end;
        }
        const std::string_view frame(at, static_cast<std::size_t>(stop - at));
        if (frame.size() > kLongestFrame) {
            add_pending();
            part.frames.push_back(table.intern(cut_frame(frame)));
        } else if (!frame.empty() && !is_blank(frame)) {
            pending_.push_back(frame);
            if (pending_.size() == FrameTable::kMostAtOnce) {
                add_pending();
            }
        }
        at = stop + 1;
    }
    add_pending();
}

void Parser::add_pending() {
    table.intern(pending_, part.frames);
    pending_.clear();
}

void Parser::note_bad(Problem problem, std::uint64_t line, BlockNotes& block) {
    ++notes_.bad[problem];
    if (block.first_bad.size() < kFirstBadLines) {
        block.first_bad.push_back({.number = line, .problem = problem});
    }
}

ParserNotes Parser::take_notes() {
    return std::exchange(notes_, {});
}

}  // namespace mapdiag::stacks
