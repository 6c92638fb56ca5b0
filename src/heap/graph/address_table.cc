#include "heap/graph/address_table.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "mapdiag/support/parallel.h"

namespace mapdiag::heap {
namespace {

constexpr std::size_t kBatch = 32;
constexpr std::size_t kMaxParts = 64;

class Filler {
  public:
    Filler(std::span<ObjectId> slots, std::span<const std::uint64_t> addresses, std::uint64_t seed)
        : slots_(slots), addresses_(addresses), seed_(seed) {}

    void fill(IndexRange ids, std::vector<ObjectId>& repeated) {
        std::array<std::size_t, kBatch> homes{};
        for (auto at = ids.begin; at < ids.end; at += kBatch) {
            const auto count = std::min(kBatch, ids.end - at);
            // All slots of a batch are on their way from memory before the first is needed.
            for (std::size_t i = 0; i < count; ++i) {
                homes[i] = AddressTable::home(addresses_[at + i], slots_.size(), seed_);
                __builtin_prefetch(&slots_[homes[i]], 1);
            }
            for (std::size_t i = 0; i < count; ++i) {
                insert(homes[i], static_cast<std::uint32_t>(at + i), repeated);
            }
        }
    }

  private:
    void insert(std::size_t slot, std::uint32_t id, std::vector<ObjectId>& repeated) {
        const auto address = addresses_[id];
        for (;;) {
            const std::atomic_ref<std::uint32_t> place(slots_[slot].value);
            auto present = place.load(std::memory_order_relaxed);
            if (present == 0 && place.compare_exchange_strong(present, id)) {
                return;
            }
            // `present` is now what another thread or an earlier object put here.
            while (addresses_[present] == address) {
                if (present < id) {
                    repeated.push_back({id});
                    return;
                }
                if (place.compare_exchange_strong(present, id)) {
                    repeated.push_back({present});
                    return;
                }
            }
            slot = slot + 1 == slots_.size() ? 0 : slot + 1;
        }
    }

    std::span<ObjectId> slots_;
    std::span<const std::uint64_t> addresses_;
    std::uint64_t seed_;
};

}  // namespace

std::vector<ObjectId> fill_address_table(std::span<ObjectId> slots,
                                         std::span<const std::uint64_t> addresses,
                                         std::uint64_t seed) {
    const auto count = addresses.size() - 1;
    const auto parts = std::clamp<std::size_t>(count / 65536, 1, kMaxParts);
    std::vector<std::vector<ObjectId>> repeated(parts);
    Filler filler(slots, addresses, seed);
    in_parallel(parts, [&](std::size_t part) {
        const auto range = part_of(count, part, parts);
        filler.fill({range.begin + 1, range.end + 1}, repeated[part]);
    });
    std::vector<ObjectId> all;
    for (const auto& some : repeated) {
        all.insert(all.end(), some.begin(), some.end());
    }
    std::ranges::sort(all);
    return all;
}

}  // namespace mapdiag::heap
