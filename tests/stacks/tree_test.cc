// The call tree, the picture of it and the tree for the terminal.
#include <regex>

#include "check_bytes.h"
#include "stacks/draw/escape.h"
#include "stacks_fixture.h"

using namespace mapdiag;
using namespace mapdiag::test;
using stacks::NodeKind;

namespace {

// "depth label first+weight" of each node.
Texts nodes_of(const stacks::Tree& tree, const stacks::Profile& profile) {
    CHECK_NOTHROW(check_tree(tree));
    Texts out;
    for (const auto& node : tree.nodes) {
        std::string label = node.kind == NodeKind::root ? "all"
                            : node.kind == NodeKind::frame
                                ? std::string(profile.table.text(node.frame))
                                : "[" + std::to_string(node.merged) +
                                      (node.kind == NodeKind::others ? " others]" : " deeper]");
        out.push_back(std::to_string(node.depth) + " " + label + " " + std::to_string(node.first) +
                      "+" + std::to_string(node.weight));
    }
    return out;
}

std::string svg(const std::string& text, const stacks::SvgOptions& options = {},
                const stacks::TreeOptions& tree = {}) {
    const auto profile = profile_of(text);
    std::string out;
    REQUIRE(write_flame_svg(make_tree(profile, nullptr, tree), profile, options, into(out)));
    return out;
}

struct Block {
    double x;
    double width;
    int y;
    std::string title;
};

std::vector<Block> blocks_of(const std::string& svg) {
    std::vector<Block> blocks;
    const std::regex block(
        "<rect class=\"[^\"]*\" x=\"([0-9.]+)\" y=\"([0-9]+)\" "
        "width=\"([0-9.]+)\" height=\"17\"><title>([^<]*)</title>");
    for (std::sregex_iterator it(svg.begin(), svg.end(), block), end; it != end; ++it) {
        blocks.push_back({std::stod((*it)[1]), std::stod((*it)[3]), std::stoi((*it)[2]), (*it)[4]});
    }
    return blocks;
}

}  // namespace

TEST_CASE("children by name or by weight, each beside the one before") {
    const auto profile = profile_of("m;b 4\nm;a 3\nm 1\nx 9\nm;b;c 2\n");
    CHECK(nodes_of(make_tree(profile, nullptr, {}), profile) ==
          Texts{"0 all 0+19", "1 m 0+10", "2 a 0+3", "2 b 3+6", "3 c 3+2", "1 x 10+9"});
    CHECK(
        nodes_of(make_tree(profile, nullptr, {.order = stacks::ChildOrder::by_weight}), profile) ==
        Texts{"0 all 0+19", "1 m 0+10", "2 b 0+6", "3 c 0+2", "2 a 6+3", "1 x 10+9"});
}

TEST_CASE("what is too narrow becomes a block of others, and rows add up to their parent") {
    const auto profile = profile_of("m;a 60\nm;b 3\nm;c;d 4\nm;e 30\nn 3\n");
    CHECK(nodes_of(make_tree(profile, nullptr, {.min_percent = 5}), profile) ==
          Texts{"0 all 0+100", "1 m 0+97", "2 a 0+60", "2 e 60+30", "2 [2 others] 90+7",
                "1 [1 others] 97+3"});
    // 4 is below 4.1 percent of 100, and not below 4.
    CHECK(nodes_of(make_tree(profile, nullptr, {.min_percent = 4.1}), profile)[4] ==
          "2 [2 others] 90+7");
    CHECK(nodes_of(make_tree(profile, nullptr, {.min_percent = 4}), profile)[3] == "2 c 60+4");
    CHECK(nodes_of(make_tree(profile, nullptr, {.min_percent = 100}), profile) ==
          Texts{"0 all 0+100", "1 [2 others] 0+100"});
}

TEST_CASE("what lies too deep is one block") {
    const auto profile = profile_of("a;b;c;d 3\na;b;e 4\na 1\n");
    CHECK(nodes_of(make_tree(profile, nullptr, {.deepest = 2}), profile) ==
          Texts{"0 all 0+8", "1 a 0+8", "2 b 0+7", "3 [2 deeper] 0+7"});
}

TEST_CASE("a tree with the weights of before; what is gone takes no room") {
    auto profile = profile_of("m;a 6\nm;new 4\n");
    auto before = profile_of("m;a 1\nm;gone 3\n");
    renumber(before, profile.table);
    const auto tree = make_tree(profile, &before, {});
    CHECK(nodes_of(tree, profile) == Texts{"0 all 0+10", "1 m 0+10", "2 a 0+6", "2 new 6+4"});
    CHECK(tree.total_before == 4);
    CHECK(tree.nodes[2].before == 1);
    CHECK(tree.nodes[3].before == 0);
}

TEST_CASE("frames of any depth: nothing recurses") {
    std::string line = "f";
    for (int i = 0; i < 100'000; ++i) {
        line += ";f";
    }
    const auto profile = profile_of(line + " 1\n");
    const auto tree = make_tree(profile, nullptr, {});
    CHECK(tree.deepest == 2001);
    CHECK(tree.nodes.back().kind == NodeKind::deeper);
}

