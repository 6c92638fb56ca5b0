#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "mapdiag/support/ids.h"

namespace mapdiag::stacks {

struct FrameTag;
using FrameId = Id<FrameTag>;

/// Gives each distinct frame text a number, 1 and up in order of first sight, and keeps a copy of
/// the text. Holds any bytes, NUL too.
class FrameTable {
  public:
    FrameTable();

    FrameId intern(std::string_view text);
    /// Appends the ids of several texts to `ids`. Quicker than one by one: what is looked up for
    /// one comes from memory while others are worked on. At most kMostAtOnce texts.
    void intern(std::span<const std::string_view> texts, std::vector<FrameId>& ids);
    static constexpr std::size_t kMostAtOnce = 64;

    std::string_view text(FrameId id) const { return texts_[id.value]; }
    /// One more than the largest id: the size of a table that is indexed by id.
    std::size_t id_limit() const { return texts_.size(); }

  private:
    struct Slot {
        const char* text = nullptr;
        std::size_t size = 0;
        std::uint32_t check = 0;
        FrameId id;
    };

    FrameId intern(std::string_view text, std::uint64_t full);
    void grow();
    std::string_view keep(std::string_view text);

    std::vector<Slot> slots_;
    std::vector<std::string_view> texts_;
    std::vector<std::unique_ptr<char[]>> blocks_;
    std::size_t block_left_ = 0;
    char* block_next_ = nullptr;
};

}  // namespace mapdiag::stacks
