#include <fmt/format.h>
#include <zlib.h>

#include <random>

#include "heap/reader/json_text.h"
#include "heap/reader/layout_scanner.h"
#include "heap/reader/line_parser.h"
#include "heap/reader/raw_chunk.h"
#include "heap/reader/sniff.h"
#include "heap/reader/text_source.h"
#include "heap_fixture.h"
#include "mapdiag/heap/messages.h"

using namespace mapdiag;
using namespace mapdiag::test;

namespace {

heap::RawChunk read(const std::string& text, bool last = true) {
    return heap::read_chunk(text, {.offset = 0, .hash_key = 1, .last = last});
}

// The reason why the only line of a text is bad.
std::string reason(const std::string& line) {
    const auto chunk = read(line + "\n");
    REQUIRE(chunk.bad_line_count == 1);
    CHECK(chunk.object_count == 0);
    return std::string(heap::reason_text(chunk.bad_lines[0].reason));
}

std::string object(const std::string& inside) {
    return "{" + inside + "}";
}

const std::string kUsual =
    "{\"address\": 139744504311856, \"type\": \"dict\", \"size\": 280, "
    "\"len\": 2, \"refs\": [139744504311857, 7, 18446744073709551615]}\n";

}  // namespace

TEST_CASE("scanner and parser read the same from every line") {
    const std::vector<std::string> lines = {
        kUsual,
        "{\"address\": 1, \"type\": \"str\", \"size\": 1, \"len\": 3, \"value\": \"a\\\"b\", "
        "\"refs\": []}\n",
        "{\"address\": 1, \"type\": \"int\", \"size\": 1, \"value\": -5, \"refs\": []}\n",
        "{\"address\": 1, \"type\": \"module\", \"size\": 1, \"name\": \"x.y\", \"refs\": [1]}\n",
        "{\"address\": 12345678, \"type\": \"a\", \"size\": 1234567812345678, \"refs\": "
        "[1234567812345678, 12345678]},\n",
    };
    for (const auto& line : lines) {
        INFO(line);
        const auto padded = line + std::string(heap::kScannerSlack * 2, ' ');
        std::vector<std::uint64_t> refs(padded.size());
        heap::ScannedObject scanned;
        scanned.refs = refs.data();
        const auto* const end = heap::scan_usual_line(
            padded.data(), padded.data() + padded.size() - heap::kScannerSlack, scanned);
        REQUIRE(end == padded.data() + line.size());
        heap::LineParser parser(line);
        heap::ParsedObject parsed;
        REQUIRE(parser.has_object());
        REQUIRE(parser.read_object(parsed));
        CHECK(scanned.address == parsed.address);
        CHECK(scanned.size == parsed.size);
        CHECK(scanned.length == parsed.length);
        CHECK(scanned.type == parsed.type);
        refs.resize(scanned.ref_count);
        CHECK(refs == parsed.refs);
        CHECK_FALSE(parser.has_object());
        CHECK(parser.ok());
    }
}

TEST_CASE("lines of every other layout") {
    const auto chunk = read(
        "\xEF\xBB\xBF[\n{ \"refs\" : [ 1 , 2 ] , \"size\":64,\"type\":\"l\\u00e9\",\"address\":2, "
        "\"x\": {\"a\": [1, \"}\"]}}\r\n\n{\"address\":3,\"type\":\"t\",\"size\":1},{\"address\":4,"
        "\"type\":\"t\",\"size\":-0}]\n]\n");
    CHECK(chunk.bad_line_count == 1);  // the byte order mark stands before the bracket
    CHECK(chunk.object_count == 3);
    CHECK(chunk.objects[0].address == 2);
    CHECK(chunk.types[chunk.objects[0].type] == "l\u00e9");
    CHECK(chunk.ref_count == 2);
    CHECK(chunk.objects[2].address == 4);
}

