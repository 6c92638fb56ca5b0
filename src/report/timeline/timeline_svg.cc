#include <fmt/format.h>

#include <algorithm>

#include "columns.h"
#include "mapdiag/support/text.h"
#include "mapdiag/support/units.h"

namespace mapdiag::report {
namespace {

constexpr double kLeft = 90;
constexpr double kTop = 40;
constexpr double kWidth = 860;
constexpr double kHeight = 260;
constexpr double kCpuTop = 330;
constexpr double kCpuHeight = 60;
constexpr double kFirstMark = 440;
constexpr double kMarkLine = 18;
/// Enough for every pixel; a journal may hold any number of samples.
constexpr std::size_t kColumns = 860;
/// A picture with more lines of text below it is nobody's.
constexpr std::size_t kMostMarks = 52;

std::string escaped(std::string_view text) {
    std::string safe;
    for (const char c : printable(to_valid_utf8(text))) {
        switch (c) {
            case '<':
                safe += "&lt;";
                break;
            case '>':
                safe += "&gt;";
                break;
            case '&':
                safe += "&amp;";
                break;
            case '"':
                safe += "&quot;";
                break;
            default:
                safe += c;
        }
    }
    return safe;
}

std::string text_at(double x, double y, std::string_view anchor, std::string_view text) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y,
                       anchor, escaped(text));
}

struct Area {
    double top;
    double height;
    const char* color;
};

// A filled step line; `full` is what reaches the top of the area.
std::string area(const std::vector<std::optional<double>>& columns, double full, const Area& in) {
    const auto width = kWidth / static_cast<double>(columns.size());
    std::string path = fmt::format("M{:.1f},{:.1f}", kLeft, in.top + in.height);
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto y = in.top + in.height * (1 - std::min(columns[i].value_or(0) / full, 1.0));
        const auto x = kLeft + static_cast<double>(i) * width;
        path += fmt::format("L{:.1f},{:.1f}L{:.1f},{:.1f}", x, y, x + width, y);
    }
    path += fmt::format("L{:.1f},{:.1f}Z", kLeft + kWidth, in.top + in.height);
    return fmt::format("<path d=\"{}\" fill=\"{}\"/>\n", path, in.color);
}

std::string limit_line(const Timeline& timeline) {
    if (!shows_limit(timeline)) {
        return {};
    }
    const auto y = kTop + kHeight * (1 - static_cast<double>(*timeline.limit) / top_of(timeline));
    return fmt::format(
               "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" "
               "stroke=\"#b00\" stroke-dasharray=\"6 4\"/>\n",
               kLeft, kLeft + kWidth, y) +
           text_at(kLeft + kWidth, y - 4, "end", "limit " + format_bytes(*timeline.limit));
}

std::string marks(const Timeline& timeline) {
    std::string text;
    for (std::size_t i = 0; i < std::min(timeline.marks.size(), kMostMarks); ++i) {
        const auto& mark = timeline.marks[i];
        const auto x = kLeft + kWidth * std::clamp(mark.at_s / timeline.end_s, 0.0, 1.0);
        text += fmt::format(
            "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\" "
            "stroke=\"#444\" stroke-dasharray=\"1 3\"/>\n",
            x, kTop, kCpuTop + kCpuHeight);
        text += text_at(x, kTop - 4, "middle", std::string(1, letter_of(i)));
        text +=
            text_at(kLeft, kFirstMark + kMarkLine * static_cast<double>(i), "start",
                    fmt::format("{}  {}  {}", letter_of(i), format_seconds(mark.at_s), mark.text));
    }
    return text;
}

std::string cpu(const Timeline& timeline) {
    const auto columns = cpu_columns(timeline, kColumns);
    double highest = 0;
    for (const auto& column : columns) {
        highest = std::max(highest, column.value_or(0));
    }
    if (highest <= 0) {
        return text_at(kLeft - 6, kCpuTop + kCpuHeight, "end", "cores n/a");
    }
    return area(columns, highest, {kCpuTop, kCpuHeight, "#c8a24a"}) +
           text_at(kLeft - 6, kCpuTop + 10, "end", fmt::format("{:.2f} cores", highest)) +
           text_at(kLeft - 6, kCpuTop + kCpuHeight, "end", "0");
}

}  // namespace

std::string timeline_svg(const Timeline& timeline) {
    const auto shown = static_cast<double>(std::min(timeline.marks.size(), kMostMarks));
    const auto height = kFirstMark + kMarkLine * shown;
    const auto top = top_of(timeline);
    auto svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1000 {0:.0f}\" width=\"1000\" "
        "height=\"{0:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
        "<title>{1}: memory over time</title>\n"
        "<rect width=\"1000\" height=\"{0:.0f}\" fill=\"#fff\"/>\n",
        height, escaped(timeline.entity));
    svg += text_at(kLeft, 18, "start",
                   fmt::format("{}: highest sample {}, {}", timeline.entity,
                               format_bytes(timeline.highest), timeline.placement));
    svg += area(memory_columns(timeline, kColumns), top, {kTop, kHeight, "#5b8dbe"});
    svg += text_at(kLeft - 6, kTop + 10, "end", format_bytes(static_cast<std::uint64_t>(top)));
    svg += text_at(kLeft - 6, kTop + kHeight, "end", "0 B");
    svg += limit_line(timeline) + cpu(timeline);
    svg += text_at(kLeft, kCpuTop + kCpuHeight + 16, "start", "0 s");
    svg +=
        text_at(kLeft + kWidth, kCpuTop + kCpuHeight + 16, "end", format_seconds(timeline.end_s));
    return svg + marks(timeline) + "</svg>\n";
}

}  // namespace mapdiag::report
