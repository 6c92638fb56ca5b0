#include "mapdiag/support/big_array.h"

#include <algorithm>
#include <cstdint>
#include <new>

#include "catch.h"

using namespace mapdiag;

TEST_CASE("a big array starts zeroed") {
    for (const auto pages : {Pages::kHuge, Pages::kReserve}) {
        // Above the size from which huge pages are asked for.
        const BigArray<std::uint64_t> array(1U << 20, pages);
        CHECK(array.size() == 1U << 20);
        CHECK(std::ranges::all_of(array, [](std::uint64_t value) { return value == 0; }));
    }
}

TEST_CASE("an empty array has no elements and no memory") {
    const BigArray<int> array(0);
    CHECK(array.begin() == array.end());
    CHECK(array.data() == nullptr);
    CHECK(array.span().empty());
}

TEST_CASE("a moved array takes its elements along and leaves an empty one") {
    BigArray<int> first(3);
    first[2] = 7;
    BigArray<int> second(std::move(first));
    CHECK(second.span().back() == 7);
    BigArray<int> third(1000);
    third = std::move(second);
    CHECK(third.size() == 3);
    CHECK(third[2] == 7);
}

TEST_CASE("room for the worst case costs nothing until it is used") {
    // 256 GiB, of which one page becomes memory.
    BigArray<char> reserve(std::size_t{1} << 38, Pages::kReserve);
    reserve[reserve.size() - 1] = 'x';
    CHECK(reserve[reserve.size() - 1] == 'x');
}

TEST_CASE("memory that can't be had is bad_alloc") {
    CHECK_THROWS_AS(BigArray<char>(std::size_t{1} << 60), std::bad_alloc);
}
