#include "folded_merge.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <optional>
#include <vector>

#include "mapdiag/support/output_file.h"
#include "mapdiag/support/text.h"

#include "python_programs.h"

namespace mapdiag::run {
namespace {

// A line that never ends in a count is given up after this much.
constexpr std::size_t kLongestStack = 4U << 20;
constexpr std::string_view kProcess = "process ";

struct Stack {
    std::string_view frames;
    std::uint64_t count;
};

// process 21392:"python a.py";<module> (a.py:3);work (a.py:1) 12
// The count stands behind the last blank.
std::optional<Stack> find_stack(std::string_view line) {
    const auto blank = line.rfind(' ');
    if (blank == std::string_view::npos) {
        return std::nullopt;
    }
    const auto count = find_u64(line.substr(blank + 1));
    if (!count) {
        return std::nullopt;
    }
    return Stack{line.substr(0, blank), *count};
}

// The length of `process N:"` at the start, 0 where it is none; `pid` is N.
std::size_t process_frame_start(std::string_view text, std::string_view* pid) {
    if (!text.starts_with(kProcess)) {
        return 0;
    }
    const auto digits = text.substr(kProcess.size());
    const auto end = std::ranges::find_if_not(
        digits, [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
    const auto length = static_cast<std::size_t>(end - digits.begin());
    if (length == 0 || !digits.substr(length).starts_with(":\"")) {
        return 0;
    }
    *pid = digits.substr(0, length);
    return kProcess.size() + length + 2;
}

// A command line is quoted without escapes: it may hold quotes, ';' and line ends, and pieces that
// look like frames. Only the last `";` can be trusted to stand behind it.
std::size_t end_of_command_lines(std::string_view frames) {
    const auto end = frames.rfind("\";");
    if (end != std::string_view::npos) {
        return end + 2;
    }
    return frames.ends_with('"') ? frames.size() : std::string_view::npos;
}

// A stack whose command line or last name goes on in the next line: `<module> (odd` of a file name
// with a line end in it, or `process 7:"python -c ...`.
bool is_torn(std::string_view frames) {
    std::string_view pid;
    if (const auto start = process_frame_start(frames, &pid); start != 0) {
        const auto end = end_of_command_lines(frames);
        return end == std::string_view::npos || end <= start;
    }
    const auto last = frames.substr(frames.rfind(';') + 1);
    return last.find(" (") != std::string_view::npos && !last.ends_with(')');
}

// The program's name out of a command line: its first word, without the folder.
std::string program_in(std::string_view command_line) {
    const auto end = command_line.find_first_of(" \t\n\";");
    const auto name = file_name(command_line.substr(0, end));
    return name.empty() ? "?" : printable(name.substr(0, 80));
}

// process 1:"sh -c x";process 2:"python y";f (y:1)  ->  process 1 (sh);process 2 (python);f (y:1)
std::string without_command_lines(std::string_view frames) {
    std::string_view pid;
    if (process_frame_start(frames, &pid) == 0) {
        return std::string(frames);
    }
    const auto end = std::min(end_of_command_lines(frames), frames.size());
    std::string reduced;
    for (std::size_t at = 0; at < end;) {
        const auto start = process_frame_start(frames.substr(at, end - at), &pid);
        if (start != 0) {
            const auto line = frames.substr(at + start, end - at - start);
            reduced += reduced.empty() ? "" : ";";
            reduced += std::string(kProcess) + std::string(pid) + " (" + program_in(line) + ")";
        }
        const auto next = frames.find("\";", at + start);
        at = next == std::string_view::npos ? end : next + 2;
    }
    const auto rest = frames.substr(end);
    return rest.empty() ? reduced : reduced + ';' + std::string(rest);
}

// What is read of a raw file, line by line: pieces of a torn line are kept until it is whole.
class LineReader {
  public:
    explicit LineReader(RawCounts& counts) : counts_(counts) {}

    // The stack that is complete with this line. Its frames live until the next call.
    std::optional<Stack> take(std::string_view line) {
        const bool mended = pieces_ > 0;
        if (mended) {
            // A line end in a name can't stay: it becomes visible.
            whole_ += "\\n";
        }
        whole_ = mended ? whole_ + std::string(line) : std::string(line);
        const auto stack = find_stack(whole_);
        if (stack && !is_torn(stack->frames)) {
            counts_.mended_lines += mended ? 1 : 0;
            pieces_ = 0;
            return stack;
        }
        pieces_ = whole_.empty() ? 0 : pieces_ + 1;
        if (whole_.size() > kLongestStack) {
            finish();
        }
        return std::nullopt;
    }
    void finish() {
        counts_.lost_lines += pieces_;
        pieces_ = 0;
        whole_.clear();
    }

  private:
    RawCounts& counts_;
    std::string whole_;
    std::uint64_t pieces_ = 0;
};

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
    return b > std::numeric_limits<std::uint64_t>::max() - a
               ? std::numeric_limits<std::uint64_t>::max()
               : a + b;
}

}  // namespace

RawCounts FoldedMerge::add(std::string_view raw, const std::string& root) {
    RawCounts counts;
    LineReader reader(counts);
    while (!raw.empty()) {
        const auto end = std::min(raw.find('\n'), raw.size());
        const auto stack = reader.take(raw.substr(0, end));
        raw.remove_prefix(std::min(end + 1, raw.size()));
        if (!stack || stack->count == 0) {
            continue;
        }
        counts.samples = sum(counts.samples, stack->count);
        if (stack->frames.empty()) {
            counts.without_frame = sum(counts.without_frame, stack->count);
        }
        count(root + (stack->frames.empty() ? std::string(kNoFrame)
                                            : without_command_lines(stack->frames)),
              stack->count);
    }
    reader.finish();
    samples_ = sum(samples_, counts.samples);
    without_frame_ = sum(without_frame_, counts.without_frame);
    return counts;
}

void FoldedMerge::count(std::string stack, std::uint64_t count) {
    auto& total = counts_[std::move(stack)];
    total = sum(total, count);
}

Result<void> FoldedMerge::write(const std::string& path) const {
    std::vector<const std::pair<const std::string, std::uint64_t>*> sorted;
    sorted.reserve(counts_.size());
    for (const auto& entry : counts_) {
        sorted.push_back(&entry);
    }
    std::ranges::sort(sorted, {},
                      [](const auto* entry) -> const std::string& { return entry->first; });
    auto file = OutputFile::create(path);
    if (!file) {
        return std::unexpected(file.error());
    }
    for (const auto* entry : sorted) {
        if (auto written = file->write(entry->first + ' ' + std::to_string(entry->second) + '\n');
            !written) {
            return written;
        }
    }
    return file->commit();
}

}  // namespace mapdiag::run
