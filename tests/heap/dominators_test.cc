// Dominators and retained sizes against their definition: take an object away and see what can't be
// reached any more.
#include <fmt/format.h>

#include <numeric>
#include <random>

#include "heap_fixture.h"

using namespace mapdiag;
using namespace mapdiag::test;

namespace {

std::string random_dump(std::mt19937& random) {
    const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    const auto objects = 1 + below(14);
    const auto density = 1 + below(4);
    std::string text;
    for (unsigned i = 1; i <= objects; ++i) {
        std::string refs;
        for (auto left = below(density + 1); left > 0; --left) {
            refs += (refs.empty() ? "" : ", ") + std::to_string(1 + below(objects + 1));
        }
        const char* const types[] = {"list",   "list",  "list",     "node",
                                     "module", "frame", "generator"};
        text += fmt::format("{{\"address\": {}, \"type\": \"{}\", \"size\": {}, \"refs\": [{}]}}\n",
                            i, types[below(below(3) == 0 ? 7 : 4)], 1U << below(20), refs);
    }
    return text;
}

std::vector<bool> reached(const heap::Graph& graph, std::span<const heap::ObjectId> roots,
                          heap::ObjectId without) {
    std::vector<bool> seen(graph.end_with_missing());
    std::vector<heap::ObjectId> open;
    const auto push = [&](heap::ObjectId id) {
        if (id != without && graph.is_object(id) && !seen[id.value]) {
            seen[id.value] = true;
            open.push_back(id);
        }
    };
    std::ranges::for_each(roots, push);
    while (!open.empty()) {
        const auto id = open.back();
        open.pop_back();
        std::ranges::for_each(graph.children(id), push);
    }
    return seen;
}

void check_against_definition(heap::Heap& heap) {
    const auto& graph = heap.graph();
    const auto& tree = **heap.retained();
    const auto roots = tree.roots.span();
    for (std::uint32_t id = 1; id < graph.end(); ++id) {
        const auto left = reached(graph, roots, {id});
        std::uint64_t gone = 0;
        for (std::uint32_t other = 1; other < graph.end(); ++other) {
            gone += left[other] ? 0 : graph.size({other});
            // The dominators of an object are exactly those without which it is gone.
            bool is_above = false;
            for (auto up = heap::ObjectId{other}; up; up = tree.dominator[up.value]) {
                is_above = is_above || up.value == id;
            }
            REQUIRE(is_above == !left[other]);
        }
        REQUIRE(tree.retained[id] == gone);
    }
}

// A root that another root which is no module, frame or parentless object reaches is one too many.
void check_roots(const heap::Graph& graph, const heap::DominatorTree& tree) {
    const auto roots = tree.roots.span();
    const auto all = reached(graph, roots, {});
    for (std::uint32_t id = 1; id < graph.end(); ++id) {
        REQUIRE(all[id] == graph.is_object({id}));
    }
    for (const auto root : roots) {
        const auto type = graph.type_name(graph.type(root));
        if (graph.parents(root).empty() || type == "module" || type == "frame") {
            continue;
        }
        std::vector<heap::ObjectId> others(roots.begin(), roots.end());
        std::erase(others, root);
        REQUIRE_FALSE(reached(graph, others, {})[root.value]);
    }
}

}  // namespace

TEST_CASE("dominators of thousands of small graphs fit their definition") {
    std::mt19937 random(20261201);
    const TempFolder folder;
    for (int i = 0; i < 4000; ++i) {
        const auto text = random_dump(random);
        INFO(text);
        auto heap = heap::Heap::load(folder.write("d", text), without_index(true));
        REQUIRE(heap);
        REQUIRE(heap->retained());
        check_against_definition(*heap);
        check_roots(heap->graph(), **heap->retained());
    }
}

TEST_CASE("a chain of a million objects needs no stack") {
    constexpr std::uint64_t kLength = 1'000'000;
    std::string text;
    for (std::uint64_t i = 1; i <= kLength; ++i) {
        // Doubly linked, with one string that all share.
        text += fmt::format(
            "{{\"address\": {}, \"type\": \"node\", \"size\": 10, \"refs\": [{}, {}, {}]}}\n", i,
            i + 1 <= kLength ? i + 1 : kLength, i > 1 ? i - 1 : 1, kLength + 1);
    }
    text += fmt::format("{{\"address\": {}, \"type\": \"str\", \"size\": 7, \"refs\": []}}\n",
                        kLength + 1);
    auto heap = load_text(text);
    const auto& tree = **heap.retained();
    CHECK(tree.roots.size() == 1);
    CHECK(tree.retained[1] == kLength * 10 + 7);
    CHECK(tree.retained[kLength] == 10);
    CHECK(tree.dominator[kLength + 1] == heap::ObjectId{1});
}

TEST_CASE("frames that a generator or a traceback holds are no roots") {
    const std::string text =
        R"({"address": 1, "type": "frame", "size": 10, "value": "inner", "refs": [2]}
{"address": 2, "type": "frame", "size": 10, "value": "outer", "refs": [5]}
{"address": 3, "type": "generator", "size": 10, "refs": [4]}
{"address": 4, "type": "frame", "size": 10, "value": "gen", "refs": [6]}
{"address": 5, "type": "list", "size": 100, "refs": []}
{"address": 6, "type": "list", "size": 100, "refs": []}
)";
    auto heap = load_text(text);
    const auto& tree = **heap.retained();
    CHECK(addresses(heap.graph(), tree.roots.span()) == Addresses{1, 2, 3});
    CHECK(tree.retained[2] == 110);
    CHECK(tree.retained[3] == 120);
}
