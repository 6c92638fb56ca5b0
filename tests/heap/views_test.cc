// What the commands say, word for word, and that rows which are left out are added up.
#include <fmt/format.h>
#include <sqlite3.h>
#include <zlib.h>

#include <nlohmann/json.hpp>

#include "heap_fixture.h"
#include "mapdiag/heap/convert.h"
#include "mapdiag/heap/diff.h"
#include "mapdiag/heap/messages.h"
#include "mapdiag/heap/paths.h"
#include "mapdiag/heap/retained.h"
#include "mapdiag/heap/sizes.h"
#include "mapdiag/heap/strings.h"
#include "mapdiag/heap/summary.h"

using namespace mapdiag;
using namespace mapdiag::test;
using Json = nlohmann::json;

namespace {

// A module whose cache dict holds ten lists with a string each; beside them a small other root.
std::string cache_dump() {
    std::string text =
        "{\"address\": 1, \"type\": \"module\", \"size\": 50, \"name\": \"app\", \"refs\": [2]}\n"
        "{\"address\": 2, \"type\": \"Cache\", \"size\": 50, \"refs\": [3]}\n"
        "{\"address\": 3, \"type\": \"list\", \"size\": 100, \"len\": 10, \"refs\": [10, 11, 12, "
        "13, "
        "14, 15, 16, 17, 18, 19]}\n"
        "{\"address\": 4, \"type\": \"tuple\", \"size\": 100, \"len\": 0, \"refs\": []}\n";
    for (int i = 10; i < 20; ++i) {
        text += fmt::format(
            "{{\"address\": {}, \"type\": \"str\", \"size\": 100, \"len\": 6, \"value\": "
            "\"SECRET\", \"refs\": []}}\n",
            i);
    }
    return text;
}

struct Loaded {
    explicit Loaded(const std::string& text)
        : path(folder.write("d", text)),
          heap(load_file(path)),
          graph(heap.graph()),
          tree(**heap.retained()) {}

    TempFolder folder;
    std::string path;
    heap::Heap heap;
    const heap::Graph& graph;
    const heap::DominatorTree& tree;
};

}  // namespace

TEST_CASE("summary: rows that are left out are added up") {
    Loaded dump(read_whole(kHeapData + "graph.dump"));
    for (const auto order :
         {heap::SummaryOrder::kSize, heap::SummaryOrder::kCount, heap::SummaryOrder::kRetained}) {
        const auto summary = heap::summarize(dump.heap, {.order = order, .of = {}, .walk = {}});
        REQUIRE(summary);
        for (const std::size_t limit : {0U, 1U, 5U, 25U, 26U, 1000U}) {
            const auto json = Json::parse(heap::summary_json(*summary, limit));
            std::uint64_t size = 0;
            std::uint64_t count = 0;
            for (const auto& row : json["rows"]) {
                size += row["size"].get<std::uint64_t>();
                count += row["count"].get<std::uint64_t>();
            }
            if (json.contains("others")) {
                size += json["others"]["size"].get<std::uint64_t>();
                count += json["others"]["count"].get<std::uint64_t>();
            }
            CHECK(size == json["size"]);
            CHECK(count == json["objects"]);
            CHECK(size == dump.graph.facts().size);
        }
    }
    const auto summary =
        heap::summarize(dump.heap, {.order = heap::SummaryOrder::kRetained, .of = {}, .walk = {}});
    CHECK(heap::summary_text(*summary, 1) ==
          "Total 55 objects, 26 types, Total size = 0.0MiB (9451 bytes)\n"
          " Index   Count   %      Size   % Cum     Max    Retained Kind\n"
          "     0       8  14      3008  31  31    1048        3347 dict\n"
          "            47  85      6443  68 100     904           - [25 others]\n");
}

TEST_CASE("summary: excluded objects are left out of the whole heap too") {
    Loaded dump(cache_dump());
    const auto strings = heap::list_type(dump.graph, *dump.graph.find_type("str"), 3);
    const auto summary =
        heap::summarize(dump.heap, {.of = {}, .walk = {.excluding = strings.shown}});
    REQUIRE(summary);
    CHECK(summary->size == 1000);
    CHECK(summary->objects == 11);
}

