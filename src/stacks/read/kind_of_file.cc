#include "kind_of_file.h"

#include <algorithm>

#include "line.h"

namespace mapdiag::stacks {
namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";
constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kWanted =
    "; folded stacks are needed: lines of `frame;frame;frame count`";

std::string_view after_blanks(std::string_view text) {
    const auto first = text.find_first_not_of(kBlanks);
    return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

// A frame may be called `{closure}` or `[unknown]`; a JSON text goes on in another way.
bool is_json(std::string_view text) {
    if (text.starts_with('{')) {
        const auto next = after_blanks(text.substr(1));
        return next.starts_with('"') || next == "}" || next.starts_with("}\n");
    }
    if (text.starts_with('[')) {
        const auto next = after_blanks(text.substr(1));
        return next.starts_with('{') || next.starts_with("[{") || next.starts_with("[\"");
    }
    return false;
}

std::string_view name_of_other(std::string_view block) {
    const auto text = after_blanks(block);
    const auto head = text.substr(0, 1000);
    if (text.starts_with("<svg") || (text.starts_with("<?xml") && head.contains("<svg")) ||
        (text.starts_with("<!DOCTYPE svg"))) {
        return "this is an SVG picture";
    }
    if (text.starts_with("<?xml") || text.starts_with("<!DOCTYPE") ||
        text.starts_with("<!doctype") || text.starts_with("<html")) {
        return "this is an XML or HTML document";
    }
    if (is_json(text)) {
        return "this is JSON (a speedscope or Chrome trace file, or a heap dump)";
    }
    if (block.starts_with("MOJ") && block.size() > 3 &&
        static_cast<unsigned char>(block[3]) < 0x20) {
        return "this is austin's binary MOJO format; convert it with mojo2austin first";
    }
    if (block.starts_with("\xFF\xFE") || block.starts_with("\xFE\xFF")) {
        return "this is UTF-16 text; convert it to UTF-8 first";
    }
    return {};
}

// True where each of the first lines that are stacks at all has two counts. One counter-example
// decides, since a frame itself may end in a number.
unsigned columns_of(std::string_view block) {
    constexpr int kLinesLookedAt = 1000;
    int seen = 0;
    while (!block.empty() && seen < kLinesLookedAt) {
        const auto length = std::min(block.find('\n'), block.size());
        const auto text = without_end_blanks(block.substr(0, length));
        block.remove_prefix(std::min(length + 1, block.size()));
        if (says_nothing(text) || read_line(text, 1).problem) {
            continue;
        }
        if (!has_two_counts(text)) {
            return 1;
        }
        ++seen;
    }
    return seen > 0 ? 2 : 1;
}

}  // namespace

FileKind kind_of_file(std::string_view first_block) {
    FileKind kind;
    if (first_block.starts_with(kUtf8Mark)) {
        kind.skip = kUtf8Mark.size();
        first_block.remove_prefix(kind.skip);
    }
    if (const auto other = name_of_other(first_block); !other.empty()) {
        kind.refused = std::string(other) + std::string(kWanted);
        return kind;
    }
    kind.columns = columns_of(first_block);
    return kind;
}

}  // namespace mapdiag::stacks
