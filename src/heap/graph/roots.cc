#include "heap/graph/roots.h"

#include <algorithm>
#include <array>

#include "mapdiag/support/big_array.h"

namespace mapdiag::heap {
namespace {

class RootFinder {
  public:
    explicit RootFinder(const Graph& graph)
        : graph_(graph),
          module_(type_named("module")),
          frame_(type_named("frame")),
          frame_holders_{type_named("generator"), type_named("coroutine"),
                         type_named("async_generator"), type_named("traceback")} {}

    std::vector<ObjectId> find() {
        seen_ = BigArray<bool>(graph_.end_with_missing());
        std::vector<ObjectId> roots;
        for (std::uint32_t id = 1; id < graph_.end(); ++id) {
            if (graph_.is_object({id}) && is_plain_root({id})) {
                roots.push_back({id});
            }
        }
        for (const auto root : roots) {
            mark(root);
        }
        add_cycles(roots);
        std::ranges::sort(roots);
        return roots;
    }

  private:
    TypeId type_named(std::string_view name) const {
        return graph_.find_type(name).value_or(TypeId{});
    }

    bool is_plain_root(ObjectId id) const {
        const auto parents = graph_.parents(id);
        const auto type = graph_.type(id);
        if (parents.empty() || (module_ && type == module_)) {
            return true;
        }
        return frame_ && type == frame_ && std::ranges::none_of(parents, [&](ObjectId parent) {
                   const auto holder = graph_.type(parent);
                   return std::ranges::find(frame_holders_, holder) != frame_holders_.end();
               });
    }

    void mark(ObjectId root) {
        if (seen_[root.value]) {
            return;
        }
        seen_[root.value] = true;
        open_.push_back(root);
        while (!open_.empty()) {
            const auto id = open_.back();
            open_.pop_back();
            for (const auto child : graph_.children(id)) {
                if (!seen_[child.value]) {
                    seen_[child.value] = true;
                    open_.push_back(child);
                }
            }
        }
    }

    // What is left hangs on cycles. In the reverse of the order in which a depth-first walk leaves
    // objects, the first one not reached yet belongs to a cycle that nothing else reaches (the
    // argument of Kosaraju's algorithm).
    void add_cycles(std::vector<ObjectId>& roots) {
        std::vector<ObjectId> rest;
        for (std::uint32_t id = 1; id < graph_.end(); ++id) {
            if (!seen_[id] && graph_.is_object({id})) {
                rest.push_back({id});
            }
        }
        if (rest.empty()) {
            return;
        }
        const auto left = leaving_order(rest);
        for (const auto id : rest) {
            seen_[id.value] = false;
        }
        for (auto at = left.rbegin(); at != left.rend(); ++at) {
            if (!seen_[at->value]) {
                roots.push_back(*at);
                mark(*at);
            }
        }
    }

    std::vector<ObjectId> leaving_order(const std::vector<ObjectId>& rest) {
        struct Step {
            ObjectId id;
            std::uint32_t next;
        };
        std::vector<ObjectId> left;
        std::vector<Step> path;
        for (const auto start : rest) {
            if (seen_[start.value]) {
                continue;
            }
            seen_[start.value] = true;
            path.push_back({start, 0});
            while (!path.empty()) {
                auto& step = path.back();
                const auto children = graph_.children(step.id);
                if (step.next == children.size()) {
                    left.push_back(step.id);
                    path.pop_back();
                    continue;
                }
                const auto child = children[step.next++];
                if (!seen_[child.value] && graph_.is_object(child)) {
                    seen_[child.value] = true;
                    path.push_back({child, 0});
                }
            }
        }
        return left;
    }

    const Graph& graph_;
    TypeId module_;
    TypeId frame_;
    std::array<TypeId, 4> frame_holders_;
    BigArray<bool> seen_;
    std::vector<ObjectId> open_;
};

}  // namespace

std::vector<ObjectId> find_roots(const Graph& graph) {
    return RootFinder(graph).find();
}

}  // namespace mapdiag::heap
