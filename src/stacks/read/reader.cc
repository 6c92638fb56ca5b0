#include "mapdiag/stacks/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <thread>

#include "block_source.h"
#include "kind_of_file.h"
#include "normalise.h"
#include "parser.h"

namespace mapdiag::stacks {
namespace {

constexpr unsigned kMostThreads = 4;

Error overflow(const std::string& on) {
    return Error::because("add up", on, "the counts are more than 2^64-1 together");
}

Error not_folded(const std::string& shown, std::string_view why) {
    return Error::because("read", shown, std::string(why));
}

/// Reads file after file with the same threads' parsers, so that a frame has one number for each
/// thread whatever the file.
class Reader {
  public:
    explicit Reader(const ReadOptions& options) : options_(options) {
        const auto machine = std::max(1U, std::thread::hardware_concurrency());
        parsers_.resize(options.threads > 0 ? options.threads : std::min(machine, kMostThreads));
        for (auto& parser : parsers_) {
            parser.merge_from = options.merge_from;
        }
    }

    Result<FileNotes> read_file(const std::string& path) {
        auto stream = InputStream::open(path);
        if (!stream) {
            return std::unexpected(stream.error());
        }
        BlockSource source(std::move(*stream),
                           {.size = options_.block_size, .longest_line = options_.longest_line});
        LineFormat format{.columns = 1, .first_of_two = options_.first_of_two_counts};
        if (auto parsed = parse_all(source, format); !parsed) {
            return std::unexpected(parsed.error());
        }
        auto notes = collect_notes();
        notes.shown = source.stream().shown();
        notes.two_counts = format.columns == 2;
        notes.first_of_two = format.first_of_two;
        notes.damage = source.stream().damage();
        return check(std::move(notes));
    }

    Result<Profile> finish(const std::string& on) {
        Profile profile;
        profile.table = std::move(parsers_.front().table);
        if (auto scaled = scale_fractions(profile.decimals, on); !scaled) {
            return std::unexpected(scaled.error());
        }
        for (auto& parser : parsers_) {
            if (!parser.fits() ||
                __builtin_add_overflow(profile.total, parser.total, &profile.total)) {
                return std::unexpected(overflow(on));
            }
            if (&parser != &parsers_.front()) {
                renumber(parser, profile.table);
            }
            if (!parser.part.stacks.empty()) {
                profile.parts.push_back(std::move(parser.part));
            }
        }
        if (profile.total == 0) {
            return std::unexpected(not_folded(on, "all counts are 0"));
        }
        if (stacks_read_ >= options_.merge_from) {
            merge_parts(profile);
        }
        normalise_frames(profile, options_.keep_command_lines);
        return profile;
    }

  private:
    // The first block tells what the file is; only a file with more blocks is worth more threads.
    Result<void> parse_all(BlockSource& source, LineFormat& format) {
        Block block;
        const auto got = source.next(block);
        if (!got) {
            return std::unexpected(got.error());
        }
        const auto kind = kind_of_file(block.text());
        if (!kind.refused.empty()) {
            return std::unexpected(not_folded(source.stream().shown(), kind.refused));
        }
        format.columns = kind.columns;
        const bool alone = block.last;
        parse(parsers_.front(), block, kind.skip, source, format);
        if (alone) {
            return {};
        }
        std::vector<std::optional<Error>> failures(parsers_.size());
        {
            std::vector<std::jthread> helpers;
            for (std::size_t i = 1; i < parsers_.size(); ++i) {
                helpers.emplace_back([&, i] { failures[i] = parse_rest(i, {}, source, format); });
            }
            failures[0] = parse_rest(0, std::move(block), source, format);
        }
        const auto failed =
            std::ranges::find_if(failures, [](const auto& f) { return f.has_value(); });
        return failed == failures.end() ? Result<void>{} : std::unexpected(**failed);
    }

    std::optional<Error> parse_rest(std::size_t parser, Block block, BlockSource& source,
                                    const LineFormat& format) {
        for (;;) {
            const auto got = source.next(block);
            if (!got) {
                return got.error();
            }
            if (!*got) {
                return std::nullopt;
            }
            parse(parsers_[parser], block, 0, source, format);
        }
    }

