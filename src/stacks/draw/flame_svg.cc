#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "../wide.h"
#include "escape.h"
#include "mapdiag/stacks/comparison.h"
#include "mapdiag/stacks/flame_graph.h"
#include "mapdiag/support/text.h"
#include "palette.h"
#include "svg_page.h"

namespace mapdiag::stacks {
namespace {

// Sizes in pixels; a letter of the fixed-width font at 12 px takes 7.2.
constexpr int kWidth = 1200;
constexpr int kSide = 10;
constexpr int kInner = kWidth - 2 * kSide;
constexpr int kRow = 17;
constexpr int kTop = 64;
constexpr int kSubtitle = 16;
constexpr int kBottom = 34;
constexpr double kLetter = 7.25;
// Places are counted in 1/10000 px, so that the widths of neighbours add up exactly.
constexpr std::uint64_t kUnit = 10000;
constexpr std::size_t kPiece = 1U << 16;

// What makes a frame's block, the same wherever the frame stands; made once.
struct FrameLook {
    std::string shown;    ///< valid UTF-8, shortened
    std::string escaped;  ///< the same for XML
    std::string_view style;
    bool ready = false;
};

class Drawing {
  public:
    Drawing(const Tree& tree, const Profile& profile, const SvgOptions& options, const Sink& sink)
        : tree_(tree),
          profile_(profile),
          options_(options),
          sink_(sink),
          looks_(profile.table.id_limit()),
          top_(kTop + kSubtitle * static_cast<int>(options.subtitles.size())),
          height_(top_ + kRow * (static_cast<int>(tree.deepest) + 1) + kBottom) {
        find_largest_change();
        for (unsigned i = 0; i < profile.decimals; ++i) {
            one_ *= 10;
        }
    }

    Result<void> draw() {
        head();
        for (const auto& node : tree_.nodes) {
            block(node);
            if (out_.size() > kPiece) {
                if (auto flushed = flush(); !flushed) {
                    return flushed;
                }
            }
        }
        out_ += "</g>\n<script><![CDATA[";
        out_ += page_script();
        out_ += "]]></script>\n</svg>\n";
        return flush();
    }

  private:
    Result<void> flush() {
        auto put = sink_(out_);
        out_.clear();
        return put;
    }

    bool compares() const { return tree_.total_before > 0; }

    void find_largest_change() {
        if (!compares()) {
            return;
        }
        for (const auto& node : tree_.nodes) {
            if (node.kind == NodeKind::frame) {
                largest_change_ = std::max(largest_change_, std::abs(change(node)));
            }
        }
    }

    double change(const TreeNode& node) const {
        return static_cast<double>(node.weight) / static_cast<double>(tree_.total) -
               static_cast<double>(node.before) / static_cast<double>(tree_.total_before);
    }

    void head() {
        out_ += fmt::format(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" data-mapdiag=\"flamegraph 1\" width=\"{0}\" "
            "height=\"{1}\" viewBox=\"0 0 {0} {1}\" tabindex=\"0\">\n<title id=\"page\">",
            kWidth, height_);
        append_xml(out_, options_.title);
        out_ += "</title>\n<style>";
        out_ += page_styles();
        out_ += palette_styles(options_.palette, compares());
        out_ += fmt::format("</style>\n<rect id=\"paper\" width=\"{}\" height=\"{}\"/>\n", kWidth,
                            height_);
        head_text("title", "", 26, options_.title);
        int y = 44;
        for (const auto& line : options_.subtitles) {
            head_text("", "small", y, line);
            y += kSubtitle;
        }
        controls();
        out_ += fmt::format(
            "<g id=\"frames\" data-left=\"{}\" data-width=\"{}\" data-upward=\"{}\" "
            "data-letter=\"{}\" data-row=\"{}\">\n",
            kSide, kInner, options_.icicle ? 0 : 1, kLetter, kRow);
    }

    void head_text(std::string_view id, std::string_view style, int y, std::string_view text) {
        out_ += "<text";
        if (!id.empty()) {
            out_ += fmt::format(" id=\"{}\"", id);
        }
        if (!style.empty()) {
            out_ += fmt::format(" class=\"{}\"", style);
        }
        out_ += fmt::format(" x=\"{}\" y=\"{}\">", kSide, y);
        append_xml(out_, fit_columns(to_valid_utf8(text), 110));
        out_ += "</text>\n";
    }

    // Hidden until the script runs, since without it they do nothing.
    void controls() {
        out_ += fmt::format(
            "<g id=\"reset\" class=\"button off\" tabindex=\"0\" role=\"button\"><rect x=\"{0}\" "
            "y=\"10\" width=\"92\" height=\"24\"/><text class=\"small\" x=\"{1}\" y=\"26\">Reset "
            "zoom</text></g>\n",
            kWidth - 390, kWidth - 376);
        out_ += fmt::format(
            "<foreignObject class=\"script off\" x=\"{}\" y=\"10\" width=\"278\" height=\"24\">"
            "<input xmlns=\"http://www.w3.org/1999/xhtml\" id=\"find\" type=\"text\" "
            "aria-label=\"Search\" placeholder=\"Search: regular expression ( / )\"/>"
            "</foreignObject>\n",
            kWidth - 288);
        out_ += fmt::format(
            "<text id=\"matched\" class=\"small\" role=\"status\" x=\"{}\" y=\"48\" "
            "text-anchor=\"end\"></text>\n",
            kWidth - kSide);
        out_ += fmt::format(
            "<text id=\"details\" class=\"small\" role=\"status\" x=\"{}\" y=\"{}\"></text>\n",
            kSide, height_ - 12);
    }