TEST_CASE("retained: by object and by type") {
    Loaded dump(cache_dump());
    CHECK(heap::retained_text(dump.graph, dump.tree, heap::view_retained(dump.graph, dump.tree, 1),
                              2) ==
          "Total 1300 bytes (1.27 KiB), retained by 2 objects at the top (2 roots and what several "
          "of "
          "them share)\n"
          "    Retained       %        Size Object\n"
          "        1200  92.3 %          50 module(1 50B 1refs 'app')\n"
          "         100   7.7 %           - [1 others]\n"
          "\n"
          "By type; Top adds up to the total, Retained overlaps between types\n"
          "       Count          Size           Top      Retained Kind\n"
          "           1            50          1200          1200 module\n"
          "           1            50             0          1150 Cache\n"
          "          12          1200           100             - [3 others]\n");
    const heap::Describer describer(dump.graph);
    CHECK(
        heap::retained_object_text(dump.graph, dump.tree,
                                   heap::view_retained(dump.graph, dump.tree, at(dump.graph, 3), 1),
                                   describer) ==
        "list(3 100B 10refs 1par) retains 1100 bytes (1.07 KiB), 84.6 % of the heap; 100 bytes are "
        "its own\n"
        "Held by, from the top (a root):\n"
        "        1200 module(1 50B 1refs 'app')\n"
        "             [1 others]\n"
        "        1100   list(3 100B 10refs 1par)\n"
        "Of what it holds directly, 10 objects, the biggest:\n"
        "         100 str(10 100B 1par len 6)\n"
        "         900 [9 others]\n");
    const auto json = Json::parse(heap::retained_json(
        dump.graph, dump.tree, heap::view_retained(dump.graph, dump.tree, 1), 2));
    CHECK(json["top"][0]["retained"].get<int>() + json["top_others"]["retained"].get<int>() ==
          json["size"]);
    const auto object = Json::parse(heap::retained_object_json(
        dump.graph, dump.tree, heap::view_retained(dump.graph, dump.tree, at(dump.graph, 3), 1),
        describer));
    CHECK(object["chain"].size() == 2);
    CHECK(object["held_others"]["retained"] == 900);
}

TEST_CASE("retained: what several roots share, and what holds nothing") {
    const Loaded dump(R"({"address": 1, "type": "a", "size": 10, "refs": [3]}
{"address": 2, "type": "b", "size": 10, "refs": [3]}
{"address": 3, "type": "c", "size": 80, "refs": []}
)");
    CHECK(heap::retained_object_text(
              dump.graph, dump.tree,
              heap::view_retained(dump.graph, dump.tree, at(dump.graph, 3), 20),
              heap::Describer(dump.graph)) ==
          "c(3 80B 2par) retains 80 bytes (80 B), 80.0 % of the heap; 80 bytes are its own\n"
          "Held by, from the top (shared by several roots):\n"
          "          80 c(3 80B 2par)\n"
          "It holds nothing else\n");
    CHECK(heap::suspects_text(dump.graph, dump.tree, heap::find_suspects(dump.graph, dump.tree),
                              "d", 20) ==
          "The heap has 100 B in 3 objects.\n"
          "\n"
          "1. c(3 80B 2par) holds 80 B, 80.0 % of the heap.\n"
          "  It piles up there, its own size.\n"
          "  Were that one object let go, these 80 B could be freed. To see the way to it and what "
          "it\n"
          "  holds: mapdiag heap retained d 3\n");
}

TEST_CASE("retained: of a long chain both ends are shown, and the way down is found") {
    std::string text;
    for (int i = 1; i <= 1000; ++i) {
        text +=
            fmt::format("{{\"address\": {}, \"type\": \"Node\", \"size\": 10, \"refs\": [{}]}}\n",
                        i, i == 1000 ? "" : std::to_string(i + 1));
    }
    const Loaded dump(text);
    const heap::Describer describer(dump.graph);
    const auto object = heap::view_retained(dump.graph, dump.tree, at(dump.graph, 998), 3);
    CHECK(heap::retained_object_text(dump.graph, dump.tree, object, describer) ==
          "Node(998 10B 1refs 1par) retains 30 bytes (30 B), 0.3 % of the heap; 10 bytes are its "
          "own\n"
          "Held by, from the top (a root):\n"
          "       10000 Node(1 10B 1refs)\n"
          "        9990   Node(2 10B 1refs 1par)\n"
          "             [995 others]\n"
          "          30     Node(998 10B 1refs 1par)\n"
          "Of what it holds directly, 1 object, the biggest:\n"
          "          20 Node(999 10B 1refs 1par)\n");
    const auto json =
        Json::parse(heap::retained_object_json(dump.graph, dump.tree, object, describer));
    CHECK(json["chain"].size() == 3);
    CHECK(json["chain_others"] == Json({{"after", 2}, {"objects", 995}}));
    // Each node holds more than 70 % of what the one above it holds until 4 are left, of which it
    // holds 3.
    const auto suspects = heap::find_suspects(dump.graph, dump.tree);
    REQUIRE(suspects.size() == 1);
    CHECK(suspects[0].chain.size() == 998);
    CHECK(suspects[0].chain.back() == at(dump.graph, 998));
    const auto found = Json::parse(heap::suspects_json(dump.graph, dump.tree, suspects, 2));
    CHECK(found["suspects"][0]["steps"] == 997);
    CHECK(found["suspects"][0]["chain"].size() == 3);
}

