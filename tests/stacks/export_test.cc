// The exports, read back: folded by ourselves, speedscope as JSON, pprof as protobuf.
#include <zlib.h>

#include <nlohmann/json.hpp>

#include "check_bytes.h"
#include "stacks_fixture.h"

using namespace mapdiag;
using namespace mapdiag::test;

namespace {

std::string folded(const stacks::Profile& profile) {
    std::string text;
    REQUIRE(write_folded(profile, into(text)));
    return text;
}

std::string unpacked(const std::string& packed) {
    z_stream stream = {};
    REQUIRE(::inflateInit2(&stream, MAX_WBITS + 16) == Z_OK);
    std::string in = packed;
    std::string out(1U << 20U, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(in.data());
    stream.avail_in = static_cast<unsigned>(in.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<unsigned>(out.size());
    REQUIRE(::inflate(&stream, Z_FINISH) == Z_STREAM_END);
    out.resize(stream.total_out);
    ::inflateEnd(&stream);
    return out;
}

}  // namespace

TEST_CASE("folded: sorted by frames, equal stacks as one, read again the same") {
    CHECK(folded(profile_of("b 1\na b;x 2\na;c 3\na 1\na;c 4\n")) == "a 1\na;c 7\na b;x 2\nb 1\n");
    CHECK(folded(profile_of("a 1.5\nb 2\n")) == "a 1.5\nb 2\n");
    for (const auto* const name :
         {"full.folded", "nolineno.folded", "oddfile.folded", "sub-threads.folded",
          "sub-multiline.folded", "sub-tree.folded", "threads.folded", "native.folded"}) {
        for (const bool keep : {false, true}) {
            INFO(name);
            const stacks::ReadOptions options{.keep_command_lines = keep};
            const ReadFile first(read_whole(kStacksFolder + "data/" + name), options);
            const auto text = folded(first.profile());
            const ReadFile again(text, options);
            CHECK(stacks_of(again.profile()) == stacks_of(first.profile()));
            CHECK(folded(again.profile()) == text);
        }
    }
}

TEST_CASE("speedscope: frames with file and line, weights that add up to endValue") {
    const auto profile = profile_of("f (a.py:3);g (b.py) 3\nf (a.py:3) 1\nx\xff;_[k];y_[k] 2.5\n");
    std::string text;
    REQUIRE(write_speedscope(profile, "na\"me", into(text)));
    const auto json = nlohmann::json::parse(text);
    CHECK(json["$schema"] == "https://www.speedscope.app/file-format-schema.json");
    CHECK(json["exporter"] == "mapdiag");
    CHECK(json["name"] == "na\"me");
    const auto& frames = json["shared"]["frames"];
    REQUIRE(frames.size() == 5);
    CHECK(frames[0] == nlohmann::json{{"name", "f"}, {"file", "a.py"}, {"line", 3}});
    CHECK(frames[1] == nlohmann::json{{"name", "g"}, {"file", "b.py"}});
    CHECK(frames[2] == nlohmann::json{{"name", "x\uFFFD"}});
    const auto& sampled = json["profiles"][0];
    CHECK(sampled["type"] == "sampled");
    CHECK(sampled["samples"] == nlohmann::json::parse("[[0],[0,1],[2,3,4]]"));
    CHECK(sampled["weights"] == nlohmann::json::parse("[1,3,2.5]"));
    CHECK(sampled["endValue"] == 6.5);
}

TEST_CASE("pprof: the bytes of a small profile, and no time in them") {
    const auto profile = profile_of("m;f (a.py:3) 5\n");
    std::string text;
    REQUIRE(write_pprof(profile, into(text)));
    // samples, count, m, f, f (a.py:3), a.py
    CHECK(unpacked(text) ==
          std::string("\x0a\x04\x08\x01\x10\x02", 6) +  // sample_type {samples, count}
              std::string("\x12\x07\x0a\x02\x01\x02\x12\x01\x05", 9) +  // sample {[1, 2], [5]}
              std::string("\x2a\x08\x08\x01\x10\x03\x18\x04\x20\x05", 10) + "" +
              std::string("\x22\x08\x08\x01\x22\x04\x08\x01\x10\x03", 10) +
              std::string("\x2a\x08\x08\x02\x10\x06\x18\x06\x20\x00", 10) +
              std::string("\x22\x08\x08\x02\x22\x04\x08\x02\x10\x00", 10) +
              std::string("\x32\x00", 2) + "\x32\x07samples" + "\x32\x05" + "count" + "\x32\x01" +
              "f" + "\x32\x0a" + "f (a.py:3)" + "\x32\x04" + "a.py" + "\x32\x01m");
    std::string again;
    REQUIRE(write_pprof(profile, into(again)));
    CHECK(text == again);
}

TEST_CASE("pprof has no counts over 2^63-1, and names the unit of fractions") {
    std::string text;
    const auto large = write_pprof(profile_of("a 9223372036854775808\n"), into(text));
    REQUIRE_FALSE(large);
    CHECK(large.error().text() == "can't write a pprof file: it has no counts over 2^63-1");
    CHECK(text.empty());
    REQUIRE(write_pprof(profile_of("a 9223372036854775807\n"), into(text)));
    std::string fractions;
    REQUIRE(write_pprof(profile_of("a 1.25\n"), into(fractions)));
    CHECK(unpacked(fractions).find("1e-2 count") != std::string::npos);
}
