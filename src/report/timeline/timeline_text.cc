#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "columns.h"
#include "mapdiag/support/units.h"

namespace mapdiag::report {
namespace {

constexpr std::size_t kRows = 10;
constexpr std::size_t kLabel = 11;  ///< columns before the picture: "1023.9 MiB "
constexpr std::size_t kNarrowest = 20;

// Eighths of a character's height, from empty to full.
constexpr std::array<const char*, 9> kBlocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

// How much of row `row` (0: the lowest) a bar of `share` of the whole height fills, in eighths.
std::size_t eighths(double share, std::size_t row, std::size_t rows) {
    const auto filled = share * static_cast<double>(rows) - static_cast<double>(row);
    const auto part = static_cast<std::size_t>(std::lround(std::clamp(filled, 0.0, 1.0) * 8));
    // What is there is to be seen.
    return row == 0 && share > 0 ? std::max<std::size_t>(part, 1) : part;
}

std::string label(std::string_view text) {
    return fmt::format("{:>{}} ", text, kLabel - 1);
}

std::string memory_rows(const Timeline& timeline, std::size_t width) {
    const auto columns = memory_columns(timeline, width);
    const auto top = top_of(timeline);
    std::string text;
    for (std::size_t up = kRows; up-- > 0;) {
        const auto limit_share =
            shows_limit(timeline) ? static_cast<double>(*timeline.limit) / top : -1;
        const bool limit_row =
            limit_share > 0 &&
            static_cast<std::size_t>(std::ceil(limit_share * static_cast<double>(kRows))) == up + 1;
        text += label(up + 1 == kRows ? format_bytes(static_cast<std::uint64_t>(top))
                      : up == 0       ? "0 B"
                                      : "");
        text += "│";
        for (const auto& column : columns) {
            const auto part = column ? eighths(*column / top, up, kRows) : 0;
            text += part == 0 && limit_row ? "╌" : kBlocks[part];
        }
        text += limit_row ? " limit\n" : "\n";
    }
    return text;
}

std::string cpu_row(const Timeline& timeline, std::size_t width) {
    const auto columns = cpu_columns(timeline, width);
    if (columns.empty()) {
        return label("cores") + "│not available\n";
    }
    double highest = 0;
    for (const auto& column : columns) {
        highest = std::max(highest, column.value_or(0));
    }
    std::string text = label("cores") + "│";
    for (const auto& column : columns) {
        text += kBlocks[highest > 0 && column ? eighths(*column / highest, 0, 1) : 0];
    }
    return text + fmt::format(" {:.2f} at most\n", highest);
}

std::string mark_row(const Timeline& timeline, std::size_t width) {
    std::string row(width, ' ');
    for (std::size_t i = 0; i < timeline.marks.size(); ++i) {
        auto& place = row[column_of(timeline, timeline.marks[i].at_s, width)];
        place = place == ' ' ? letter_of(i) : '+';
    }
    return label("marks") + "│" + row + '\n';
}

std::string axis(const Timeline& timeline, std::size_t width) {
    const auto end = format_seconds(timeline.end_s);
    const auto gap = width > end.size() + 1 ? width - end.size() - 1 : 1;
    return label("") + "0" + std::string(gap, ' ') + ' ' + end + '\n';
}

std::string limit_words(const Timeline& timeline) {
    if (!timeline.limit) {
        return "no limit is known";
    }
    return fmt::format("limit {}{}", format_bytes(*timeline.limit),
                       shows_limit(timeline) ? "" : ", far above this picture");
}

}  // namespace

std::string timeline_text(const Timeline& timeline, std::size_t width) {
    // " limit" stands behind the picture.
    constexpr std::size_t kBehind = 15;
    const auto columns = std::max(width, kNarrowest + kLabel + kBehind) - kLabel - 1 - kBehind;
    auto text =
        fmt::format("{}: highest sample {}, {}, {} samples over {}, {}\n", timeline.entity,
                    format_bytes(timeline.highest), limit_words(timeline), timeline.samples.size(),
                    format_seconds(timeline.end_s), timeline.placement);
    text += memory_rows(timeline, columns) + cpu_row(timeline, columns);
    text += mark_row(timeline, columns) + axis(timeline, columns);
    for (std::size_t i = 0; i < timeline.marks.size(); ++i) {
        text += fmt::format("  {}  {:>9}  {}\n", letter_of(i),
                            format_seconds(timeline.marks[i].at_s), timeline.marks[i].text);
    }
    for (const auto& note : timeline.notes) {
        text += "  note: " + note + '\n';
    }
    return text;
}

}  // namespace mapdiag::report