TEST_CASE("suspects: what holds much, and where it piles up") {
    Loaded dump(cache_dump());
    const auto suspects = heap::find_suspects(dump.graph, dump.tree);
    CHECK(
        heap::suspects_text(dump.graph, dump.tree, suspects, "d", 20) ==
        "The heap has 1.27 KiB in 14 objects.\n"
        "\n"
        "1. module(1 50B 1refs 'app') holds 1.17 KiB, 92.3 % of the heap.\n"
        "  It piles up 2 steps below, in list(3 100B 10refs 1par), which holds 1.07 KiB; 100 B of "
        "these are its own and 10 objects lie directly below:\n"
        "        1000 B in 10 str\n"
        "  Were that one object let go, these 1.07 KiB could be freed. To see the way to it and "
        "what "
        "it\n"
        "  holds: mapdiag heap retained d 3\n");
    const auto json = Json::parse(heap::suspects_json(dump.graph, dump.tree, suspects, 20));
    CHECK(json["suspects"][0]["chain"].size() == 3);
    CHECK(json["suspects"][0]["below"][0]["retained"] == 1000);
}

TEST_CASE("suspects: many objects of one type, or nothing") {
    std::string text;
    for (int i = 1; i <= 20; ++i) {
        text += fmt::format(
            "{{\"address\": {}, \"type\": \"{}\", \"size\": 10, \"refs\": [{}]}}\n"
            "{{\"address\": {}, \"type\": \"leaf\", \"size\": 5, \"refs\": []}}\n",
            i, i <= 10 ? "row" : std::string(1, static_cast<char>('a' + i)), 100 + i, 100 + i);
    }
    Loaded dump(text);
    CHECK(
        heap::suspects_text(dump.graph, dump.tree, heap::find_suspects(dump.graph, dump.tree), "d",
                            20) ==
        "The heap has 300 B in 40 objects.\n"
        "\n"
        "1. 10 objects of type row hold 150 B, 50.0 % of the heap, together; none of them much by "
        "itself.\n"
        "  10 objects lie directly below them:\n"
        "          50 B in 10 leaf\n"
        "  Each is held from more than one side or by nothing in the dump. To see what refers to "
        "the\n"
        "  largest: mapdiag heap parents d 1\n");
    std::string even;
    for (int i = 1; i <= 10; ++i) {
        even += fmt::format("{{\"address\": {}, \"type\": \"t{}\", \"size\": 10, \"refs\": []}}\n",
                            i, i);
    }
    Loaded flat(even);
    CHECK(heap::suspects_text(flat.graph, flat.tree, heap::find_suspects(flat.graph, flat.tree),
                              "d", 20) ==
          "The heap has 100 B in 10 objects.\n"
          "Nothing holds more than a fifth of it; the most, 10.0 %, is held by t1(1 10B).\n");
}

TEST_CASE("strings: duplicates and what they waste, without showing them") {
    Loaded dump(cache_dump());
    const auto view = heap::find_duplicate_strings(dump.graph, 20);
    const heap::Describer describer(dump.graph);
    CHECK(
        heap::strings_text(view, dump.graph, describer) ==
        "10 strings, 1000 bytes (1000 B); 1 values occur more than once and waste 900 bytes (900 "
        "B)\n"
        "    Wasted     Count        Size String\n"
        "       900        10        1000 str of length 6, one of them str(10 100B 1par len 6)\n");
    const auto none = heap::find_duplicate_strings(dump.graph, 0);
    CHECK(none.others_wasted == 900);
    CHECK(heap::strings_text(none, dump.graph, describer)
              .ends_with("         -           - [1 others]\n"));
    CHECK(Json::parse(heap::strings_json(none, dump.graph, describer))["others"]["wasted"] == 900);
}

