// What Meliae 0.5.1 says of small dumps and of dumps of whole processes, against what mapdiag says
// of the same files. tests/heap/data/*.txt are Meliae's transcripts.
#include <fmt/format.h>

#include <map>
#include <regex>
#include <set>

#include "heap_fixture.h"
#include "mapdiag/heap/reach.h"
#include "mapdiag/heap/summary.h"

using namespace mapdiag;
using namespace mapdiag::test;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        lines.push_back(line);
    }
    return lines;
}

// The lines of a transcript below the heading "## <title>".
std::vector<std::string> section(const std::string& file, const std::string& title) {
    std::vector<std::string> found;
    bool inside = false;
    for (const auto& line : lines_of(read_whole(kHeapData + file))) {
        if (line.starts_with("## ")) {
            inside = line == "## " + title;
        } else if (inside) {
            found.push_back(line);
        }
    }
    REQUIRE_FALSE(found.empty());
    return found;
}

Addresses numbers(const std::string& text) {
    Addresses out;
    const std::regex number("[0-9]+");
    for (std::sregex_iterator it(text.begin(), text.end(), number), end; it != end; ++it) {
        out.push_back(std::stoull(it->str()));
    }
    return out;
}

heap::Describer all_values(const heap::Heap& heap) {
    heap::Describer describer(heap.graph());
    std::vector<heap::ObjectId> ids;
    for (std::uint32_t id = 1; id < heap.graph().end(); ++id) {
        ids.push_back({id});
    }
    REQUIRE(describer.show_values(heap, ids));
    return describer;
}

std::string without_total(const std::string& repr) {
    return std::regex_replace(repr, std::regex(" [0-9.]+[BKMG]tot"), "");
}

const std::string kGraphTranscript = "meliae-py2.7-json.txt";

// "  repr | size N children [..] parents [..] value V total N"
struct TableRow {
    std::uint64_t address = 0;
    std::string repr;
    Addresses children;
    Addresses parents;
};

std::vector<TableRow> table(const std::string& title) {
    std::vector<TableRow> rows;
    const std::regex row(
        R"(  (.*) \| size [0-9]+ children [\[(](.*?)[\])] parents [\[(](.*?)[\])] value .*)");
    const std::regex address(R"(\(([0-9]+) )");
    for (const auto& line : section(kGraphTranscript, title)) {
        std::smatch match;
        std::smatch found;
        if (std::regex_match(line, match, row)) {
            const std::string repr = match[1];
            REQUIRE(std::regex_search(repr, found, address));
            rows.push_back({std::stoull(found[1]), repr, numbers(match[2]), numbers(match[3])});
        }
    }
    REQUIRE(rows.size() > 20);
    return rows;
}

struct TypeRow {
    std::uint64_t count;
    std::uint64_t size;
    std::uint64_t largest;
    bool operator==(const TypeRow&) const = default;
};

std::map<std::string, TypeRow> types_of(heap::Heap& heap) {
    std::map<std::string, TypeRow> rows;
    const auto summary = heap::summarize(heap, {});
    REQUIRE(summary);
    for (const auto& row : summary->rows) {
        rows[row.kind] = {row.count, row.size, row.largest};
    }
    return rows;
}

// The oracle of a whole process: its types and the reach of known objects.
std::map<std::string, TypeRow> oracle_types(const std::string& file, const std::string& title) {
    std::map<std::string, TypeRow> rows;
    const std::regex row(R"(  (\S.*?) +count +([0-9]+) size +([0-9]+) max +([0-9]+))");
    for (const auto& line : section(file, title)) {
        std::smatch match;
        if (std::regex_match(line, match, row)) {
            rows[match[1]] = {std::stoull(match[2]), std::stoull(match[3]), std::stoull(match[4])};
        }
    }
    REQUIRE(rows.size() > 90);
    return rows;
}

