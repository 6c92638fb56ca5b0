#include "mapdiag/support/fd.h"

#include <fcntl.h>

#include <cerrno>

#include "support/catch.h"
#include "support/temp_folder.h"

using namespace mapdiag;

TEST_CASE("descriptors are close-on-exec and closed once") {
    const test::TempFolder folder;
    auto fd = open_file(folder.write("f", "0123456789"), O_RDONLY);
    REQUIRE(fd);
    CHECK((::fcntl(fd->get(), F_GETFD) & FD_CLOEXEC) != 0);
    const int number = fd->get();
    Fd moved = std::move(*fd);
    CHECK(moved.get() == number);
    moved.reset();
    CHECK(::fcntl(number, F_GETFD) == -1);
}

TEST_CASE("files are read whole, again, and within a limit") {
    const test::TempFolder folder;
    const auto path = folder.write("f", std::string(100000, 'x'));
    CHECK(read_file(path)->size() == 100000);
    CHECK(read_file(path, 1000).error().text() ==
          "can't read " + path + ": larger than 1000 bytes");
    const auto fd = open_file(path, O_RDONLY);
    CHECK(read_again(fd->get(), path, 1U << 20)->size() == 100000);
    CHECK(read_again(fd->get(), path, 1U << 20)->size() == 100000);
    CHECK(read_file("/proc/self/status")->find("Name:") == 0);
}

TEST_CASE("a write to a full device is an error with its errno") {
    const auto written = write_file("/dev/full", "x");
    REQUIRE(!written);
    CHECK(written.error().errno_value() == ENOSPC);
    CHECK(written.error().text() == "can't write /dev/full: No space left on device");
}

TEST_CASE("an error keeps what was tried, on what, and its context") {
    const auto error = Error::because("parse", "line 3", "no count").within("reading a.folded");
    CHECK(error.text() == "can't parse line 3: no count (while reading a.folded)");
}