TEST_CASE("every reason for a bad line has its words") {
    CHECK(reason("hello") == "not JSON");
    CHECK(reason(object("\"address\": 1, oops")) == "not JSON");
    CHECK(reason(object("")) == "no address");
    CHECK(reason(object("\"address\": -1")) == "the address is not a number from 0 to 2^64-1");
    CHECK(reason(object("\"address\": 18446744073709551616")) ==
          "the address is not a number from 0 to 2^64-1");
    CHECK(reason(object("\"address\": 1, \"size\": 1")) == "no type");
    CHECK(reason(object("\"address\": 1, \"type\": \"a\"")) == "no size");
    CHECK(reason(object("\"address\": 1, \"type\": \"a\", \"size\": -1")) == "negative size");
    CHECK(reason(object("\"address\": 1, \"type\": \"a\", \"size\": 1.5")) ==
          "the size is not a whole number");
    CHECK(reason(object("\"address\": 1, \"type\": \"a\", \"size\": 144115188075855873")) ==
          "size larger than any address space");
    CHECK(reason(object("\"address\": 1, \"type\": \"a\", \"size\": 1, \"refs\": [\"x\"]")) ==
          "refs is not a list of addresses");
    CHECK(heap::reason_text(heap::BadLine::kNoObject) == "not an object");
    CHECK(heap::reason_text(heap::BadLine::kCut) == "cut");
    CHECK(heap::reason_text(heap::BadLine::kCount) == "unusable");
}

TEST_CASE("escapes are decoded, halves of surrogate pairs too") {
    CHECK(heap::decode_json_text(R"(a\/b\"\u00e9\\)") == "a/b\"\u00e9\\");
    CHECK(heap::decode_json_text(R"(\b\f\n\r\t)") == "\b\f\n\r\t");
    CHECK(heap::decode_json_text(R"(\ud83d\ude00)") == "\U0001f600");
    CHECK(heap::decode_json_text(R"(\ud83d)") == "\xED\xA0\xBD");
    CHECK_FALSE(heap::decode_json_text(R"(\x)"));
    CHECK_FALSE(heap::decode_json_text(R"(\u12)"));
    CHECK_FALSE(heap::decode_json_text("\\"));
    CHECK(heap::text_for_people("\xED\xA0\xBDx") == "'\\ud83dx'");
    CHECK(heap::text_for_people("it's") == "\"it's\"");
    CHECK(heap::text_for_people("\xFF\n\r") == "'\\xff\\n\\r'");
    for (const std::string text : {R"(\ud83d\ude00)", R"(\ud83d)", R"(\u2030)", R"(\\x\/y\")",
                                   R"(\u0000\u0001\u001f\u007f)"}) {
        CHECK(heap::encode_json_text(*heap::decode_json_text(text)) == text);
    }
}

TEST_CASE("files that are no dump are named as what they are") {
    const auto said = [](const std::string& bytes) { return error_of(bytes, without_index()); };
    const std::string start = "can't load test.dump: no heap dump in Meliae's format: ";
    CHECK(said("") == start + "the file is empty");
    CHECK(said("\n \n") == start + "it holds nothing but blanks and line ends");
    CHECK(said("\x7F"
               "ELF123") == start + "it is an ELF file (a program, a library or a core dump)");
    CHECK(said("<svg></svg>") == start + "it is an SVG picture");
    CHECK(said("<a/>") == start + "it is an XML or HTML file");
    CHECK(said("{\"$schema\": \"https://www.speedscope.app/\"}") ==
          start + "it is a speedscope profile");
    CHECK(said("{\"a\": 1}") == start + "it is JSON of another kind");
    CHECK(said("{\n\"address\": 1\n}") ==
          start + "it is JSON, but no line of it is a whole object with address, type and size");
    CHECK(said("main;f 12\n") == start + "it is a file of folded stacks (see mapdiag top)");
    CHECK(said("hello\n") == start + "it is a text file");
    CHECK(said(std::string("\0\1\2", 3)) == start + "it is binary data");
    for (const std::string bytes : {"\x89PNG", "PK\x03\x04", "BZh",
                                    "\xFD"
                                    "7zXZ",
                                    "SQLite format 3", "mapdiag heap ix", "\x80\x04", "memray",
                                    "JAVA PROFILE", "%PDF", "#!"}) {
        CHECK(heap::describe_file(bytes) != "it is a text file");
    }
}