std::map<std::string, std::uint64_t> known_addresses(const std::string& process) {
    std::map<std::string, std::uint64_t> found;
    const auto text = read_whole(kHeapData + process + ".json");
    const std::regex pair("\"(kh_[a-z_0-9]+)\": ([0-9]{9,})");
    for (std::sregex_iterator it(text.begin(), text.end(), pair), end; it != end; ++it) {
        found[(*it)[1]] = std::stoull((*it)[2]);
    }
    REQUIRE(found.size() > 30);
    return found;
}

void check_reach(heap::Heap& heap, const std::string& process, const std::string& title,
                 bool without_expensive) {
    const auto known = known_addresses(process);
    const std::regex row(
        R"(  (kh_\S+) +(\S+) +size +([0-9]+) children +([0-9]+) parents +([0-9]+) reach +([0-9]+) objects +([0-9]+) bytes)");
    int checked = 0;
    for (const auto& line : section(process + ".meliae.txt", title)) {
        std::smatch match;
        if (!std::regex_match(line, match, row)) {
            continue;
        }
        INFO(line);
        const auto id = at(heap.graph(), known.at(match[1]));
        const auto summary = heap::summarize(
            heap, {.of = id, .walk = {.excluding = {}, .without_expensive = without_expensive}});
        REQUIRE(summary);
        CHECK(heap.graph().size(id) == std::stoull(match[3]));
        CHECK(summary->objects == std::stoull(match[6]));
        CHECK(summary->size == std::stoull(match[7]));
        if (!without_expensive) {
            CHECK(heap.graph().children(id).size() == std::stoull(match[4]));
            CHECK(heap.graph().parents(id).size() ==
                  std::min<std::uint64_t>(100, std::stoull(match[5])));
        }
        ++checked;
    }
    CHECK(checked > 30);
}

}  // namespace

TEST_CASE("graph.dump: every object, its references and referrers, as Meliae has them") {
    auto heap = load_file(kHeapData + "graph.dump", without_index(true));
    const auto describer = all_values(heap);
    for (const auto& row : table("the same, after compute_parents")) {
        CHECK(describer.line(at(heap.graph(), row.address)) == row.repr);
        CHECK(children(heap.graph(), row.address) == row.children);
        CHECK(parents(heap.graph(), row.address) == row.parents);
    }
    CHECK(heap.graph().facts().objects == 58);
    CHECK(heap.graph().facts().repeated == 1);
    CHECK(heap.graph().facts().missing == 1);
}

TEST_CASE("graph.dump: instance dicts merged in, but for the shared ones") {
    auto heap = load_file(kHeapData + "graph.dump");
    // Meliae merges dict 2 (5 referrers), 21 (3) and 23 (3, twice) as well, and leaves module 3
    // alone, which has a state beside its dict 4.
    const std::set<std::uint64_t> differ = {1, 2, 3, 4, 20, 21, 22, 23, 24};
    for (const auto& row : table("graph.dump, collapse_instance_dicts on that manager")) {
        if (!differ.contains(row.address)) {
            INFO(row.repr);
            CHECK(children(heap.graph(), row.address) == row.children);
        }
    }
    CHECK(heap.graph().facts().merged == 3);
    CHECK(children(heap.graph(), 3) == Addresses{101, 3, 7});
    CHECK(children(heap.graph(), 26) == Addresses{102, 26, 5});
    CHECK(children(heap.graph(), 29) == Addresses{101, 48, 33});
    // Meliae counts 9731 bytes after the merge, 280 of them twice; nothing changes here.
    CHECK(heap.graph().facts().size == 9451);
}

TEST_CASE("graph.dump: expensive references are left out as in Meliae") {
    auto heap = load_file(kHeapData + "graph.dump", without_index(true));
    const heap::ExpensiveRefs expensive(heap.graph());
    for (const auto& row : table("graph.dump, not collapsed, remove_expensive_references")) {
        if (row.address == 0) {
            continue;
        }
        Addresses kept;
        const bool left_out = expensive.for_each_kept(
            at(heap.graph(), row.address),
            [&](heap::ObjectId id) { kept.push_back(heap.graph().address(id)); });
        if (left_out) {
            kept.push_back(0);
        }
        INFO(row.repr);
        CHECK(kept == row.children);
    }
}