TEST_CASE("strings: of long ones only the beginning is compared, and that is said") {
    std::string text;
    for (int i = 1; i <= 2; ++i) {
        text += fmt::format(
            "{{\"address\": {}, \"type\": \"str\", \"size\": 300, \"len\": 250, "
            "\"value\": \"xxx\", \"refs\": []}}\n",
            i);
    }
    Loaded dump(text);
    const auto said = heap::strings_text(heap::find_duplicate_strings(dump.graph, 20), dump.graph,
                                         heap::Describer(dump.graph));
    CHECK(said.find(", 300 B of these in strings of which the dump has the beginning only\n") !=
          std::string::npos);
    CHECK(said.find("str of length 250 (alike in the first 100 characters)") != std::string::npos);
}

TEST_CASE("path: the shortest ways, with their common beginning once") {
    const std::string text = R"({"address": 1, "type": "root", "size": 1, "refs": [2]}
{"address": 2, "type": "list", "size": 1, "refs": [3, 4]}
{"address": 3, "type": "a", "size": 1, "refs": [5]}
{"address": 4, "type": "b", "size": 1, "refs": [5, 3]}
{"address": 5, "type": "leaf", "size": 1, "refs": []}
)";
    Loaded dump(text);
    const heap::Describer describer(dump.graph);
    const auto paths = heap::shortest_paths(dump.graph, dump.tree, at(dump.graph, 5), 20);
    CHECK(heap::paths_text(paths, dump.graph, describer) ==
          "2 shortest ways from a root, 3 references long\n"
          "root(1 1B 1refs)\n"
          "  list(2 1B 2refs 1par)\n"
          "    a(3 1B 1refs 2par)\n"
          "      leaf(5 1B 2par)\n"
          "    b(4 1B 2refs 1par)\n"
          "      leaf(5 1B 2par)\n");
    const auto one = heap::shortest_paths(dump.graph, dump.tree, at(dump.graph, 5), 1);
    CHECK(heap::paths_text(one, dump.graph, describer).ends_with("[1 others]\n"));
    CHECK(Json::parse(heap::paths_json(one, dump.graph, describer))["others"] == 1);
    CHECK(heap::paths_text(heap::shortest_paths(dump.graph, dump.tree, at(dump.graph, 1), 20),
                           dump.graph, describer) ==
          "1 shortest way from a root, 0 references long\nroot(1 1B 1refs)\n");
}

TEST_CASE("lists: others are counted, values only on request") {
    Loaded dump(cache_dump());
    const auto list = heap::list_children(dump.graph, at(dump.graph, 3), 1);
    heap::Describer describer(dump.graph);
    CHECK(heap::list_text("children", list, dump.graph, describer) ==
          "children: 10 objects, 1000 bytes (1000 B)\nstr(10 100B 1par len 6)\n"
          "[9 others] 900 bytes (900 B)\n");
    CHECK(Json::parse(heap::list_json(list, dump.graph, describer))["others"]["size"] == 900);
    REQUIRE(describer.show_values(dump.heap, list.shown));
    CHECK(describer.line(list.shown[0]) == "str(10 100B 1par 'SECRET')");
    CHECK(Json::parse(heap::list_json(list, dump.graph, describer))["objects"][0]["value"] ==
          "'SECRET'");
}

TEST_CASE("show and size") {
    Loaded dump(cache_dump());
    const heap::Describer describer(dump.graph);
    CHECK(heap::show_text(dump.graph, at(dump.graph, 3), describer, 1) ==
          "list(3 100B 10refs 1par)\nrefers to:\n  str(10 100B 1par len 6)\n  [9 others]\n");
    CHECK(Json::parse(heap::show_json(dump.graph, at(dump.graph, 3), describer,
                                      1))["other_refs_others"] == 9);
    const auto total = heap::total_size_of(dump.graph, at(dump.graph, 2), {});
    CHECK(heap::total_size_text(dump.graph, at(dump.graph, 2), total, describer) ==
          "Cache(2 50B 1refs 1par 1.1Ktot) reaches 1150 bytes (1.12 KiB) in 12 objects\n");
    CHECK(Json::parse(heap::total_size_json(dump.graph, at(dump.graph, 2), total,
                                            describer))["reach_size"] == 1150);
    const auto python3 = load_text(
        "{\"address\": 1, \"type\": \"dict\", \"size\": 9, \"len\": 1, \"refs\": [2]}\n"
        "{\"address\": 2, \"type\": \"bytes\", \"size\": 5, \"refs\": []}\n");
    CHECK(heap::show_text(python3.graph(), at(python3.graph(), 1), heap::Describer(python3.graph()),
                          9) ==
          "dict(1 9B 1refs)\nvalues (the dump does not list the keys):\n  bytes(2 5B 1par)\n");
}

