#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <filesystem>

#include "heap_fixture.h"
#include "mapdiag/heap/paths.h"
#include "mapdiag/heap/retained.h"
#include "mapdiag/heap/strings.h"
#include "mapdiag/heap/summary.h"

using namespace mapdiag;
using namespace mapdiag::test;

namespace {

// What every question says, worded, so that all columns are read.
Result<std::string> ask_everything(heap::Heap& heap) {
    const auto& graph = heap.graph();
    auto out = heap::summary_text(
        *heap::summarize(heap, {.order = heap::SummaryOrder::kRetained, .of = {}, .walk = {}}),
        100);
    const auto* const tree = *heap.retained();
    out += heap::retained_text(graph, *tree, heap::view_retained(graph, *tree, 100), 100);
    out += heap::suspects_text(graph, *tree, heap::find_suspects(graph, *tree), "dump", 100);
    const heap::Describer describer(graph);
    out += heap::strings_text(*heap.duplicate_strings(100), graph, describer);
    for (std::uint32_t id = 1; id < graph.end_with_missing(); ++id) {
        out += graph.is_object({id}) ? heap::show_text(graph, {id}, describer, 100) : "";
        out += graph.find(graph.address({id})) ? "" : "not found";
    }
    for (std::uint32_t type = 1; type < graph.type_count(); ++type) {
        out += heap::list_text("all", heap::list_type(graph, {type}, 20), graph, describer);
    }
    const auto some = *graph.find(5);
    out += heap::paths_text(heap::shortest_paths(graph, *tree, some, 20), graph, describer);
    out += heap::list_text("parents", heap::list_parents(graph, some, 20), graph, describer);
    out += heap::retained_object_text(graph, *tree, heap::view_retained(graph, *tree, some, 20),
                                      describer);
    return out;
}

std::string answers_of(heap::Heap& heap) {
    const auto text = heap::with_sound_index({&heap}, [&] { return ask_everything(heap); });
    REQUIRE(text);
    return *text;
}

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
        CHECK(heap.duplicate_strings(20));
        CHECK(heap.save_index().empty());
        return heap;
    }
    std::string answers() const {
        auto heap = *heap::Heap::load(dump, without_index());
        return answers_of(heap);
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

TEST_CASE("an index with any damaged byte gives no wrong answer") {
    const Indexed indexed(graph_text());
    indexed.load();
    const auto expected = indexed.answers();
    std::size_t read_again = 0;
    for (const auto& path : {indexed.paths.graph, indexed.paths.tree, indexed.paths.strings}) {
        const auto sound = read_whole(path);
        REQUIRE(sound.size() > 1000);
        for (std::size_t i = 0; i < sound.size(); i += 13) {
            flip(path, i);
            auto heap = heap::Heap::load(indexed.dump, indexed.options());
            REQUIRE(heap);
            // A flip in the padding between columns changes nothing; anything else must be noticed.
            REQUIRE(answers_of(*heap) == expected);
            read_again += heap->came_from_index() ? 0 : 1;
            std::ofstream(path, std::ios::binary) << sound;
        }
        for (const std::size_t size : {std::size_t{0}, std::size_t{10}, sound.size() / 2}) {
            std::filesystem::resize_file(path, size);
            auto heap = heap::Heap::load(indexed.dump, indexed.options());
            REQUIRE(heap);
            REQUIRE(answers_of(*heap) == expected);
            std::ofstream(path, std::ios::binary) << sound;
        }
    }
    CHECK(read_again > 100);
}

TEST_CASE("a damaged index is written anew") {
    const Indexed indexed(graph_text());
    indexed.load();
    const auto expected = indexed.answers();
    const auto sound = read_whole(indexed.paths.graph);
    bool was_damaged = false;
    for (auto at = sound.size() / 2; !was_damaged && at < sound.size(); ++at) {
        std::ofstream(indexed.paths.graph, std::ios::binary) << sound;
        flip(indexed.paths.graph, at);
        auto heap = *heap::Heap::load(indexed.dump, indexed.options());
        REQUIRE(heap.came_from_index());
        CHECK(answers_of(heap) == expected);
        was_damaged = !heap.came_from_index();
        CHECK(heap.save_index().empty());
    }
    CHECK(was_damaged);
    auto heap = *heap::Heap::load(indexed.dump, indexed.options());
    CHECK(answers_of(heap) == expected);
    CHECK(heap.came_from_index());
}

TEST_CASE("a damaged index of a dump that has changed meanwhile is an error") {
    const Indexed indexed(graph_text());
    indexed.load();
    auto heap = *heap::Heap::load(indexed.dump, indexed.options());
    indexed.folder.write("test.dump", graph_text() + "\n");
    const auto read = heap.read_again();
    REQUIRE_FALSE(read);
    CHECK(read.error().text() ==
          "can't read " + indexed.dump + ": it was changed after it was loaded");
}

TEST_CASE("lists of a type are the same with an index, up to its leaders and beyond") {
    std::string text;
    for (int i = 1; i <= 250; ++i) {
        text += fmt::format(R"({{"address": {}, "type": "t{}", "size": {}, "refs": [{}]}})"
                            "\n",
                            i, i % 2, i * 7 % 50, i % 3 == 0 ? "1" : "");
    }
    const Indexed indexed(text);
    const auto first = indexed.load();
    const auto second = indexed.load();
    REQUIRE(second.came_from_index());
    for (const std::size_t limit : {0UL, 1UL, 20UL, 100UL, 101UL, 1000UL}) {
        for (const std::uint32_t type : {1U, 2U}) {
            const auto scanned = heap::list_type(first.graph(), {type}, limit);
            const auto stored = heap::list_type(second.graph(), {type}, limit);
            CHECK(scanned.count == 125);
            CHECK(addresses(first.graph(), scanned.shown) ==
                  addresses(second.graph(), stored.shown));
            CHECK(std::tuple(scanned.count, scanned.size, scanned.others, scanned.others_size) ==
                  std::tuple(stored.count, stored.size, stored.others, stored.others_size));
        }
    }
}

TEST_CASE("where the dump's folder can't be written the index goes to the cache folder") {
    Indexed indexed(graph_text());
    // A folder in the index's place can't be replaced by a file, whoever tries.
    std::filesystem::create_directory(indexed.paths.graph);
    std::filesystem::create_directory(indexed.paths.tree);
    std::filesystem::create_directory(indexed.paths.strings);
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
