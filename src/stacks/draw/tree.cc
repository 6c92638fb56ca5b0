// The tree is made from the root down: the stacks of a node are split by their next frame, and a
// part that is narrower than the smallest width is neither sorted, split nor stored. So the work is
// one pass over the stacks of each level that is drawn, whatever the number of distinct stacks.
#include "mapdiag/stacks/tree.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mapdiag::stacks {
namespace {

// The rest of a stack below the node at hand.
struct Entry {
    const FrameId* next = nullptr;
    std::uint32_t left = 0;
    bool is_before = false;
    Weight weight = 0;
};

// Entries [first, last) lie below `node`.
struct Task {
    TreeNode node;
    std::size_t first = 0;
    std::size_t last = 0;
};

// What is known of one frame among the entries of one node.
struct Bucket {
    Weight weight = 0;
    Weight before = 0;
    std::size_t count = 0;
    std::size_t next = 0;
    bool kept = false;
};

class Builder {
  public:
    Builder(const Profile& profile, const Profile* before, const TreeOptions& options)
        : profile_(profile), options_(options), buckets_(profile.table.id_limit()) {
        tree_.total = profile.total;
        entries_.reserve(profile.stack_count() + (before == nullptr ? 0 : before->stack_count()));
        add_entries(profile, false);
        if (before != nullptr) {
            tree_.total_before = before->total;
            add_entries(*before, true);
        }
        const auto exact = static_cast<long double>(options.min_percent) *
                           static_cast<long double>(profile.total) / 100;
        // A weight that is exactly at the limit stays, though 0.01 is no binary fraction.
        constexpr long double kRounding = 1 - 1e-12L;
        narrowest_ = std::max<Weight>(1, static_cast<Weight>(std::ceil(exact * kRounding)));
    }

    Tree build() {
        tasks_.push_back(
            {.node = {.kind = NodeKind::root, .weight = tree_.total, .before = tree_.total_before},
             .first = 0,
             .last = entries_.size()});
        while (!tasks_.empty()) {
            const auto task = tasks_.back();
            tasks_.pop_back();
            tree_.nodes.push_back(task.node);
            tree_.deepest = std::max(tree_.deepest, task.node.depth);
            if (task.node.kind == NodeKind::frame || task.node.kind == NodeKind::root) {
                split(task);
            }
        }
        return std::move(tree_);
    }

  private:
    void add_entries(const Profile& profile, bool is_before) {
        profile.for_each_stack([&](std::span<const FrameId> frames, Weight weight) {
            const auto left = std::min<std::size_t>(frames.size(), options_.deepest + 1U);
            entries_.push_back({.next = frames.data(),
                                .left = static_cast<std::uint32_t>(left),
                                .is_before = is_before,
                                .weight = weight});
        });
    }

    void split(const Task& task) {
        weigh(task);
        const bool too_deep = task.node.depth >= options_.deepest;
        TreeNode rest{.kind = too_deep ? NodeKind::deeper : NodeKind::others};
        kept_.clear();
        for (const auto id : touched_) {
            auto& bucket = buckets_[id.value];
            if (!too_deep && bucket.weight >= narrowest_) {
                kept_.push_back(id);
                bucket.kept = true;
            } else if (bucket.weight > 0) {
                rest.weight += bucket.weight;
                rest.before += bucket.before;
                ++rest.merged;
            }
        }
        if (!kept_.empty()) {
            sort_kept();
            arrange(task);
        }
        add_children(task, rest);
        for (const auto id : touched_) {
            buckets_[id.value] = {};
        }
    }

    void weigh(const Task& task) {
        touched_.clear();
        for (auto at = task.first; at < task.last; ++at) {
            const auto& entry = entries_[at];
            if (entry.left == 0) {
                continue;
            }
            auto& bucket = buckets_[entry.next->value];
            if (bucket.count++ == 0) {
                touched_.push_back(*entry.next);
            }
            (entry.is_before ? bucket.before : bucket.weight) += entry.weight;
        }
    }

    void sort_kept() {
        const bool by_weight = options_.order == ChildOrder::by_weight;
        std::ranges::sort(kept_, [&](FrameId a, FrameId b) {
            const auto weight_a = buckets_[a.value].weight;
            const auto weight_b = buckets_[b.value].weight;
            if (by_weight && weight_a != weight_b) {
                return weight_a > weight_b;
            }
            return profile_.table.text(a) < profile_.table.text(b);
        });
    }

    // Puts the entries of the kept frames together, in place ("American flag sort": McIlroy, Bostic
    // and McIlroy, "Engineering radix sort", 1993), and steps over the frame.
    void arrange(const Task& task) {
        auto end = task.first;
        for (auto at = task.first; at < task.last; ++at) {
            const auto& entry = entries_[at];
            if (entry.left > 0 && buckets_[entry.next->value].kept) {
                entries_[end++] = entry;
            }
        }
        auto start = task.first;
        for (const auto id : kept_) {
            auto& bucket = buckets_[id.value];
            bucket.next = start;
            start += bucket.count;
        }
        if (kept_.size() > 1) {
            auto group_end = task.first;
            for (const auto id : kept_) {
                auto& bucket = buckets_[id.value];
                group_end += bucket.count;
                while (bucket.next < group_end) {
                    auto& here = entries_[bucket.next];
                    if (*here.next == id) {
                        ++bucket.next;
                    } else {
                        std::swap(here, entries_[buckets_[here.next->value].next++]);
                    }
                }
            }
        }
        for (auto at = task.first; at < end; ++at) {
            ++entries_[at].next;
            --entries_[at].left;
        }
    }

    // The last child is put on the stack of tasks first, so that the first one is next.
    void add_children(const Task& task, TreeNode rest) {
        const auto parent = static_cast<std::uint32_t>(tree_.nodes.size() - 1);
        const auto mark = tasks_.size();
        auto left = task.node.first;
        auto first = task.first;
        for (const auto id : kept_) {
            const auto& bucket = buckets_[id.value];
            tasks_.push_back({.node = {.frame = id,
                                       .parent = parent,
                                       .depth = task.node.depth + 1,
                                       .first = left,
                                       .weight = bucket.weight,
                                       .before = bucket.before},
                              .first = first,
                              .last = first + bucket.count});
            left += bucket.weight;
            first += bucket.count;
        }
        if (rest.merged > 0) {
            rest.parent = parent;
            rest.depth = task.node.depth + 1;
            rest.first = left;
            tasks_.push_back({.node = rest});
        }
        std::reverse(tasks_.begin() + static_cast<std::ptrdiff_t>(mark), tasks_.end());
    }

    const Profile& profile_;
    const TreeOptions& options_;
    Tree tree_;
    Weight narrowest_ = 1;
    std::vector<Entry> entries_;
    std::vector<Task> tasks_;
    std::vector<Bucket> buckets_;
    std::vector<FrameId> touched_;
    std::vector<FrameId> kept_;
};

}  // namespace

Tree make_tree(const Profile& profile, const Profile* before, const TreeOptions& options) {
    return Builder(profile, before, options).build();
}

void renumber(Profile& profile, FrameTable& table) {
    std::vector<FrameId> numbers(profile.table.id_limit());
    for (std::uint32_t id = 1; id < numbers.size(); ++id) {
        numbers[id] = table.intern(profile.table.text({id}));
    }
    for (auto& part : profile.parts) {
        for (auto& frame : part.frames) {
            frame = numbers[frame.value];
        }
    }
    profile.table = {};
}

}  // namespace mapdiag::stacks