TEST_CASE("a dump cut anywhere gives its whole lines") {
    const auto whole = read_whole(kHeapData + "graph.dump");
    for (std::size_t size = 100; size < whole.size(); size += 37) {
        const auto text = whole.substr(0, size);
        const auto heap = load_text(text);
        const auto lines = static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
        const bool at_line_end = text.back() == '\n' || text.back() == '}';
        CHECK(heap.graph().facts().lines == lines + (text.back() == '\n' ? 0 : 1));
        CHECK(heap.warnings().size() == (at_line_end ? 0 : 1));
        CHECK(heap.graph().facts().cut == (at_line_end ? 0 : 1));
    }
}

TEST_CASE("a gzip file cut anywhere neither fails nor passes for whole") {
    const auto whole = read_whole(kHeapData + "known-py3.8.dump.gz");
    const TempFolder folder;
    for (std::size_t size = 2000; size < whole.size(); size += 60000) {
        const auto heap = load_file(folder.write("cut.gz", whole.substr(0, size)));
        REQUIRE(heap.warnings().size() == 1);
        CHECK(heap.warnings()[0].find("every whole line before that place is used") !=
              std::string::npos);
    }
}

TEST_CASE("a small file that opens to much stops at the limit") {
    const TempFolder folder;
    const auto path = folder.path("bomb.gz");
    auto* const file = gzopen(path.c_str(), "wb9");
    const std::string zeros(1U << 20, ' ');
    for (int i = 0; i < 300; ++i) {
        REQUIRE(gzwrite(file, zeros.data(), static_cast<unsigned>(zeros.size())) > 0);
    }
    REQUIRE(gzclose(file) == Z_OK);
    const auto heap = heap::Heap::load(path, without_index());
    REQUIRE_FALSE(heap);
    CHECK(heap.error().text() == "can't load " + path +
                                     ": it opens to more than 256.0 MiB (268435456 bytes); give "
                                     "--max-size if that is meant");
    auto options = without_index();
    options.limits.text = 1000;
    CHECK(heap::Heap::load(path, options).error().text().find("(1000 bytes)") != std::string::npos);
}

TEST_CASE("limits are errors, not wraps") {
    const std::string text =
        kUsual + "{\"address\": 7, \"type\": \"a\", \"size\": 1, \"refs\": []}\n";
    auto options = without_index();
    options.limits.objects = 1;
    CHECK(error_of(text, options) ==
          "can't load test.dump: more than 1 objects, which is the limit");
    options.limits.objects = 3;  // two lines and two missing addresses
    CHECK(error_of(text, options) ==
          "can't load test.dump: more than 3 objects, which is the limit");
    options = without_index();
    options.limits.refs = 2;
    CHECK(error_of(text, options) ==
          "can't load test.dump: more than 2 references, which is the limit");
    std::string large;
    for (int i = 1; i <= 129; ++i) {
        large +=
            fmt::format("{{\"address\": {}, \"type\": \"a\", \"size\": 144115188075855872}}\n", i);
    }
    CHECK(error_of(large, without_index()) ==
          "can't load test.dump: the sizes of its objects add up to more than 2^64 bytes");
}

TEST_CASE("bad lines are counted and the first few named") {
    std::string text;
    for (int i = 0; i < 10; ++i) {
        text += "junk\n";
    }
    const TempFolder folder;
    const auto path = folder.write("d", text + kUsual);
    CHECK(load_file(path).warnings()[0] ==
          path +
              ": 10 lines are not usable and left out: line 1 (not JSON), line 2 (not JSON), line "
              "3 (not JSON), line 4 (not JSON), line 5 (not JSON), ...");
}

