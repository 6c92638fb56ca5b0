#include "mapdiag/heap/block_guard.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "heap/graph/checksum.h"
#include "heap/reader/string_pool.h"
#include "mapdiag/heap/graph.h"
#include "mapdiag/heap/string_groups.h"
#include "mapdiag/support/parallel.h"

namespace mapdiag::heap {
namespace {

template <class T>
std::span<const T> as(std::string_view bytes) {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

template <class T, class Number>
bool are_below(std::string_view bytes, std::uint64_t limit, Number number) {
    bool good = true;
    for (const auto& element : as<T>(bytes)) {
        good &= number(element) < limit;
    }
    return good;
}

bool fits(std::string_view bytes, Values values, std::uint64_t limit) {
    switch (values) {
        case Values::kAny:
        case Values::kCount:
            return true;
        case Values::kNamePlace:
        case Values::kTypeNamePlace:
            return are_below<std::uint64_t>(bytes, limit,
                                            [](std::uint64_t place) { return place; });
        case Values::kMergedDict:
            return are_below<MergedDict>(bytes, limit, [](const MergedDict& merged) {
                return std::max(merged.owner, merged.dict).value;
            });
        case Values::kTypeTotals:
            return are_below<TypeTotals>(
                bytes, limit, [](const TypeTotals& totals) { return totals.largest_object.value; });
        case Values::kStringGroup:
            return are_below<StringGroup>(
                bytes, limit, [](const StringGroup& group) { return group.example.value; });
        default:
            return are_below<std::uint32_t>(bytes, limit,
                                            [](std::uint32_t number) { return number; });
    }
}

}  // namespace

// Every word changes one lane and no two lanes meet before the end; eight lanes keep the multiplier
// busy.
std::uint64_t checksum_of(std::string_view bytes) {
    std::array<std::uint64_t, 8> lanes = {1, 2, 3, 4, 5, 6, 7, 8};
    const char* at = bytes.data();
    auto left = bytes.size();
    for (; left >= 64; at += 64, left -= 64) {
        std::array<std::uint64_t, 8> words{};
        std::memcpy(words.data(), at, 64);
        for (std::size_t i = 0; i < 8; ++i) {
            lanes[i] = (lanes[i] ^ words[i]) * 0x9E3779B97F4A7C15ULL;
        }
    }
    auto sum = hash_bytes({at, left}, bytes.size());
    for (const auto lane : lanes) {
        sum = (sum ^ lane) * 0xD6E8FEB86659FD93ULL;
        sum ^= sum >> 29;
    }
    return sum;
}

BlockGuard::BlockGuard(std::string_view bytes, std::size_t element,
                       std::span<const std::uint64_t> sums, Values values)
    : bytes_(bytes),
      element_(element),
      sums_(sums),
      values_(values),
      sound_(std::make_unique<std::atomic<bool>[]>(sums.size())) {}

void BlockGuard::check(std::size_t begin, std::size_t end) const {
    for (auto block = begin / kBlock; block * kBlock < end; ++block) {
        if (!sound_[block].load(std::memory_order_relaxed)) {
            check_block(block);
        }
    }
}

void BlockGuard::check_all() const {
    constexpr std::size_t kTogether = 16;
    in_parallel(sums_.size() / kTogether + 1, [&](std::size_t part) {
        const auto first = part * kTogether;
        check(first * kBlock, std::min(sums_.size(), first + kTogether) * kBlock);
    });
}

void BlockGuard::check_block(std::size_t block) const {
    const auto bytes = bytes_.substr(block * kBlock * element_, kBlock * element_);
    if (checksum_of(bytes) != sums_[block] || !fits(bytes, values_, limit_)) {
        throw DamagedIndex();
    }
    sound_[block].store(true, std::memory_order_relaxed);
}

}  // namespace mapdiag::heap