    std::uint64_t edge(Weight weight) const {
        return static_cast<std::uint64_t>(product(weight, kInner * kUnit) / tree_.total);
    }

    void append_pixels(std::uint64_t units) {
        const fmt::format_int whole(units / kUnit);
        out_.append(whole.data(), whole.size());
        if (auto part = units % kUnit; part > 0) {
            out_ += '.';
            for (auto unit = kUnit / 10; part > 0; unit /= 10) {
                out_ += static_cast<char>('0' + part / unit);
                part %= unit;
            }
        }
    }

    void append_number(std::uint64_t number) {
        const fmt::format_int digits(number);
        out_.append(digits.data(), digits.size());
    }

    const FrameLook& look(FrameId id) {
        auto& look = looks_[id.value];
        if (!look.ready) {
            const auto text = profile_.table.text(id);
            look.shown = to_valid_utf8(shortened(text));
            append_xml(look.escaped, look.shown);
            look.style = colour_class(text, options_.palette);
            look.ready = true;
        }
        return look;
    }

    std::string_view style_of(const TreeNode& node, const FrameLook& look) const {
        if (node.kind != NodeKind::frame) {
            return node.kind == NodeKind::root ? "r" : "o";
        }
        if (!compares()) {
            return look.style;
        }
        if (largest_change_ <= 0) {
            return change_class(0);
        }
        // The root makes small changes visible beside a large one.
        const auto part = change(node) / largest_change_;
        return change_class(
            static_cast<int>(std::lround(std::copysign(std::sqrt(std::abs(part)), part) * 10)));
    }

    FrameLook look_of_rest(const TreeNode& node) const {
        FrameLook look;
        if (node.kind == NodeKind::root) {
            look.shown = "all";
        } else if (node.kind == NodeKind::others) {
            look.shown = fmt::format("[{} others]", node.merged);
        } else {
            look.shown = fmt::format("[deeper frames, {} callees]", node.merged);
        }
        look.escaped = look.shown;
        return look;
    }

    void block(const TreeNode& node) {
        if (node.kind == NodeKind::frame) {
            block(node, look(node.frame));
        } else {
            block(node, look_of_rest(node));
        }
    }

    void block(const TreeNode& node, const FrameLook& look) {
        const auto left = edge(node.first);
        const auto width = edge(node.first + node.weight) - left;
        const auto depth = static_cast<int>(node.depth);
        const auto row = options_.icicle ? depth : static_cast<int>(tree_.deepest) - depth;
        const auto y = static_cast<std::uint64_t>(top_ + kRow * row);
        out_ += "<rect class=\"";
        out_ += style_of(node, look);
        out_ += "\" x=\"";
        append_pixels(left + kSide * kUnit);
        out_ += "\" y=\"";
        append_number(y);
        out_ += "\" width=\"";
        append_pixels(width);
        out_ += "\" height=\"17\"><title>";
        out_ += look.escaped;
        out_ += '\n';
        hover(node);
        out_ += "</title></rect>";
        const auto pixels = static_cast<double>(width) / kUnit;
        if (pixels >= 3 * kLetter + 6) {
            out_ += "<text x=\"";
            append_pixels(left + (kSide + 3) * kUnit);
            out_ += "\" y=\"";
            append_number(y + kRow - 5);
            out_ += "\">";
            append_xml(out_,
                       fit_columns(look.shown, static_cast<std::size_t>((pixels - 6) / kLetter)));
            out_ += "</text>";
        }
        out_ += '\n';
    }

    void hover(const TreeNode& node) {
        if (profile_.decimals == 0) {
            append_number(node.weight);
        } else {
            out_ += format_weight(node.weight, profile_.decimals);
        }
        out_ += node.weight == one_ ? " sample, " : " samples, ";
        append_percent(node.weight, tree_.total);
        out_ += " %";
        if (compares()) {
            out_ += " (before ";
            append_percent(node.before, tree_.total_before);
            out_ += " %, change ";
            out_ += format_change(node.before, tree_.total_before, node.weight, tree_.total);
            out_ += node.before == 0 ? " points, new)" : " points)";
        }
    }

    // As format_percent(), without making a string: this runs for every block.
    void append_percent(Weight part, Weight whole) {
        const auto hundredths = static_cast<std::uint64_t>((product(part, 20000) + whole) /
                                                           (static_cast<Wide>(whole) * 2));
        append_number(hundredths / 100);
        out_ += '.';
        out_ += static_cast<char>('0' + hundredths / 10 % 10);
        out_ += static_cast<char>('0' + hundredths % 10);
    }

    const Tree& tree_;
    const Profile& profile_;
    const SvgOptions& options_;
    const Sink& sink_;
    std::vector<FrameLook> looks_;
    int top_;
    int height_;
    double largest_change_ = 0;
    Weight one_ = 1;  ///< the weight of one sample
    std::string out_;
};

}  // namespace

Result<void> write_flame_svg(const Tree& tree, const Profile& profile, const SvgOptions& options,
                             const Sink& sink) {
    return Drawing(tree, profile, options, sink).draw();
}

}  // namespace mapdiag::stacks
