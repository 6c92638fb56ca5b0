#pragma once

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string>
#include <vector>

#include "mapdiag/heap/load.h"
#include "mapdiag/heap/objects.h"
#include "support/catch.h"
#include "support/temp_folder.h"

namespace mapdiag::test {

inline const std::string kHeapData = std::string(MAPDIAG_SOURCE_DIR) + "/tests/heap/data/";

inline std::string read_whole(const std::string& path) {
    std::ostringstream out;
    out << std::ifstream(path, std::ios::binary).rdbuf();
    return out.str();
}

/// What holds for every loaded dump: totals are conserved by type and by what is retained, and
/// referrers are references turned round.
inline void check_conserved(heap::Heap& heap) {
    const auto& graph = heap.graph();
    std::uint64_t size = 0;
    std::uint64_t objects = 0;
    bool turned_round = true;
    for (std::uint32_t id = 1; id < graph.end(); ++id) {
        size += graph.size({id});
        objects += graph.is_object({id}) ? 1 : 0;
        for (const auto child : graph.children({id})) {
            turned_round = turned_round &&
                           std::ranges::binary_search(graph.parents(child), heap::ObjectId{id});
        }
    }
    CHECK(turned_round);
    CHECK(size == graph.facts().size);
    CHECK(objects == graph.facts().objects);
    std::uint64_t by_type = 0;
    for (const auto& totals : graph.columns().type_totals.span()) {
        by_type += totals.size;
    }
    CHECK(by_type == size);
    const auto tree = heap.retained();
    REQUIRE(tree);
    std::uint64_t at_the_top = 0;
    for (const auto id : (*tree)->top.span()) {
        at_the_top += (*tree)->retained[id.value];
    }
    CHECK(at_the_top == size);
    CHECK((*tree)->retained[0] == size);
    std::uint64_t top_by_type = 0;
    for (const auto bytes : (*tree)->type_top.span()) {
        top_by_type += bytes;
    }
    CHECK(top_by_type == size);
}

inline heap::LoadOptions without_index(bool raw = false) {
    heap::LoadOptions options;
    options.raw = raw;
    options.use_index = false;
    return options;
}

/// Loads a file and checks what must hold of it.
inline heap::Heap load_file(const std::string& path,
                            const heap::LoadOptions& options = without_index()) {
    auto heap = heap::Heap::load(path, options);
    INFO((heap ? std::string() : heap.error().text()));
    REQUIRE(heap);
    check_conserved(*heap);
    return std::move(*heap);
}

/// Loads a dump that a test has written out.
inline heap::Heap load_text(const std::string& text, bool raw = false) {
    const TempFolder folder;
    return load_file(folder.write("test.dump", text), without_index(raw));
}

inline std::string error_of(const std::string& text, const heap::LoadOptions& options) {
    const TempFolder folder;
    const auto heap = heap::Heap::load(folder.write("test.dump", text), options);
    REQUIRE_FALSE(heap);
    auto said = heap.error().text();
    const auto at = said.find(folder.path());
    return at == std::string::npos ? said : said.erase(at, folder.path().size() + 1);
}

inline heap::ObjectId at(const heap::Graph& graph, std::uint64_t address) {
    const auto id = graph.find(address);
    REQUIRE(id);
    return *id;
}

inline std::vector<std::uint64_t> addresses(const heap::Graph& graph,
                                            std::span<const heap::ObjectId> ids) {
    std::vector<std::uint64_t> out;
    for (const auto id : ids) {
        out.push_back(graph.address(id));
    }
    return out;
}

inline std::vector<std::uint64_t> children(const heap::Graph& graph, std::uint64_t address) {
    return addresses(graph, graph.children(at(graph, address)));
}

inline std::vector<std::uint64_t> parents(const heap::Graph& graph, std::uint64_t address) {
    auto out = addresses(graph, graph.parents(at(graph, address)));
    std::ranges::sort(out);
    return out;
}

using Addresses = std::vector<std::uint64_t>;

}  // namespace mapdiag::test
