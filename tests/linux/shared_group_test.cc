#include "mapdiag/linux/shared_group.h"

#include "support/catch.h"
#include "support/temp_folder.h"

using namespace mapdiag;
using namespace mapdiag::linux_os;
using Span = SharedGroup::Span;

namespace {

// A folder stands in for the group: a kernel's file keeps what it says, whatever is written to it,
// so the tree is taken for a read-only one unless a test says otherwise.
CgroupPlace place_in(const test::TempFolder& folder) {
    return {.folder = folder.path("a"), .mount_point = folder.path(), .read_only = true};
}

}  // namespace

TEST_CASE("a peak that rose was in the run, one that did not may be older") {
    const test::TempFolder folder;
    folder.write("a/memory.peak", "1000\n");
    const auto shared = SharedGroup::open(place_in(folder), 2);
    REQUIRE(shared);
    CHECK(shared->file() == std::string("memory.peak"));
    CHECK(shared->folder() == folder.path("a"));
    CHECK(shared->peak()->bytes == 1000);
    CHECK(shared->peak()->span == Span::older);
    folder.write("a/memory.peak", "1001\n");
    CHECK(shared->peak()->bytes == 1001);
    CHECK(shared->peak()->span == Span::rose);
}

TEST_CASE("v1 has another file, in which nothing is ever written") {
    const test::TempFolder folder;
    folder.write("a/memory.max_usage_in_bytes", "5000\n");
    auto place = place_in(folder);
    place.read_only = false;
    const auto shared = SharedGroup::open(place, 1);
    REQUIRE(shared);
    CHECK(shared->peak()->bytes == 5000);
    CHECK(folder.read("a/memory.max_usage_in_bytes") == "5000\n");
}

TEST_CASE("on a read-only v2 tree nothing is written either") {
    const test::TempFolder folder;
    folder.write("a/memory.peak", "77\n");
    REQUIRE(SharedGroup::open(place_in(folder), 2));
    CHECK(folder.read("a/memory.peak") == "77\n");
}

TEST_CASE("why a shared group gives no peak") {
    const test::TempFolder folder;
    folder.write("a/cgroup.procs", "");
    const auto place = place_in(folder);
    CHECK(SharedGroup::open(place, 2).error().text() ==
          "can't open " + folder.path("a/memory.peak") + ": No such file or directory");
    folder.write("a/memory.peak", "max\n");
    CHECK(SharedGroup::open(place, 2).error().text() ==
          "can't read a number from " + folder.path("a/memory.peak") + ": \"max\\n\"");
    auto root = place;
    root.folder = root.mount_point;
    root.shows_root = true;
    CHECK(SharedGroup::open(root, 2).error().text() ==
          "can't take the peak of " + folder.path() +
              ": it is the root of the hierarchy, which is the whole machine");
    auto gone = place;
    gone.folder = folder.path("gone");
    CHECK_FALSE(SharedGroup::open(gone, 2));
}