    static void parse(Parser& parser, const Block& block, std::size_t skip,
                      const BlockSource& source, const LineFormat& format) {
        const bool cut_short = block.last && source.stream().damage().has_value();
        if (block.too_long) {
            parser.skip_line(block.sequence);
        } else {
            parser.parse(block.text().substr(skip), block.sequence, format, cut_short);
        }
    }

    FileNotes collect_notes() {
        FileNotes notes;
        std::vector<BlockNotes> blocks;
        for (auto& parser : parsers_) {
            auto part = parser.take_notes();
            notes.stacks += part.stacks;
            notes.rounded += part.rounded;
            if (__builtin_add_overflow(notes.negative, part.negative, &notes.negative)) {
                notes.negative = std::numeric_limits<Weight>::max();
            }
            for (const auto& [problem, count] : part.bad) {
                notes.bad[problem] += count;
                notes.bad_count += count;
            }
            std::ranges::move(part.blocks, std::back_inserter(blocks));
        }
        stacks_read_ += notes.stacks;
        std::ranges::sort(blocks, {}, &BlockNotes::sequence);
        for (const auto& block : blocks) {
            for (const auto& bad : block.first_bad) {
                if (notes.first_bad.size() < kFirstBadLines) {
                    notes.first_bad.push_back({notes.lines + bad.number, bad.problem});
                }
            }
            notes.lines += block.lines;
        }
        return notes;
    }

    Result<FileNotes> check(FileNotes notes) const {
        if (notes.stacks == 0) {
            return std::unexpected(not_folded(notes.shown, why_unusable(notes)));
        }
        if (options_.strict && notes.bad_count > 0) {
            const auto& first = notes.first_bad.front();
            return std::unexpected(not_folded(
                notes.shown,
                fmt::format("line {}: {} (--strict)", first.number, problem_text(first.problem))));
        }
        if (options_.strict && notes.damage) {
            return std::unexpected(*notes.damage);
        }
        return notes;
    }

    static std::string why_unusable(const FileNotes& notes) {
        if (notes.damage) {
            return "nothing usable: " + notes.damage->text();
        }
        if (notes.lines == 0) {
            return "it is empty: the profiler took no samples, or wrote nothing";
        }
        if (notes.bad_count == 0) {
            return fmt::format("none of its lines ({}) is a stack", notes.lines);
        }
        const auto& first = notes.first_bad.front();
        return fmt::format("none of its lines ({}) is a folded stack with a count; line {}: {}",
                           notes.lines, first.number, problem_text(first.problem));
    }

    // Where any count has a fraction, all weights are counted in a smaller unit.
    Result<void> scale_fractions(unsigned& decimals, const std::string& on) {
        std::uint32_t finest = 1000000;
        for (const auto& parser : parsers_) {
            finest = std::min(finest, parser.finest);
        }
        if (finest == 1000000) {
            return {};
        }
        const Weight unit = 1000000 / finest;
        decimals = static_cast<unsigned>(std::to_string(unit).size() - 1);
        for (auto& parser : parsers_) {
            Weight total = 0;
            bool fits = true;
            auto fraction = parser.fractions.begin();
            for (std::size_t i = 0; i < parser.part.stacks.size(); ++i) {
                auto& weight = parser.part.stacks[i].weight;
                fits = !__builtin_mul_overflow(weight, unit, &weight) && fits;
                if (fraction != parser.fractions.end() && fraction->stack == i) {
                    fits =
                        !__builtin_add_overflow(weight, fraction->millionths / finest, &weight) &&
                        fits;
                    ++fraction;
                }
                fits = !__builtin_add_overflow(total, weight, &total) && fits;
            }
            if (!fits) {
                return std::unexpected(
                    Error::because("add up", on,
                                   fmt::format("the counts are too large to be added with {}",
                                               counted(decimals, "decimal"))));
            }
            parser.total = total;
        }
        return {};
    }

    static void renumber(Parser& parser, FrameTable& table) {
        std::vector<FrameId> numbers(parser.table.id_limit());
        for (std::uint32_t id = 1; id < numbers.size(); ++id) {
            numbers[id] = table.intern(parser.table.text({id}));
        }
        for (auto& frame : parser.part.frames) {
            frame = numbers[frame.value];
        }
        parser.table = {};
    }

