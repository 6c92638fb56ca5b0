#include "mapdiag/heap/reach.h"

#include <algorithm>

#include "mapdiag/support/big_array.h"

namespace mapdiag::heap {

ExpensiveRefs::ExpensiveRefs(const Graph& graph) : graph_(&graph) {
    const auto find = [&](std::string_view name) {
        return graph.find_type(name).value_or(TypeId{});
    };
    module_ = find("module");
    frame_ = find("frame");
    type_ = find("type");
    function_ = find("function");
    lru_node_ = find("_LRUNode");
}

Reach reach_of(const Graph& graph, ObjectId start, const WalkOptions& options) {
    Reach reach;
    BigArray<bool> seen(graph.end_with_missing());
    for (const auto id : options.excluding) {
        seen[id.value] = true;
    }
    const ExpensiveRefs expensive(graph);
    std::vector<ObjectId> open;
    const auto push = [&](ObjectId id) {
        if (!seen[id.value] && graph.is_object(id)) {
            open.push_back(id);
        }
    };
    push(start);
    while (!open.empty()) {
        const auto id = open.back();
        open.pop_back();
        if (seen[id.value]) {
            continue;
        }
        seen[id.value] = true;
        reach.visited.push_back(id);
        if (options.without_expensive) {
            reach.has_ex_reference = expensive.for_each_kept(id, push) || reach.has_ex_reference;
        } else {
            std::ranges::for_each(graph.children(id), push);
        }
    }
    return reach;
}

}  // namespace mapdiag::heap
