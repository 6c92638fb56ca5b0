#include "heap/graph/leaders.h"

#include <algorithm>
#include <tuple>
#include <vector>

namespace mapdiag::heap {

bool comes_first(const Graph& graph, ObjectId a, ObjectId b) {
    if (graph.size(a) != graph.size(b)) {
        return graph.size(a) > graph.size(b);
    }
    const auto key = [&](ObjectId id) {
        return std::tuple(graph.children(id).size(), graph.parents(id).size());
    };
    const auto key_a = key(a);
    const auto key_b = key(b);
    return key_a != key_b ? key_a > key_b : graph.address(a) < graph.address(b);
}

Leaders find_leaders(const Graph& graph) {
    const auto types = graph.type_count();
    Leaders leaders{.objects = {}, .start = BigArray<std::uint32_t>(types + 1ULL)};
    for (std::uint32_t type = 0; type < types; ++type) {
        const auto count =
            std::min<std::uint64_t>(graph.columns().type_totals[type].count, kLeaders);
        leaders.start[type + 1] = leaders.start[type] + static_cast<std::uint32_t>(count);
    }
    leaders.objects = BigArray<ObjectId>(leaders.start[types]);
    std::vector<std::uint32_t> used(types);
    const auto is_before = [&](ObjectId a, ObjectId b) { return comes_first(graph, a, b); };
    for (std::uint32_t id = 1; id < graph.end(); ++id) {
        const auto type = graph.type({id}).value;
        if (type == 0) {
            continue;
        }
        // A heap whose first element is the last of those that stay.
        auto* const begin = leaders.objects.data() + leaders.start[type];
        auto* const end = leaders.objects.data() + leaders.start[type + 1];
        if (begin + used[type] != end) {
            begin[used[type]++] = {id};
            std::push_heap(begin, begin + used[type], is_before);
        } else if (is_before({id}, *begin)) {
            std::pop_heap(begin, end, is_before);
            *(end - 1) = {id};
            std::push_heap(begin, end, is_before);
        }
    }
    for (std::uint32_t type = 0; type < types; ++type) {
        std::sort_heap(leaders.objects.data() + leaders.start[type],
                       leaders.objects.data() + leaders.start[type + 1], is_before);
    }
    return leaders;
}

}  // namespace mapdiag::heap