    // A thread may have merged its own stacks by now. Which ones it had is a matter of chance, so
    // all are merged then: what is counted in stacks must not depend on that.
    static void merge_parts(Profile& profile) {
        auto& all = profile.parts.front();
        for (std::size_t i = 1; i < profile.parts.size(); ++i) {
            const auto& part = profile.parts[i];
            const auto before = all.frames.size();
            all.frames.insert(all.frames.end(), part.frames.begin(), part.frames.end());
            for (const auto& stack : part.stacks) {
                all.stacks.push_back({.end = before + stack.end, .weight = stack.weight});
            }
            profile.parts[i] = {};
        }
        profile.parts.resize(1);
        std::vector<Fraction> none;
        merge_equal_stacks(all, none);
    }

    const ReadOptions& options_;
    std::deque<Parser> parsers_;
    std::uint64_t stacks_read_ = 0;
};

}  // namespace

std::string_view problem_text(Problem problem) {
    switch (problem) {
        case Problem::no_count:
            return "there is no count at its end";
        case Problem::no_stack:
            return "there is no blank between a stack and a count";
        case Problem::negative_count:
            return "its count is negative, as in austin's memory mode; a share of a whole can't be "
                   "made of it";
        case Problem::large_count:
            return "its count is more than 2^64-1";
        case Problem::austin_full_metrics:
            return "it has three metrics, as in austin's full mode; record one metric, or split "
                   "the "
                   "file by metric first";
        case Problem::one_count_of_two:
            return "it has one count where the other lines have two";
        case Problem::open_command_line:
            return "the quote of its process frame is never closed";
        case Problem::cut_short:
            return "the data ends within it, so its count can't be known";
        case Problem::too_long:
            return "it is longer than 1.5 GiB";
    }
    return "it can't be read";
}

Result<Read> read_profile(const std::vector<std::string>& paths, const ReadOptions& options) {
    Reader reader(options);
    Read read;
    for (const auto& path : paths) {
        auto notes = reader.read_file(path);
        if (!notes) {
            return std::unexpected(notes.error());
        }
        read.files.push_back(std::move(*notes));
    }
    const auto on =
        paths.size() == 1 ? read.files.front().shown : fmt::format("the {} files", paths.size());
    auto profile = reader.finish(on);
    if (!profile) {
        return std::unexpected(profile.error());
    }
    read.profile = std::move(*profile);
    return read;
}

namespace {

std::string weight_left_out(const FileNotes& notes) {
    const auto negative = notes.bad.find(Problem::negative_count);
    if (negative == notes.bad.end()) {
        return "what they weigh is not known";
    }
    const auto refused = fmt::format("their negative counts are -{} together", notes.negative);
    return negative->second == notes.bad_count ? refused
                                               : refused + ", what the others weigh is not known";
}

}  // namespace

std::vector<std::string> describe(const FileNotes& notes) {
    std::vector<std::string> lines;
    if (notes.damage) {
        lines.push_back(notes.damage->text());
    }
    if (notes.bad_count > 0) {
        lines.push_back(fmt::format("{}: {} of {} left out, {} used; {}", notes.shown,
                                    notes.bad_count, counted(notes.lines, "line"), notes.stacks,
                                    weight_left_out(notes)));
        for (const auto& bad : notes.first_bad) {
            lines.push_back(
                fmt::format("{}:{}: {}", notes.shown, bad.number, problem_text(bad.problem)));
        }
        if (notes.bad_count > notes.first_bad.size()) {
            lines.push_back(fmt::format("{}: and {} more", notes.shown,
                                        notes.bad_count - notes.first_bad.size()));
        }
    }
    if (notes.two_counts) {
        lines.push_back(
            fmt::format("{}: every line has two counts (before and after); the {} is used",
                        notes.shown, notes.first_of_two ? "first" : "second"));
    }
    if (notes.rounded > 0) {
        lines.push_back(fmt::format("{}: {} rounded to {} decimals", notes.shown,
                                    counted(notes.rounded, "count"), kMostDecimals));
    }
    return lines;
}

}  // namespace mapdiag::stacks
