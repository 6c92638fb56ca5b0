// The graph that is left when expensive references are gone, for what needs it whole.
#include <algorithm>

#include "heap/graph/referrers.h"
#include "mapdiag/heap/reach.h"

namespace mapdiag::heap {
namespace {

template <class T>
Column<T> copy_of(const Column<T>& from, std::size_t room = 0) {
    BigArray<T> own(from.size() + room);
    std::ranges::copy(from.span(), own.begin());
    return Column(std::move(own));
}

// The columns that dominators and roots need: sizes, types and rows. Nothing refers to the missing
// any more, as they hold nothing.
GraphColumns kept_columns(const Graph& graph) {
    GraphColumns columns;
    columns.size = copy_of(graph.columns().size);
    columns.type = copy_of(graph.columns().type);
    columns.type_start = copy_of(graph.columns().type_start);
    columns.type_bytes = copy_of(graph.columns().type_bytes);
    columns.type_totals = copy_of(graph.columns().type_totals);
    const ExpensiveRefs expensive(graph);
    BigArray<std::uint32_t> starts(graph.end() + 1ULL);
    BigArray<ObjectId> children(graph.columns().children.size());
    std::uint32_t used = 0;
    for (std::uint32_t id = 0; id < graph.end(); ++id) {
        starts[id] = used;
        if (graph.is_object({id})) {
            expensive.for_each_kept({id}, [&](ObjectId child) {
                if (!graph.is_missing(child)) {
                    children[used++] = child;
                }
            });
        }
    }
    starts[graph.end()] = used;
    BigArray<ObjectId> kept(used);
    std::ranges::copy(children.span().first(used), kept.begin());
    columns.child_start = Column(std::move(starts));
    columns.children = Column(std::move(kept));
    return columns;
}

}  // namespace

Graph without_expensive_refs(const Graph& graph) {
    auto columns = kept_columns(graph);
    auto parents = referrers_of(columns.child_start, columns.children, graph.end());
    columns.parent_start = std::move(parents.starts);
    columns.parents = std::move(parents.cells);
    auto facts = graph.facts();
    facts.missing = 0;
    facts.missing_refs = 0;
    return {facts, std::move(columns)};
}

}  // namespace mapdiag::heap
