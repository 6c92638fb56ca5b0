#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "heap/graph/assemble.h"
#include "heap/reader/raw_chunk.h"
#include "heap/reader/sniff.h"
#include "heap/reader/text_source.h"
#include "mapdiag/heap/dominators.h"
#include "mapdiag/heap/objects.h"
#include "mapdiag/heap/reach.h"

namespace mapdiag::test {

inline void must_hold(bool condition, const char* what) {
    if (!condition) {
        throw std::logic_error(what);
    }
}

/// Builds a graph from any bytes, in chunks of `chunk` bytes.
inline Result<heap::Graph> graph_of(std::string_view bytes, bool raw, std::size_t chunk) {
    std::vector<heap::RawChunk> chunks;
    std::uint64_t offset = 0;
    for (const auto part : heap::split_at_line_ends(bytes, chunk)) {
        chunks.push_back(heap::read_chunk(
            part, {.offset = offset, .hash_key = 3, .last = offset + part.size() == bytes.size()}));
        offset += part.size();
    }
    auto draft = heap::assemble(chunks, {}, "bytes");
    if (!draft) {
        return std::unexpected(draft.error());
    }
    if (auto resolved = heap::resolve_refs(*draft, chunks, {}, "bytes"); !resolved) {
        return std::unexpected(resolved.error());
    }
    if (!raw) {
        if (auto merged = heap::merge_instance_dicts(*draft, "bytes"); !merged) {
            return std::unexpected(merged.error());
        }
    }
    return heap::finish(std::move(*draft), "bytes");
}

inline void check_graph(const heap::Graph& graph) {
    const auto tree = heap::find_dominators(graph);
    must_hold(tree.retained[0] == graph.facts().size, "everything is retained");
    std::uint64_t top = 0;
    for (const auto id : tree.top.span()) {
        top += tree.retained[id.value];
    }
    must_hold(top == graph.facts().size, "the top adds up to the heap");
    const heap::Describer describer(graph);
    for (std::uint32_t id = 1; id < graph.end_with_missing(); ++id) {
        if (!graph.is_object({id}) && !graph.is_missing({id})) {
            continue;
        }
        must_hold(!describer.line({id}).empty(), "every object has a line");
        must_hold(graph.find(graph.address({id})) == heap::ObjectId{id}, "found by its address");
        heap::attributes_of(graph, {id});
    }
}

/// What must hold of any bytes that someone takes for a dump. Throws where it does not.
inline void check_dump_bytes(std::string_view bytes) {
    heap::describe_file(bytes);
    const auto raw = graph_of(bytes, true, SIZE_MAX);
    const auto cut = graph_of(bytes, true, 64);
    const auto merged = graph_of(bytes, false, 1024);
    must_hold(raw.has_value() == cut.has_value(), "chunks make no difference");
    if (!raw || !cut || !merged) {
        return;
    }
    must_hold(raw->facts().size == cut->facts().size, "chunks do not change the size");
    must_hold(raw->facts().objects == cut->facts().objects, "chunks do not change the count");
    must_hold(raw->facts().bad_lines == cut->facts().bad_lines, "chunks do not change bad lines");
    must_hold(raw->facts().size == merged->facts().size, "a merge moves bytes and makes none");
    check_graph(*raw);
    check_graph(*merged);
}

}  // namespace mapdiag::test
