#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mapdiag/heap/graph.h"

namespace mapdiag::heap {

/// Finds the object at an address: open addressing over object numbers with linear probing, half
/// full. The addresses stay in their column, so that a slot costs 4 bytes.
class AddressTable {
  public:
    AddressTable(std::span<const ObjectId> slots, std::span<const std::uint64_t> addresses,
                 std::uint64_t seed)
        : slots_(slots), addresses_(addresses), seed_(seed) {}

    static std::size_t slots_for(std::size_t objects) { return objects * 2 + 1; }

    /// The slot where the search for an address starts.
    std::size_t home(std::uint64_t address) const { return home(address, slots_.size(), seed_); }
    static std::size_t home(std::uint64_t address, std::size_t slots, std::uint64_t seed) {
        // A seed that the dump can't know keeps it from choosing colliding addresses.
        auto hash = (address ^ seed) * 0x9E3779B97F4A7C15ULL;
        hash = (hash ^ (hash >> 32)) * 0xD6E8FEB86659FD93ULL;
        __extension__ using Wide = unsigned __int128;
        return static_cast<std::size_t>((static_cast<Wide>(hash) * slots) >> 64);
    }

    ObjectId find(std::uint64_t address) const { return find_from(home(address), address); }
    ObjectId find_from(std::size_t slot, std::uint64_t address) const {
        for (;;) {
            const auto id = slots_[slot];
            if (!id || addresses_[id.value] == address) {
                return id;
            }
            slot = slot + 1 == slots_.size() ? 0 : slot + 1;
        }
    }
    void prefetch_slot(std::size_t slot) const { __builtin_prefetch(&slots_[slot]); }
    void prefetch_address(std::size_t slot) const {
        __builtin_prefetch(&addresses_[slots_[slot].value]);
    }

  private:
    std::span<const ObjectId> slots_;
    std::span<const std::uint64_t> addresses_;
    std::uint64_t seed_;
};

/// Enters the objects 1 to addresses.size() - 1 into empty slots, on all processors. Where two have
/// the same address the one with the lower number stays; gives the numbers of the others,
/// ascending.
std::vector<ObjectId> fill_address_table(std::span<ObjectId> slots,
                                         std::span<const std::uint64_t> addresses,
                                         std::uint64_t seed);

}  // namespace mapdiag::heap
