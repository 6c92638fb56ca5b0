#include "heap/reader/string_pool.h"

#include <cstring>

namespace mapdiag::heap {
namespace {

constexpr std::uint64_t kMix1 = 0x9E3779B97F4A7C15ULL;
constexpr std::uint64_t kMix2 = 0xD6E8FEB86659FD93ULL;
constexpr std::size_t kFirstSlots = 64;

// Both halves of the 128-bit product, folded: every input bit reaches every output bit.
std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const auto product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t load(const char* at, std::size_t size) {
    std::uint64_t word = 0;
    if (size != 0) {  // an empty text may begin nowhere
        std::memcpy(&word, at, size);
    }
    return word;
}

}  // namespace

std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t key) {
    const char* at = bytes.data();
    auto left = bytes.size();
    std::uint64_t hash = key ^ fold(bytes.size() ^ kMix1, kMix2);
    while (left > 16) {
        hash = fold(load(at, 8) ^ kMix1 ^ key, load(at + 8, 8) ^ hash);
        at += 16;
        left -= 16;
    }
    const auto first = left < 8 ? left : 8;
    const auto low = load(at, first);
    const auto high = load(at + first, left - first);
    return fold(fold(low ^ kMix1 ^ key, high ^ hash), kMix2);
}

StringPool::StringPool() : starts_{0}, slots_(kFirstSlots) {}

std::size_t StringPool::slot_of(std::string_view text) const {
    const auto mask = slots_.size() - 1;
    auto slot = static_cast<std::size_t>(hash_bytes(text, 0)) & mask;
    while (slots_[slot] != 0 && (*this)[slots_[slot] - 1] != text) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

std::uint32_t StringPool::intern(std::string_view text) {
    if (last_ != UINT32_MAX && (*this)[last_] == text) {
        return last_;
    }
    auto slot = slot_of(text);
    if (slots_[slot] == 0) {
        if (size() * 2ULL >= slots_.size()) {
            grow();
            slot = slot_of(text);
        }
        bytes_ += text;
        starts_.push_back(bytes_.size());
        slots_[slot] = size();
    }
    last_ = slots_[slot] - 1;
    return last_;
}

std::optional<std::uint32_t> StringPool::find(std::string_view text) const {
    const auto slot = slot_of(text);
    if (slots_[slot] == 0) {
        return std::nullopt;
    }
    return slots_[slot] - 1;
}

void StringPool::grow() {
    slots_.assign(slots_.size() * 2, 0);
    for (std::uint32_t number = 0; number < size(); ++number) {
        slots_[slot_of((*this)[number])] = number + 1;
    }
}

}  // namespace mapdiag::heap