TEST_CASE("diff: by type, in every column") {
    Loaded before(cache_dump());
    Loaded after(cache_dump().substr(0, cache_dump().rfind("{\"address\": 19")));
    const auto diff = heap::compare_heaps(before.heap, after.heap);
    REQUIRE(diff);
    CHECK(
        heap::diff_text(*diff, 1) ==
        "   Count +/-       Count      Size +/-          Size  Retained +/-      Retained Kind\n"
        "          -1           9          -100           900          -100           900 str\n"
        "           0           4             0           300             -             - [4 "
        "others]\n"
        "          -1          13          -100          1200          -100          1200 Total\n");
    const auto json = Json::parse(heap::diff_json(*diff, 1));
    CHECK(json["types"][0]["size"]["after"].get<int>() +
              json["others"]["size"]["after"].get<int>() ==
          json["total"]["size"]["after"]);
}

TEST_CASE("convert: a dump again, plain and packed") {
    const TempFolder folder;
    const auto source = folder.write("d", read_whole(kHeapData + "graph.dump") + "junk\n");
    const auto raw = load_file(source, without_index(true));
    for (const std::string name : {"out.dump", "out.gz", "out.zst"}) {
        const auto path = folder.path(name);
        const auto written = heap::convert_to_dump(raw, {}, path);
        REQUIRE(written);
        CHECK(heap::converted_text("x", *written) ==
              fmt::format("x: 58 objects, {} references\n", raw.graph().columns().children.size()));
        const auto again = load_file(path, without_index(true));
        CHECK(again.graph().facts().size == raw.graph().facts().size);
        CHECK(again.graph().facts().bad_lines == 0);
        CHECK(again.graph().facts().repeated == 0);
        CHECK(again.graph().facts().missing == 1);
        CHECK(children(again.graph(), 2) == children(raw.graph(), 2));
    }
    CHECK(read_whole(folder.path("out.dump"))
              .starts_with("{\"address\": 1, \"type\": \"module\", \"size\": 56, \"name\": "
                           "\"app\", \"refs\": [2]}\n"));
    REQUIRE(heap::convert_to_dump(raw, {.without_expensive = true}, folder.path("less")));
    const auto less = load_file(folder.path("less"), without_index(true));
    CHECK(children(less.graph(), 5) == Addresses{6, 8, 0});
    CHECK(less.graph().type_name(less.graph().type(at(less.graph(), 0))) == "<ex-reference>");
    CHECK_FALSE(heap::convert_to_dump(raw, {}, folder.path("none/out")));
    CHECK(heap::dump_changed("d").text() == "can't read d: it was changed after it was loaded");
}

TEST_CASE("convert: tables") {
    const TempFolder folder;
    auto raw = load_file(kHeapData + "graph.dump", without_index(true));
    const auto path = folder.path("out.db");
    REQUIRE(heap::convert_to_sqlite(raw, {}, path));
    CHECK(folder.file_count() == 1);
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
    const auto number = [&](const char* sql) {
        sqlite3_stmt* statement = nullptr;
        REQUIRE(sqlite3_prepare_v2(database, sql, -1, &statement, nullptr) == SQLITE_OK);
        REQUIRE(sqlite3_step(statement) == SQLITE_ROW);
        const auto value = sqlite3_column_int64(statement, 0);
        sqlite3_finalize(statement);
        return static_cast<std::uint64_t>(value);
    };
    CHECK(number("SELECT count(*) FROM objects") == 58);
    CHECK(number("SELECT sum(size) FROM objects") == 9451);
    CHECK(number("SELECT count(*) FROM refs") == raw.graph().columns().children.size());
    CHECK(number("SELECT count(*) FROM refs WHERE child IS NULL") == 1);
    CHECK(number("SELECT parents FROM missing WHERE address = '9999'") == 1);
    CHECK(number("SELECT count(*) FROM objects WHERE value IS NOT NULL") == 0);
    CHECK(number("SELECT sum(retained) FROM objects WHERE dominator IS NULL") == 9451);
    CHECK(number("SELECT count(*) FROM objects JOIN types ON type = types.id WHERE types.name = "
                 "'dict'") == 11);
    sqlite3_close(database);
    REQUIRE(heap::convert_to_sqlite(raw, {.show_values = true}, path));
    REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
    CHECK(number("SELECT count(*) FROM objects WHERE value = '''a'''") == 1);
    sqlite3_close(database);
    CHECK_FALSE(heap::convert_to_sqlite(raw, {}, folder.path("none/out")));
}
