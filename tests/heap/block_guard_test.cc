#include "mapdiag/heap/block_guard.h"

#include "heap/graph/checksum.h"
#include "heap_fixture.h"
#include "mapdiag/heap/graph.h"
#include "mapdiag/heap/string_groups.h"

using namespace mapdiag;
using namespace mapdiag::heap;

namespace {

// A column of three blocks, the last one short, as it would lie in an index.
template <class T>
struct Guarded {
    explicit Guarded(std::vector<T> all, Values values) : elements(std::move(all)) {
        const auto bytes = text();
        const auto block = BlockGuard::kBlock * sizeof(T);
        for (std::size_t at = 0; at < bytes.size(); at += block) {
            sums.push_back(checksum_of(bytes.substr(at, block)));
        }
        guard = std::make_unique<BlockGuard>(bytes, sizeof(T), sums, values);
    }
    std::string_view text() const {
        return {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T)};
    }
    Column<T> column() const { return Column<T>(std::span<const T>(elements), guard.get()); }

    std::vector<T> elements;
    std::vector<std::uint64_t> sums;
    std::unique_ptr<BlockGuard> guard;
};

constexpr auto kSize = BlockGuard::kBlock * 2 + 5;

}  // namespace

TEST_CASE("a sound column is read as it is") {
    std::vector<std::uint32_t> numbers(kSize);
    for (std::uint32_t i = 0; i < kSize; ++i) {
        numbers[i] = i * 2;
    }
    const Guarded<std::uint32_t> guarded(numbers, Values::kObject);
    guarded.guard->set_limit(kSize * 2);
    const auto column = guarded.column();
    CHECK(column[kSize - 1] == (kSize - 1) * 2);
    CHECK(column.part(3, 5).size() == 2);
    CHECK(column.part(kSize, kSize).empty());
    CHECK(std::ranges::equal(column.span(), numbers));
    CHECK(lower_bound_in(column, 7U) == 4);
    CHECK(lower_bound_in(column, kSize * 2) == kSize);
    CHECK(is_in(column, 8U));
    CHECK_FALSE(is_in(column, 7U));
}

TEST_CASE("a damaged block is noticed when it is read, the others serve") {
    Guarded<std::uint64_t> guarded(std::vector<std::uint64_t>(kSize, 9), Values::kAny);
    guarded.elements[BlockGuard::kBlock + 1] = 8;
    const auto column = guarded.column();
    CHECK(column[BlockGuard::kBlock - 1] == 9);
    CHECK(column[kSize - 1] == 9);
    CHECK_THROWS_AS(column[BlockGuard::kBlock], DamagedIndex);
    CHECK_THROWS_AS(column.part(0, BlockGuard::kBlock + 1), DamagedIndex);
    CHECK_THROWS_AS(column.span(), DamagedIndex);
}

TEST_CASE("numbers that lead outside are damage, whatever their checksum says") {
    const auto throws = [](const auto& guarded, std::uint64_t limit) {
        guarded.guard->set_limit(limit);
        try {
            static_cast<void>(guarded.column()[0]);
            return false;
        } catch (const DamagedIndex&) {
            return true;
        }
    };
    const Guarded<ObjectId> ids({{1}, {7}}, Values::kAnyObject);
    CHECK(throws(ids, 7));
    CHECK_FALSE(throws(ids, 8));
    const Guarded<std::uint64_t> places({0, 1ULL << 40}, Values::kNamePlace);
    CHECK(throws(places, 1ULL << 40));
    CHECK_FALSE(throws(places, (1ULL << 40) + 1));
    const Guarded<MergedDict> merged({{{1}, {9}, 1000}}, Values::kMergedDict);
    CHECK(throws(merged, 9));
    CHECK_FALSE(throws(merged, 10));
    const Guarded<TypeTotals> totals({{3, 300, 200, {4}, 0}}, Values::kTypeTotals);
    CHECK(throws(totals, 4));
    CHECK_FALSE(throws(totals, 5));
    const Guarded<StringGroup> groups({StringGroup{.type = {1}, .example = {6}}},
                                      Values::kStringGroup);
    CHECK(throws(groups, 6));
    CHECK_FALSE(throws(groups, 7));
    CHECK_THROWS_AS(ids.column().part(1, 3), DamagedIndex);
    CHECK_THROWS_AS(ids.column().part(2, 1), DamagedIndex);
    CHECK(std::string(DamagedIndex().what()) == "the index is damaged");
}