TEST_CASE("the picture: places and widths add up, the text of each block says what it is") {
    const auto text = svg("m;a 1\nm;b 1\nm;c 1\n");
    const auto blocks = blocks_of(text);
    REQUIRE(blocks.size() == 5);
    CHECK(blocks[0].title == "all\n3 samples, 100.00 %");
    CHECK(blocks[1].title == "m\n3 samples, 100.00 %");
    CHECK(blocks[2].title == "a\n1 sample, 33.33 %");
    CHECK(blocks[0].width == 1180);
    CHECK(blocks[2].x == 10);
    CHECK(std::abs(blocks[2].x + blocks[2].width - blocks[3].x) < 1e-3);
    CHECK(std::abs(blocks[3].x + blocks[3].width - blocks[4].x) < 1e-3);
    CHECK(std::abs(blocks[4].x + blocks[4].width - 1190) < 1e-3);
    // The root is at the bottom, or at the top of an icicle.
    CHECK(blocks[0].y > blocks[1].y);
    const auto icicle = blocks_of(svg("m;a 1\n", {.icicle = true}));
    CHECK(icicle[0].y < icicle[1].y);
}

TEST_CASE("the picture refers to nothing outside of it") {
    auto text = svg("m;a http://example.org 1\n");
    for (const std::string name :
         {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml", "http://example.org"}) {
        for (auto at = text.find(name); at != std::string::npos; at = text.find(name)) {
            text.erase(at, name.size());
        }
    }
    for (const auto* const word : {"http", "href", "url(", "@import", "src=", "//cdn"}) {
        INFO(word);
        CHECK(text.find(word) == std::string::npos);
    }
}

TEST_CASE("the picture: markup, control characters and other bytes in names do no harm") {
    const auto text = svg("a<b>&\"]]></title><script>;\x01\xff\x7f 3\n",
                          {.title = "<t>&", .subtitles = {"</svg>"}});
    CHECK(text.find("a&lt;b&gt;&amp;&quot;]]&gt;&lt;/title&gt;&lt;script&gt;") !=
          std::string::npos);
    CHECK(text.find("\uFFFD\uFFFD\uFFFD\n3 samples") != std::string::npos);
    CHECK(text.find("<title id=\"page\">&lt;t&gt;&amp;</title>") != std::string::npos);
    CHECK(text.find("&lt;/svg&gt;") != std::string::npos);
    CHECK(text.find("</script>") == text.rfind("</script>"));
}

TEST_CASE("the picture: very long names are cut, at a character") {
    const auto text = svg(std::string(1999, 'a') + "\u00e9\u00e9 1\n");
    CHECK(text.find(std::string(1999, 'a') + " ...\n1 sample") != std::string::npos);
}

TEST_CASE("a differential picture: colour and words by change of share") {
    auto profile = profile_of("m;more 6\nm;new 4\nm;same 10\n");
    auto before = profile_of("m;more 1\nm;same 5\nm;gone 4\n");
    renumber(before, profile.table);
    std::string text;
    REQUIRE(write_flame_svg(make_tree(profile, &before, {}), profile, {}, into(text)));
    const auto blocks = blocks_of(text);
    REQUIRE(blocks.size() == 5);
    CHECK(blocks[2].title == "more\n6 samples, 30.00 % (before 10.00 %, change +20.00 points)");
    CHECK(blocks[3].title == "new\n4 samples, 20.00 % (before 0.00 %, change +20.00 points, new)");
    CHECK(blocks[4].title == "same\n10 samples, 50.00 % (before 50.00 %, change 0.00 points)");
    CHECK(text.find("class=\"d10\" x=\"10\"") != std::string::npos);
    CHECK(text.find("<rect class=\"d20\"") != std::string::npos);
}

TEST_CASE("a sink that fails ends the drawing and the export") {
    const auto profile = profile_of("a;b 1\n");
    const stacks::Sink full = [](std::string_view) -> Result<void> {
        return std::unexpected(Error("write", "disk", 28));
    };
    const auto tree = make_tree(profile, nullptr, {});
    CHECK(write_flame_svg(tree, profile, {}, full).error().text() ==
          "can't write disk: No space left on device");
    CHECK(write_folded(profile, full).error().errno_value() == 28);
    CHECK(write_speedscope(profile, "n", full).error().errno_value() == 28);
    CHECK(write_pprof(profile, full).error().errno_value() == 28);
}

TEST_CASE("the tree for the terminal: heaviest first, fitted, with a row of others") {
    const auto profile = profile_of("m;a;x 60\nm;b 3\nm;c 4\nm;e 33\n");
    const auto tree =
        make_tree(profile, nullptr, {.min_percent = 5, .order = stacks::ChildOrder::by_weight});
    CHECK(draw_flame_text(tree, profile, {.width = 50}) ==
          "100.00 %   100 \u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588 all\n"
          "100.00 %   100 \u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588 m\n"
          " 60.00 %    60 \u2588\u2588\u2588\u2588\u2588\u2588       a\n"
          " 60.00 %    60 \u2588\u2588\u2588\u2588\u2588\u2588       x\n"
          " 33.00 %    33 \u2588\u2588\u2588\u258e         e\n"
          "  7.00 %     7 \u258a            [2 others]\n");
}

TEST_CASE("texts are cut by columns, wide characters count two") {
    CHECK(stacks::columns_of("abc") == 3);
    CHECK(stacks::columns_of("\u5909\u63db") == 4);
    CHECK(stacks::columns_of("e\u0301") == 1);
    CHECK(stacks::columns_of("\U0001F600") == 2);
    CHECK(stacks::columns_of("\u00e9") == 1);
    CHECK(stacks::fit_columns("abcdef", 6) == "abcdef");
    CHECK(stacks::fit_columns("abcdef", 5) == "abc..");
    CHECK(stacks::fit_columns("abcdef", 2).empty());
    CHECK(stacks::fit_columns("\u5909\u63db\u5909", 5) == "\u5909..");
}
