#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "escape.h"
#include "mapdiag/stacks/flame_graph.h"
#include "mapdiag/support/text.h"

namespace mapdiag::stacks {
namespace {

constexpr std::size_t kBar = 10;

std::string label(const TreeNode& node, const FrameTable& table) {
    switch (node.kind) {
        case NodeKind::root:
            return "all";
        case NodeKind::frame:
            return printable(shortened(table.text(node.frame)));
        case NodeKind::others:
            return fmt::format("[{} others]", node.merged);
        case NodeKind::deeper:
            return fmt::format("[deeper frames, {} callees]", node.merged);
    }
    return {};
}

// A chain of single calls stays at one indent; each branching adds two columns.
std::vector<std::size_t> indents(const Tree& tree) {
    std::vector<std::uint32_t> children(tree.nodes.size());
    for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
        ++children[tree.nodes[i].parent];
    }
    std::vector<std::size_t> indents(tree.nodes.size());
    for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
        const auto parent = tree.nodes[i].parent;
        indents[i] = indents[parent] + (children[parent] > 1 ? 2 : 0);
    }
    return indents;
}

// Eighths of a block fill the bar to the share.
std::string bar(Weight part, Weight whole) {
    static constexpr std::string_view kEighths[] = {"",       "\u258F", "\u258E", "\u258D",
                                                    "\u258C", "\u258B", "\u258A", "\u2589"};
    const auto eighths = static_cast<std::size_t>(
        std::lround(static_cast<double>(part) / static_cast<double>(whole) * kBar * 8));
    std::string out;
    for (std::size_t i = 0; i < eighths / 8; ++i) {
        out += "\u2588";
    }
    out += kEighths[eighths % 8];
    out.append(kBar - std::min(kBar, eighths / 8 + (eighths % 8 > 0 ? 1 : 0)), ' ');
    return out;
}

}  // namespace

std::string draw_flame_text(const Tree& tree, const Profile& profile, const TextOptions& options) {
    const auto indent = indents(tree);
    const auto count_width =
        std::max<std::size_t>(format_weight(tree.total, profile.decimals).size(), 5);
    std::string out;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const auto& node = tree.nodes[i];
        auto start = fmt::format("{:>6} % {:>{}} ", format_percent(node.weight, tree.total),
                                 format_weight(node.weight, profile.decimals), count_width);
        const auto used = start.size() + kBar + 1;
        const auto room = std::max<std::size_t>(options.width, used + 20) - used;
        const auto shift = std::min(indent[i], room / 2);
        out += start;
        if (options.colour) {
            out += "\x1b[33m";
        }
        out += bar(node.weight, tree.total);
        if (options.colour) {
            out += "\x1b[0m";
        }
        out += ' ';
        out.append(shift, ' ');
        out += fit_columns(label(node, profile.table), room - shift);
        out += '\n';
    }
    return out;
}

}  // namespace mapdiag::stacks