TEST_CASE("graph.dump: walks and lists of a type in Meliae's order") {
    auto heap = load_file(kHeapData + "graph.dump", without_index(true));
    const auto describer = all_values(heap);
    const std::regex walk(R"(iter_recursive_refs\(([0-9]+)(?:, \[(.*)\])?\) -> (.*))");
    const std::regex list(R"(get_all\(([A-Za-z]+)\) -> \[(.*)\])");
    int walks = 0;
    int lists = 0;
    for (const auto& line : section(kGraphTranscript, "summaries, not collapsed")) {
        std::smatch match;
        INFO(line);
        if (std::regex_match(line, match, walk)) {
            heap::WalkOptions options;
            for (const auto address : numbers(match[2])) {
                options.excluding.push_back(at(heap.graph(), address));
            }
            const auto start = at(heap.graph(), std::stoull(match[1]));
            CHECK(addresses(heap.graph(), heap::reach_of(heap.graph(), start, options).visited) ==
                  numbers(match[3]));
            ++walks;
        } else if (std::regex_match(line, match, list) && match[1] != "nope") {
            // Equal ones are in no order in Meliae; here they come by address.
            std::multiset<std::string> expected;
            std::string rest = without_total(match[2]);
            for (std::size_t end = 0; (end = rest.find(")")) != std::string::npos;
                 rest.erase(0, std::min(rest.size(), end + 3))) {
                expected.insert(rest.substr(0, end + 1));
            }
            const auto type = heap.graph().find_type(std::string(match[1]));
            REQUIRE(type);
            std::multiset<std::string> ours;
            for (const auto id : heap::list_type(heap.graph(), *type, 100).shown) {
                ours.insert(describer.line(id));
            }
            CHECK(ours == expected);
            ++lists;
        }
    }
    CHECK(walks >= 13);
    CHECK(lists == 5);
}

TEST_CASE("graph.dump: the summary's lines are Meliae's") {
    auto heap = load_file(kHeapData + "graph.dump", without_index(true));
    const auto summary = heap::summarize(heap, {});
    REQUIRE(summary);
    const auto ours = lines_of(heap::summary_text(*summary, 100));
    const auto theirs = section(kGraphTranscript, "summaries, not collapsed");
    CHECK(ours[0] == theirs[0]);
    CHECK(ours[1] == theirs[1]);
    const auto body = [](const std::string& line) {
        // Without index and cumulative share: equal sizes are in no order in Meliae.
        return line.substr(6, 26) + line.substr(36);
    };
    std::set<std::string> known;
    for (std::size_t i = 2; i < ours.size(); ++i) {
        known.insert(body(ours[i]));
    }
    for (std::size_t i = 2; i < 22; ++i) {
        INFO(theirs[i]);
        CHECK(known.contains(body(theirs[i])));
    }
}

TEST_CASE("values.dump: all kinds of values") {
    auto heap = load_file(kHeapData + "values.dump");
    const auto describer = all_values(heap);
    const auto line = [&](std::uint64_t address) {
        return describer.line(at(heap.graph(), address));
    };
    CHECK(line(201) == "str(201 53B 1par 'a/b\\\\c\"d\\n')");
    CHECK(line(203) == "str(203 37B 1par '')");
    CHECK(line(204) == "str(204 41B 1par '1234')");
    CHECK(line(206) == "unicode(206 72B 1par 'h\u00e9llo')");
    CHECK(line(208) == "unicode(208 72B 1par '\U0001f600')");
    CHECK(line(211) == "int(211 24B 1par -9223372036854775808)");
    CHECK(line(216) == "module(216 56B 1par 'a.b')");
    CHECK(line(218) == "frame(218 480B 1par '<module>')");
    CHECK(line(219) == "float(219 24B 1par)");
    CHECK(line(220) == "str(220 53B 1par 'x, \"refs\": [1]')");
    CHECK(line(221) == "int(221 24B 1par 12345678901234567890)");
    CHECK(line(18446744073709551600ULL) == "int(18446744073709551600 24B 1)");
    // Without being asked: names, lengths, nothing else.
    const heap::Describer silent(heap.graph());
    CHECK(silent.line(at(heap.graph(), 201)) == "str(201 53B 1par len 8)");
    CHECK(silent.line(at(heap.graph(), 210)) == "int(210 24B 1par)");
    CHECK(silent.line(at(heap.graph(), 214)) == "bool(214 24B 1par)");
    CHECK(silent.line(at(heap.graph(), 217)) == "type(217 904B 1par 'ns.Class')");
}

