#include "mapdiag/support/compress.h"

#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "catch.h"
#include "mapdiag/support/decompress.h"
#include "temp_folder.h"

using namespace mapdiag;
using mapdiag::test::TempFolder;

namespace {

// Hard to pack, so that it fills the packers' buffers several times.
std::string noise(std::size_t size) {
    std::string out;
    std::uint32_t state = 1;
    while (out.size() < size) {
        state = state * 1664525 + 1013904223;
        out += static_cast<char>(state >> 24);
    }
    return out;
}

std::string unpacked(const std::string& path) {
    auto stream = InputStream::open(path);
    REQUIRE(stream);
    std::string out;
    std::string buffer(10000, '\0');
    for (;;) {
        const auto got = stream->read({buffer.data(), buffer.size()});
        REQUIRE(got);
        if (*got == 0) {
            return out;
        }
        out.append(buffer, 0, *got);
    }
}

}  // namespace

TEST_CASE("what is packed comes out the same, by the ending of the name") {
    const TempFolder folder;
    const auto text = noise(300000) + std::string(300000, 'a');
    for (const std::string name : {"a.gz", "a.zst", "a.txt"}) {
        const auto path = folder.path(name);
        auto out = PackedOutput::create(path);
        REQUIRE(out);
        // Nothing, little, much.
        REQUIRE(out->write(""));
        REQUIRE(out->write(text.substr(0, 1)));
        REQUIRE(out->write(text.substr(1)));
        CHECK(folder.read(name).empty());
        REQUIRE(out->commit());
        CHECK(unpacked(path) == text);
    }
    CHECK(folder.read("a.gz").starts_with("\x1f\x8b"));
    CHECK(folder.read("a.zst").starts_with("\x28\xb5\x2f\xfd"));
    CHECK(folder.read("a.txt") == text);
    CHECK(folder.read("a.gz").size() < 400000);
    CHECK(folder.read("a.zst").size() < 400000);
}

TEST_CASE("an empty output is a whole stream") {
    const TempFolder folder;
    for (const std::string name : {"a.gz", "a.zst", "a"}) {
        auto out = PackedOutput::create(folder.path(name));
        REQUIRE(out);
        REQUIRE(out->commit());
        CHECK(unpacked(folder.path(name)).empty());
    }
}

TEST_CASE("an output that is not committed leaves nothing behind") {
    const TempFolder folder;
    {
        auto out = PackedOutput::create(folder.path("a.gz"));
        REQUIRE(out);
        REQUIRE(out->write("text"));
    }
    CHECK(folder.file_count() == 0);
}

TEST_CASE("the mode is the one that was asked for") {
    const TempFolder folder;
    auto out = PackedOutput::create(folder.path("a.zst"), 0600);
    REQUIRE(out);
    REQUIRE(out->commit());
    struct stat status = {};
    REQUIRE(::stat(folder.path("a.zst").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("a folder that is not there is an error") {
    for (const std::string ending : {"", ".gz", ".zst"}) {
        const TempFolder folder;
        const auto missing = PackedOutput::create(folder.path("none/a" + ending));
        REQUIRE_FALSE(missing);
        CHECK(missing.error().text().find("No such file or directory") != std::string::npos);
    }
}
