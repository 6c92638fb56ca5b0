#include "mapdiag/heap/paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "heap/view/json.h"

namespace mapdiag::heap {
namespace {

constexpr std::uint64_t kCountStops = 1ULL << 63;

// Walks against the references, level by level, until a level holds a root. Then every shortest way
// leads from a root of that level through ever smaller distances to the target.
class BackwardSearch {
  public:
    BackwardSearch(const Graph& graph, const DominatorTree& tree, ObjectId target)
        : graph_(graph), roots_(tree.roots) {
        distance_.emplace(target, 0);
        ways_.emplace(target, 1);
        std::vector<ObjectId> level = {target};
        while (!level.empty() && !find_roots_in(level)) {
            level = next_level(level);
        }
    }

    const std::vector<ObjectId>& starts() const { return starts_; }
    std::uint64_t length() const { return length_; }
    std::uint64_t ways_from(ObjectId id) const { return ways_.at(id); }

    // The children one step nearer to the target, once each, by address.
    std::vector<ObjectId> nearer(ObjectId id) const {
        const auto wanted = distance_.at(id) - 1;
        std::vector<ObjectId> found;
        for (const auto child : graph_.children(id)) {
            const auto at = distance_.find(child);
            if (at != distance_.end() && at->second == wanted) {
                found.push_back(child);
            }
        }
        sort_by_address(found);
        const auto repeats = std::ranges::unique(found);
        found.erase(repeats.begin(), repeats.end());
        return found;
    }

  private:
    void sort_by_address(std::vector<ObjectId>& ids) const {
        std::ranges::sort(ids, {}, [&](ObjectId id) { return graph_.address(id); });
    }

    bool find_roots_in(const std::vector<ObjectId>& level) {
        for (const auto id : level) {
            if (is_in(roots_, id)) {
                starts_.push_back(id);
            }
        }
        length_ = distance_.at(level.front());
        sort_by_address(starts_);
        return !starts_.empty();
    }

    std::vector<ObjectId> next_level(const std::vector<ObjectId>& level) {
        std::vector<ObjectId> next;
        for (const auto id : level) {
            const auto ways = ways_.at(id);
            const auto distance = distance_.at(id) + 1;
            for (const auto parent : graph_.parents(id)) {
                const auto [at, is_new] = distance_.emplace(parent, distance);
                if (is_new) {
                    next.push_back(parent);
                }
                if (at->second == distance) {
                    auto& sum = ways_[parent];
                    sum = std::min(kCountStops, sum + ways);
                }
            }
        }
        return next;
    }

    const Graph& graph_;
    const Column<ObjectId>& roots_;
    std::unordered_map<ObjectId, std::uint64_t> distance_;
    std::unordered_map<ObjectId, std::uint64_t> ways_;
    std::vector<ObjectId> starts_;
    std::uint64_t length_ = 0;
};

}  // namespace

ShortestPaths shortest_paths(const Graph& graph, const DominatorTree& tree, ObjectId target,
                             std::size_t limit) {
    const BackwardSearch search(graph, tree, target);
    ShortestPaths paths{.steps = {}, .length = search.length()};
    for (const auto start : search.starts()) {
        paths.count = std::min(kCountStops, paths.count + search.ways_from(start));
    }
    std::vector<PathStep> open;
    const auto push = [&](const std::vector<ObjectId>& ids, std::uint32_t depth) {
        for (auto at = ids.rbegin(); at != ids.rend(); ++at) {
            open.push_back({*at, depth, *at == target});
        }
    };
    push(search.starts(), 0);
    while (!open.empty() && paths.shown < limit) {
        const auto step = open.back();
        open.pop_back();
        paths.steps.push_back(step);
        if (step.is_target) {
            ++paths.shown;
        } else {
            push(search.nearer(step.id), step.depth + 1);
        }
    }
    return paths;
}

std::string paths_text(const ShortestPaths& paths, const Graph& graph, const Describer& describer) {
    static_cast<void>(graph);
    auto out = fmt::format("{} shortest way{} from a root, {} reference{} long\n", paths.count,
                           paths.count == 1 ? "" : "s", paths.length, paths.length == 1 ? "" : "s");
    for (const auto& step : paths.steps) {
        out += std::string(2 * std::min<std::size_t>(step.depth, 40), ' ');
        out += describer.line(step.id) + '\n';
    }
    if (paths.count > paths.shown) {
        out += fmt::format("[{} others]\n", paths.count - paths.shown);
    }
    return out;
}

std::string paths_json(const ShortestPaths& paths, const Graph& graph, const Describer& describer) {
    nlohmann::ordered_json out = {{"count", paths.count},
                                  {"length", paths.length},
                                  {"shown", paths.shown},
                                  {"others", paths.count - paths.shown},
                                  {"steps", nlohmann::ordered_json::array()}};
    for (const auto& step : paths.steps) {
        auto row = object_json(graph, step.id, describer);
        row["depth"] = step.depth;
        out["steps"].push_back(std::move(row));
    }
    return out.dump(2) + '\n';
}

}  // namespace mapdiag::heap
