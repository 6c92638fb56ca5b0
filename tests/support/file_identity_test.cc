#include "mapdiag/support/file_identity.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catch.h"
#include "temp_folder.h"

using namespace mapdiag;
using mapdiag::test::TempFolder;

TEST_CASE("a file is itself") {
    const TempFolder folder;
    const auto path = folder.write("a", "1234");
    const auto identity = identify_file(path);
    REQUIRE(identity);
    CHECK(identity->size == 4);
    CHECK(*identify_file(path) == *identity);
}

TEST_CASE("another size, another time, another file in its place: all tell") {
    const TempFolder folder;
    const auto path = folder.write("a", "1234");
    const auto before = *identify_file(path);

    REQUIRE(::truncate(path.c_str(), 5) == 0);
    CHECK(*identify_file(path) != before);

    folder.write("a", "1234");
    const timespec times[2] = {{100, 5}, {100, 5}};
    REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
    const auto timed = *identify_file(path);
    CHECK(timed.modified_ns == 100'000'000'005);
    CHECK(timed != before);

    // Same size and mtime: the inode tells.
    const auto other = folder.write("b", "1234");
    REQUIRE(::utimensat(AT_FDCWD, other.c_str(), times, 0) == 0);
    REQUIRE(::rename(other.c_str(), path.c_str()) == 0);
    const auto replaced = *identify_file(path);
    CHECK(replaced.modified_ns == timed.modified_ns);
    CHECK(replaced.inode != timed.inode);
    CHECK(replaced != timed);
}

TEST_CASE("a file that is not there can't be told") {
    const TempFolder folder;
    const auto identity = identify_file(folder.path("none"));
    REQUIRE_FALSE(identity);
    CHECK(identity.error().text() ==
          "can't look at " + folder.path("none") + ": No such file or directory");
}

TEST_CASE("own files: regular ones of this user or root") {
    const TempFolder folder;
    CHECK(is_own_file(folder.write("a", "")));
    CHECK(is_own_file("/etc/passwd"));
    CHECK_FALSE(is_own_file(folder.path()));
    CHECK_FALSE(is_own_file(folder.path("none")));
    CHECK_FALSE(is_own_file("/dev/null"));
}

TEST_CASE("a file of another user is not our own") {
    const TempFolder folder;
    const auto path = folder.write("a", "");
    // Only root can give a file away; for anybody else the wrong owner can't come about here.
    if (::chown(path.c_str(), 12345, 12345) == 0) {
        CHECK_FALSE(is_own_file(path));
    } else {
        CHECK(is_own_file(path));
    }
}
