#include "mapdiag/heap/sizes.h"

#include <fmt/format.h>

#include "heap/view/json.h"
#include "mapdiag/support/units.h"

namespace mapdiag::heap {

TotalSize total_size_of(const Graph& graph, ObjectId id, const WalkOptions& walk) {
    TotalSize total;
    for (const auto reached : reach_of(graph, id, walk).visited) {
        ++total.objects;
        total.size += graph.size(reached);
    }
    return total;
}

std::string total_size_text(const Graph& graph, ObjectId id, const TotalSize& total,
                            const Describer& describer) {
    static_cast<void>(graph);
    return fmt::format("{} reaches {} bytes ({}) in {} objects\n", describer.line(id, total.size),
                       total.size, format_bytes(total.size), total.objects);
}

std::string total_size_json(const Graph& graph, ObjectId id, const TotalSize& total,
                            const Describer& describer) {
    auto out = object_json(graph, id, describer);
    out["reach_objects"] = total.objects;
    out["reach_size"] = total.size;
    return out.dump(2) + '\n';
}

}  // namespace mapdiag::heap
