#include "mapdiag/support/output_file.h"

#include <cerrno>

#include "mapdiag/support/mapped_file.h"
#include "support/catch.h"
#include "support/temp_folder.h"

using namespace mapdiag;

TEST_CASE("an output file appears whole or not at all") {
    const test::TempFolder folder;
    folder.write("out", "old");
    {
        auto file = OutputFile::create(folder.path("out"));
        REQUIRE(file);
        REQUIRE(file->write("new"));
        CHECK(folder.read("out") == "old");
    }
    CHECK(folder.read("out") == "old");
    CHECK(folder.file_count() == 1);

    REQUIRE(write_output_file(folder.path("out"), "new"));
    CHECK(folder.read("out") == "new");
    CHECK(folder.file_count() == 1);
}

TEST_CASE("an output file that can't be made says so with its own name") {
    const test::TempFolder folder;
    CHECK(write_output_file(folder.path("no/such"), "x").error().text() ==
          "can't write " + folder.path("no/such") + ": No such file or directory");
    CHECK(write_output_file(folder.path(), "x").error().errno_value() == EISDIR);
}

TEST_CASE("a device is written to, never replaced, and a full disk is an error") {
    CHECK(write_output_file("/dev/null", "x"));
    CHECK(std::filesystem::is_character_file("/dev/null"));
    CHECK(write_output_file("/dev/full", "x").error().text() ==
          "can't write /dev/full: No space left on device");
    CHECK(std::filesystem::is_character_file("/dev/full"));
}

TEST_CASE("files are mapped, folders and missing files are named") {
    const test::TempFolder folder;
    const auto mapped = MappedFile::open(folder.write("in", "bytes"));
    REQUIRE(mapped);
    CHECK(mapped->bytes() == "bytes");
    CHECK(MappedFile::open(folder.write("empty", ""))->bytes().empty());
    CHECK(MappedFile::open(folder.path()).error().text() ==
          "can't map " + folder.path() + ": it is a folder");
    CHECK(MappedFile::open(folder.path("none")).error().text() ==
          "can't open " + folder.path("none") + ": No such file or directory");
}
