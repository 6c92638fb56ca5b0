#include "mapdiag/stacks/frame_table.h"

#include <array>
#include <cstring>

namespace mapdiag::stacks {
namespace {

constexpr std::size_t kFirstSlots = 1U << 12;
constexpr std::size_t kBlockSize = 1U << 16;

std::uint64_t eight_bytes(const char* at) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
}

// The two halves of the 128-bit product, folded: one multiplication mixes 16 bytes.
// After Wang Yi, "wyhash", 2019.
std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

std::uint64_t hash(std::string_view text) {
    constexpr std::uint64_t kOdd1 = 0x9E3779B97F4A7C15ULL;
    constexpr std::uint64_t kOdd2 = 0xC2B2AE3D27D4EB4FULL;
    std::uint64_t state = kOdd2 ^ text.size();
    const char* at = text.data();
    auto left = text.size();
    for (; left > 16; left -= 16, at += 16) {
        state = mix(eight_bytes(at) ^ kOdd1, eight_bytes(at + 8) ^ state);
    }
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    if (left >= 8) {
        first = eight_bytes(at);
        second = eight_bytes(at + left - 8);
    } else if (left > 0) {
        std::memcpy(&first, at, left);
    }
    return mix(first ^ kOdd1, second ^ state);
}

}  // namespace

FrameTable::FrameTable() : slots_(kFirstSlots), texts_(1) {}

FrameId FrameTable::intern(std::string_view text) {
    return intern(text, hash(text));
}

void FrameTable::intern(std::span<const std::string_view> texts, std::vector<FrameId>& ids) {
    std::array<std::uint64_t, kMostAtOnce> hashes;
    const auto mask = slots_.size() - 1;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        hashes[i] = hash(texts[i]);
        __builtin_prefetch(&slots_[hashes[i] & mask]);
    }
    for (std::size_t i = 0; i < texts.size(); ++i) {
        __builtin_prefetch(slots_[hashes[i] & mask].text);
    }
    for (std::size_t i = 0; i < texts.size(); ++i) {
        ids.push_back(intern(texts[i], hashes[i]));
    }
}

// Open addressing with a load of at most one half. A slot holds where its text is, so that a
// look-up goes to memory twice and no more. An id that does not fit 32 bits can't occur: so many
// distinct frames need more than 100 GiB.
FrameId FrameTable::intern(std::string_view text, std::uint64_t full) {
    const auto check = static_cast<std::uint32_t>(full >> 32U);
    const auto mask = slots_.size() - 1;
    for (auto at = full & mask;; at = (at + 1) & mask) {
        auto& slot = slots_[at];
        if (!slot.id) {
            const auto kept = keep(text);
            slot = {kept.data(), kept.size(), check, {static_cast<std::uint32_t>(texts_.size())}};
            const auto id = slot.id;
            texts_.push_back(kept);
            if (texts_.size() * 2 > slots_.size()) {
                grow();
            }
            return id;
        }
        if (slot.check == check && slot.size == text.size() &&
            std::memcmp(slot.text, text.data(), text.size()) == 0) {
            return slot.id;
        }
    }
}

void FrameTable::grow() {
    std::vector<Slot> larger(slots_.size() * 2);
    const auto mask = larger.size() - 1;
    for (const auto& slot : slots_) {
        if (!slot.id) {
            continue;
        }
        auto at = hash(texts_[slot.id.value]) & mask;
        while (larger[at].id) {
            at = (at + 1) & mask;
        }
        larger[at] = slot;
    }
    slots_ = std::move(larger);
}

std::string_view FrameTable::keep(std::string_view text) {
    if (text.empty()) {
        return "";
    }
    if (text.size() > kBlockSize / 4) {
        // A block of its own, and the current one goes on.
        blocks_.push_back(std::make_unique_for_overwrite<char[]>(text.size()));
        std::memcpy(blocks_.back().get(), text.data(), text.size());
        return {blocks_.back().get(), text.size()};
    }
    if (text.size() > block_left_) {
        blocks_.push_back(std::make_unique_for_overwrite<char[]>(kBlockSize));
        block_next_ = blocks_.back().get();
        block_left_ = kBlockSize;
    }
    char* const at = block_next_;
    std::memcpy(at, text.data(), text.size());
    block_next_ += text.size();
    block_left_ -= text.size();
    return {at, text.size()};
}

}  // namespace mapdiag::stacks
