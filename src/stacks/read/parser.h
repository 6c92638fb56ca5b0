#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "line.h"
#include "mapdiag/stacks/profile.h"
#include "mapdiag/stacks/reader.h"
#include "merge.h"

namespace mapdiag::stacks {

/// How many bad lines are kept with number and reason.
inline constexpr std::size_t kFirstBadLines = 5;

/// What one thread found in one file. Line numbers are still relative to the block.
struct BlockNotes {
    std::uint64_t sequence = 0;
    std::uint64_t lines = 0;
    std::vector<BadLine> first_bad;
};

struct ParserNotes {
    std::vector<BlockNotes> blocks;
    std::map<Problem, std::uint64_t> bad;
    std::uint64_t stacks = 0;
    Weight negative = 0;
    std::uint64_t rounded = 0;
};

/// A frame longer than this is cut to its first bytes, with its size and a number in their place.
inline constexpr std::size_t kLongestFrame = 1U << 17;
inline constexpr std::size_t kKeptOfLongFrame = 1000;

/// How the lines of the file at hand are to be read.
struct LineFormat {
    unsigned columns = 1;
    bool first_of_two = false;
};

/// Takes blocks of folded lines apart. One for each thread: nothing is shared.
class Parser {
  public:
    /// `cut_short`: the data ended early, so that a last line without an end can't be trusted.
    void parse(std::string_view block, std::uint64_t sequence, const LineFormat& format,
               bool cut_short);

    /// Notes a line that was not even held.
    void skip_line(std::uint64_t sequence);

    /// Hands over what was noted since the last call: the notes of one file.
    ParserNotes take_notes();
    /// False when the counts of this thread alone were more than 2^64-1.
    bool fits() const { return fits_; }

    FrameTable table;
    StackPart part;
    std::vector<Fraction> fractions;
    Weight total = 0;                ///< of the whole parts of the counts
    std::uint32_t finest = 1000000;  ///< millionths in the smallest unit that any count needs
    std::size_t merge_from = kMergeFrom;

  private:
    void parse_line(std::string_view text, const LineFormat& format, BlockNotes& block);
    void add_stack(std::string_view stack, const Count& count);
    void add_frames(std::string_view stack);
    void add_pending();
    void merge_equal();
    void note_bad(Problem problem, std::uint64_t line, BlockNotes& block);

    ParserNotes notes_;
    std::vector<std::string_view> pending_;  ///< frames of the line at hand
    bool fits_ = true;
};

}  // namespace mapdiag::stacks
