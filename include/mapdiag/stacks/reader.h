#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mapdiag/stacks/profile.h"
#include "mapdiag/support/error.h"

namespace mapdiag::stacks {

/// Why a line can't be used.
enum class Problem {
    no_count,
    no_stack,
    negative_count,
    large_count,
    austin_full_metrics,
    one_count_of_two,
    open_command_line,
    cut_short,
    too_long,
};

/// The reason in words, for a person: "there is no count at its end".
std::string_view problem_text(Problem problem);

struct BadLine {
    std::uint64_t number = 0;  ///< 1 and up
    Problem problem = Problem::no_count;
};

/// What the reader has to say about one file.
struct FileNotes {
    std::string shown;  ///< the path, or "standard input"
    std::uint64_t lines = 0;
    std::uint64_t stacks = 0;
    std::uint64_t bad_count = 0;
    std::vector<BadLine> first_bad;        ///< the first few, by number
    std::map<Problem, std::uint64_t> bad;  ///< how many of each kind
    Weight negative = 0;          ///< what refused negative counts add up to, at most 2^64-1
    std::uint64_t rounded = 0;    ///< counts with more decimals than are kept
    bool two_counts = false;      ///< every line has two counts, of which the second was taken
    bool first_of_two = false;    ///< or, as asked for, the first
    std::optional<Error> damage;  ///< packed data that ended early
};

/// A line is held in memory as a whole, so there is an end to what packed data can make of it.
inline constexpr std::size_t kLongestLine = 3ULL << 29U;
inline constexpr std::size_t kMergeFrom = 1U << 21U;

struct ReadOptions {
    bool strict = false;  ///< any bad line is an error
    bool keep_command_lines =
        false;  ///< else `process N:"python x.py"` becomes `process N (python)`
    bool first_of_two_counts = false;  ///< takes the first count of a differential file
    unsigned threads = 0;              ///< 0: as many as the machine has, at most four
    std::size_t block_size = 1U << 20;
    std::size_t longest_line = kLongestLine;
    std::size_t merge_from = kMergeFrom;  ///< stacks of a thread from which equal ones are merged
};

struct Read {
    Profile profile;
    std::vector<FileNotes> files;
};

/// Reads several files ("-": standard input) as one profile. Fails where a file can't be read, is
/// no folded profile or has nothing usable, and where the counts add up to more than 2^64-1.
Result<Read> read_profile(const std::vector<std::string>& paths, const ReadOptions& options = {});

/// What a person should know about the reading of a file, a line each: lines left out, with the
/// first few by number and reason; never a part of a line itself. Nothing where all went well.
std::vector<std::string> describe(const FileNotes& notes);

}  // namespace mapdiag::stacks
