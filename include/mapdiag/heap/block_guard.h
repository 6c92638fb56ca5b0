#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string_view>

namespace mapdiag::heap {

/// Thrown where a part of an index file that an answer needs is not what was written. No way back
/// as a value: it is found in the middle of a walk. See with_sound_index().
class DamagedIndex : public std::exception {
  public:
    const char* what() const noexcept override { return "the index is damaged"; }
};

/// What the numbers of a column mean, and so which ones can be right.
enum class Values : std::uint8_t {
    kAny,
    kObject,         ///< 32 bits, an object with a line
    kAnyObject,      ///< 32 bits, missing objects too
    kType,           ///< 32 bits
    kChildPlace,     ///< 32 bits, a place among the children
    kParentPlace,    ///< 32 bits, a place among the referrers
    kName,           ///< 32 bits, a number of a name
    kLeaderPlace,    ///< 32 bits, a place among the leaders
    kNamePlace,      ///< 64 bits, a place in the bytes of the names
    kTypeNamePlace,  ///< 64 bits, a place in the bytes of the types' names
    kMergedDict,
    kTypeTotals,
    kStringGroup,
    kCount
};

/// Checks a mapped column block by block, each when it is first needed: that it is what was
/// written, by a checksum, and that no number in it leads outside. So an answer costs what it
/// reads. Usable from several threads.
class BlockGuard {
  public:
    /// Elements of a block.
    static constexpr std::size_t kBlock = 1U << 14;
    static std::size_t blocks_for(std::size_t elements) { return (elements + kBlock - 1) / kBlock; }

    /// `sums` has one checksum for each block.
    BlockGuard(std::string_view bytes, std::size_t element, std::span<const std::uint64_t> sums,
               Values values);

    /// The numbers must stay below this; UINT64_MAX where there is nothing to check.
    void set_limit(std::uint64_t limit) { limit_ = limit; }
    Values values() const { return values_; }

    /// Throws DamagedIndex where the block of this element is not sound.
    void check(std::size_t index) const {
        const auto block = index / kBlock;
        if (!sound_[block].load(std::memory_order_relaxed)) {
            check_block(block);
        }
    }
    /// All blocks of [begin, end).
    void check(std::size_t begin, std::size_t end) const;
    /// All, on all processors.
    void check_all() const;

  private:
    void check_block(std::size_t block) const;

    std::string_view bytes_;
    std::size_t element_;
    std::span<const std::uint64_t> sums_;
    Values values_;
    std::uint64_t limit_ = UINT64_MAX;
    std::unique_ptr<std::atomic<bool>[]> sound_;
};

}  // namespace mapdiag::heap
