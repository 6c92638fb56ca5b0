#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "heap_fixture.h"
#include "mapdiag/heap/summary.h"

using namespace mapdiag;
using namespace mapdiag::test;

namespace {

struct Indexed {
    explicit Indexed(const std::string& text)
        : dump(folder.write("test.dump", text)),
          paths(heap::index_paths(dump, false, folder.path("cache"))) {}

    heap::LoadOptions options() const {
        heap::LoadOptions with;
        with.cache_folder = folder.path("cache");
        return with;
    }
    // Loads, asks for everything and keeps the index.
    heap::Heap load() const {
        auto heap = load_file(dump, options());
        CHECK(heap.save_index().empty());
        return heap;
    }
    std::string summary() const {
        auto heap = load_file(dump, options());
        return heap::summary_text(*heap::summarize(heap, {}), 100);
    }

    TempFolder folder;
    std::string dump;
    heap::IndexPaths paths;
};

std::string graph_text() {
    return read_whole(kHeapData + "graph.dump");
}

void flip(const std::string& path, std::size_t at) {
    auto bytes = read_whole(path);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace

TEST_CASE("a second load comes from the index and says the same") {
    const Indexed indexed(graph_text() + "junk\n");
    const auto first = indexed.load();
    CHECK_FALSE(first.came_from_index());
    auto second = indexed.load();
    CHECK(second.came_from_index());
    CHECK(second.warnings() == first.warnings());
    CHECK(second.graph().facts().size == first.graph().facts().size);
    CHECK(children(second.graph(), 26) == Addresses{102, 26, 5});
    CHECK(heap::Describer(second.graph()).line(at(second.graph(), 1)) ==
          heap::Describer(first.graph()).line(at(first.graph(), 1)));
    struct stat status = {};
    REQUIRE(::stat(indexed.paths.graph.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("merged and raw graphs have an index each") {
    const Indexed indexed(graph_text());
    indexed.load();
    auto options = indexed.options();
    options.raw = true;
    CHECK_FALSE(load_file(indexed.dump, options).came_from_index());
    CHECK(heap::index_paths(indexed.dump, true, "").graph != indexed.paths.graph);
}

TEST_CASE("an index of another state of the dump is not believed") {
    const Indexed indexed(graph_text());
    indexed.load();
    indexed.folder.write("test.dump", graph_text() + "\n");
    CHECK_FALSE(load_file(indexed.dump, indexed.options()).came_from_index());
}

TEST_CASE("an index of another dump is not believed") {
    const Indexed indexed(graph_text());
    indexed.load();
    const auto other = indexed.folder.write("other.dump", read_whole(kHeapData + "values.dump"));
    std::filesystem::copy_file(indexed.paths.graph, heap::index_paths(other, false, "").graph);
    std::filesystem::copy_file(indexed.paths.tree, heap::index_paths(other, false, "").tree);
    const auto heap = load_file(other, indexed.options());
    CHECK_FALSE(heap.came_from_index());
    CHECK(heap.graph().facts().size == 2578);
}

TEST_CASE("an index with any damaged byte is built anew") {
    const Indexed indexed(graph_text());
    indexed.load();
    const auto expected = indexed.summary();
    const auto sound = read_whole(indexed.paths.graph);
    const auto sound_tree = read_whole(indexed.paths.tree);
    for (std::size_t i = 0; i < sound.size(); i += 7) {
        flip(indexed.paths.graph, i);
        auto heap = heap::Heap::load(indexed.dump, indexed.options());
        REQUIRE(heap);
        // A flip in the padding between columns changes nothing; anything else must be noticed.
        REQUIRE(heap::summary_text(*heap::summarize(*heap, {}), 100) == expected);
        std::ofstream(indexed.paths.graph, std::ios::binary) << sound;
    }
    for (std::size_t i = 0; i < sound_tree.size(); i += 11) {
        flip(indexed.paths.tree, i);
        auto heap = heap::Heap::load(indexed.dump, indexed.options());
        REQUIRE(heap);
        REQUIRE(heap->came_from_index());
        REQUIRE((*heap->retained())->retained[0] == heap->graph().facts().size);
        std::ofstream(indexed.paths.tree, std::ios::binary) << sound_tree;
    }
    for (const std::size_t size : {std::size_t{0}, std::size_t{10}, sound.size() / 2}) {
        std::filesystem::resize_file(indexed.paths.graph, size);
        CHECK_FALSE(load_file(indexed.dump, indexed.options()).came_from_index());
        std::ofstream(indexed.paths.graph, std::ios::binary) << sound;
    }
}

TEST_CASE("where the dump's folder can't be written the index goes to the cache folder") {
    Indexed indexed(graph_text());
    // A folder in the index's place can't be replaced by a file, whoever tries.
    std::filesystem::create_directory(indexed.paths.graph);
    std::filesystem::create_directory(indexed.paths.tree);
    indexed.load();
    CHECK(std::filesystem::exists(indexed.paths.cached_graph));
    CHECK(indexed.load().came_from_index());
}

TEST_CASE("an index that can be kept nowhere is said and no failure") {
    Indexed indexed(graph_text());
    std::filesystem::create_directory(indexed.paths.graph);
    auto options = indexed.options();
    options.cache_folder = indexed.folder.write("file", "x");
    auto heap = load_file(indexed.dump, options);
    const auto said = heap.save_index();
    CHECK(
        said.find("no index is kept, so that the next command reads the dump again: can't write") !=
        std::string::npos);
}

TEST_CASE("without an index nothing is written") {
    const Indexed indexed(graph_text());
    auto heap = load_file(indexed.dump);
    CHECK(heap.save_index().empty());
    CHECK(indexed.folder.file_count() == 1);
}
