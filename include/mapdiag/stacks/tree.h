#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "mapdiag/stacks/profile.h"

namespace mapdiag::stacks {

enum class NodeKind : std::uint8_t {
    root,  ///< the whole profile
    frame,
    others,  ///< the children of one frame that are too narrow to draw
    deeper,  ///< what lies below the deepest row
};

struct TreeNode {
    FrameId frame;  ///< of kind `frame` only
    std::uint32_t parent = 0;
    std::uint32_t depth = 0;  ///< 0 is the root
    NodeKind kind = NodeKind::frame;
    std::uint32_t merged = 0;  ///< how many frames `others` and `deeper` stand for
    Weight first = 0;  ///< what stands left of it: it covers [first, first + weight) of the total
    Weight weight = 0;
    Weight before = 0;  ///< its weight in the profile compared with
};

/// A call tree from which everything too narrow was cut before it was made. Nodes stand in
/// preorder: a node's descendants follow it. The children of a node, `others` included, and what it
/// has of its own add up to it.
struct Tree {
    std::vector<TreeNode> nodes;  ///< [0] is the root
    std::uint32_t deepest = 0;
    Weight total = 0;
    Weight total_before = 0;  ///< 0 where nothing is compared
};

enum class ChildOrder { by_name, by_weight };

struct TreeOptions {
    double min_percent = 0.01;  ///< of the total; children below it are merged into `others`
    std::uint32_t deepest = 2000;
    ChildOrder order = ChildOrder::by_name;
};

/// `before` may be null; its frames must be numbered as those of `profile` are (see renumber()).
Tree make_tree(const Profile& profile, const Profile* before, const TreeOptions& options);

/// Gives the frames of `profile` the numbers that they have in `table`, new ones where needed.
void renumber(Profile& profile, FrameTable& table);

}  // namespace mapdiag::stacks