TEST_CASE("whole processes: types, references and reach as Meliae has them") {
    for (const std::string process : {"known-py3.8", "known-py3.11"}) {
        INFO(process);
        auto heap = load_file(kHeapData + process + ".dump.gz", without_index(true));
        CHECK(types_of(heap) == oracle_types(process + ".meliae.txt", "as dumped"));
        check_reach(heap, process, "as dumped", false);
        check_reach(heap, process, "as dumped, expensive references removed", true);
    }
}

TEST_CASE("whole processes: merged instance dicts") {
    for (const std::string process : {"known-py3.8", "known-py3.11"}) {
        INFO(process);
        auto raw = load_file(kHeapData + process + ".dump.gz", without_index(true));
        auto merged = load_file(kHeapData + process + ".dump.gz");
        // Meliae counts shared dicts twice; here a merge moves bytes and makes none.
        CHECK(merged.graph().facts().size == raw.graph().facts().size);
        auto ours = types_of(merged);
        const auto theirs = oracle_types(process + ".meliae.txt", "collapsed");
        // Where a dict has other holders (most modules, as each function refers to its globals) it
        // stays; everything else is as in Meliae.
        for (const auto& [kind, row] : theirs) {
            if (kind == "dict" || kind == "module" || kind == "KhRec") {
                continue;
            }
            INFO(kind);
            CHECK(ours[kind].count == row.count);
            CHECK(ours[kind].size <= row.size);
        }
        CHECK(ours["KhRec"].count == 1002);
    }
}

TEST_CASE("damaged dumps: what can be read is read, and the rest is named") {
    struct Fault {
        std::string file;
        std::uint64_t objects;
        std::string said;  // a part of the warning; "" for none
    };
    const std::vector<Fault> faults = {
        {"address-hex", 2, "line 2 (the address is not a number from 0 to 2^64-1)"},
        {"backslash-name", 3, ""},
        {"blank-line-inside", 3, ""},
        {"cut-before-address", 3, "cut within line 4"},
        {"cut-in-refs", 3, "cut within line 4"},
        {"extra-key", 3, ""},
        {"gzip-cut", 313, "cut short"},
        {"gzip-two-members", 3, ""},
        {"huge-size", 2, "line 2 (size larger than any address space)"},
        {"junk-inside", 3, "line 2 (not JSON)"},
        {"keys-reordered", 2, ""},
        {"missing-one-of-three", 3, ""},
        {"missing-one-of-two", 3, ""},
        {"negative-size", 2, "line 2 (negative size)"},
        {"no-refs", 3, ""},
        {"no-spaces", 3, ""},
        {"nul-byte", 3, "line 3 (not JSON)"},
        {"raw-utf8-value", 3, ""},
        {"refs-negative", 3, ""},
    };
    for (const auto& fault : faults) {
        INFO(fault.file);
        const auto heap = load_file(kHeapData + "faults/" + fault.file + ".dump");
        CHECK(heap.graph().facts().objects == fault.objects);
        REQUIRE(heap.warnings().size() == (fault.said.empty() ? 0 : 1));
        if (!fault.said.empty()) {
            CHECK(heap.warnings()[0].find(fault.said) != std::string::npos);
        }
    }
}