TEST_CASE("repeated addresses: the first one counts") {
    std::string text;
    for (int i = 0; i < 3; ++i) {
        text += fmt::format("{{\"address\": 5, \"type\": \"a\", \"size\": {}, \"refs\": [5, 6]}}\n",
                            10 + i);
    }
    text += "{\"address\": 6, \"type\": \"b\", \"size\": 1, \"refs\": []}\n";
    const auto heap = load_text(text);
    CHECK(heap.graph().facts().objects == 2);
    CHECK(heap.graph().facts().repeated == 2);
    CHECK(heap.graph().facts().size == 11);
    CHECK(parents(heap.graph(), 6) == Addresses{5});
    CHECK(parents(heap.graph(), 5) == Addresses{5});
}

TEST_CASE("a module's C state does not keep its dict apart, in either place") {
    for (const std::string refs : {"2, 3", "3, 2"}) {
        const auto heap = load_text(
            "{\"address\": 1, \"type\": \"module\", \"size\": 10, \"name\": \"m\", \"refs\": [" +
            refs +
            "]}\n{\"address\": 2, \"type\": \"dict\", \"size\": 5, \"len\": 1, \"refs\": [4]}\n"
            "{\"address\": 3, \"type\": \"state\", \"size\": 1, \"refs\": []}\n"
            "{\"address\": 4, \"type\": \"int\", \"size\": 1, \"refs\": []}\n");
        CHECK(children(heap.graph(), 1) == Addresses{4, 3});
        CHECK(heap.graph().size(at(heap.graph(), 1)) == 15);
    }
}

TEST_CASE("dicts of Python 3 are not paired") {
    const auto heap = load_text(
        "{\"address\": 1, \"type\": \"dict\", \"size\": 10, \"len\": 2, \"refs\": [2, 3]}\n"
        "{\"address\": 2, \"type\": \"bytes\", \"size\": 5, \"refs\": []}\n"
        "{\"address\": 3, \"type\": \"int\", \"size\": 5, \"refs\": []}\n"
        "{\"address\": 4, \"type\": \"dict\", \"size\": 10, \"len\": 1, \"refs\": [3, 2]}\n");
    const auto alone = heap::attributes_of(heap.graph(), at(heap.graph(), 1));
    CHECK(alone.values_only);
    CHECK(alone.items.size() == 2);
    const auto pair = heap::attributes_of(heap.graph(), at(heap.graph(), 4));
    REQUIRE(pair.items.size() == 1);
    CHECK(heap.graph().address(pair.items[0].key) == 2);  // value first
    CHECK(heap.graph().address(pair.items[0].value) == 3);
}

TEST_CASE("the remaining messages") {
    CHECK(heap::no_index_warning("d", "why") ==
          "d: no index is kept, so that the next command reads the dump again: why");
    CHECK(heap::out_of_memory("d").text() == "can't load d: not enough memory");
    CHECK(heap::no_such_address("d", 7).text() ==
          "can't find address 7: d has no object there, and no reference to it");
    CHECK(heap::no_such_type("d", "T").text() == "can't find type \"T\": d has no object of it");
    CHECK(heap::only_referred_to(7, 1).text() ==
          "can't find address 7: the dump has no line for it, only references from 1 object");
    CHECK(
        heap::merged_into_owner(7, "x").text() ==
        "can't find address 7: it is the instance dict of x and shown as a part of it; --raw shows "
        "them apart");
}

TEST_CASE("chunks end at line ends") {
    const std::string text = "aaaa\nbb\ncccccccccccc\nd";
    const auto parts = heap::split_at_line_ends(text, 6);
    std::string joined;
    for (const auto part : parts) {
        joined += part;
        CHECK((part.ends_with('\n') || part.data() + part.size() == text.data() + text.size()));
    }
    CHECK(joined == text);
    CHECK(parts.size() == 3);
}
