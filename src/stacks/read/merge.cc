#include "merge.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <span>

namespace mapdiag::stacks {
namespace {

constexpr std::uint32_t kMillion = 1000000;

std::uint64_t hash(std::span<const FrameId> frames) {
    constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15ULL;
    std::uint64_t state = frames.size();
    for (const auto id : frames) {
        state = (std::rotl(state, 27) ^ id.value) * kOdd;
    }
    return state ^ (state >> 32U);
}

/// Open addressing over the stacks that were kept so far.
class Merge {
  public:
    Merge(StackPart& part, std::vector<Fraction>& fractions)
        : part_(part),
          fractions_(fractions),
          slots_(std::bit_ceil(part.stacks.size() * 2 + 2)),
          millionths_(fractions.empty() ? 0 : part.stacks.size()) {}

    Weight merge() {
        for (const auto& fraction : fractions_) {
            millionths_[fraction.stack] = fraction.millionths;
        }
        std::uint64_t from = 0;
        for (std::size_t i = 0; i < part_.stacks.size(); ++i) {
            const auto stack = part_.stacks[i];
            add(i, from, stack);
            from = stack.end;
        }
        part_.stacks.resize(kept_);
        part_.frames.resize(end_);
        keep_fractions();
        return carried_;
    }

  private:
    // Stack `i` with frames [from, stack.end) becomes, or joins, one of the first ones.
    void add(std::size_t i, std::uint64_t from, const Stack& stack) {
        const auto frames = std::span(part_.frames).subspan(from, stack.end - from);
        const auto mask = slots_.size() - 1;
        auto at = hash(frames) & mask;
        while (slots_[at] != 0 && !std::ranges::equal(frames_of(slots_[at] - 1), frames)) {
            at = (at + 1) & mask;
        }
        if (slots_[at] == 0) {
            slots_[at] = static_cast<std::uint32_t>(++kept_);
            std::ranges::copy(frames, part_.frames.begin() + static_cast<std::ptrdiff_t>(end_));
            end_ += frames.size();
            part_.stacks[kept_ - 1] = {.end = end_, .weight = stack.weight};
            if (!millionths_.empty()) {
                millionths_[kept_ - 1] = millionths_[i];
            }
            return;
        }
        const auto known = slots_[at] - 1;
        part_.stacks[known].weight += stack.weight;
        if (!millionths_.empty()) {
            add_millionths(known, millionths_[i]);
        }
    }

    void add_millionths(std::size_t known, std::uint32_t more) {
        millionths_[known] += more;
        if (millionths_[known] >= kMillion) {
            millionths_[known] -= kMillion;
            ++part_.stacks[known].weight;
            ++carried_;
        }
    }

    std::span<const FrameId> frames_of(std::size_t kept) const {
        const auto first = kept == 0 ? 0 : part_.stacks[kept - 1].end;
        return std::span(part_.frames).subspan(first, part_.stacks[kept].end - first);
    }

    void keep_fractions() {
        fractions_.clear();
        for (std::size_t i = 0; i < std::min(kept_, millionths_.size()); ++i) {
            if (millionths_[i] > 0) {
                fractions_.push_back({.stack = i, .millionths = millionths_[i]});
            }
        }
    }

    StackPart& part_;
    std::vector<Fraction>& fractions_;
    std::vector<std::uint32_t> slots_;  ///< the number of a kept stack, 1 and up
    std::vector<std::uint32_t> millionths_;
    std::size_t kept_ = 0;
    std::uint64_t end_ = 0;
    Weight carried_ = 0;
};

}  // namespace

Weight merge_equal_stacks(StackPart& part, std::vector<Fraction>& fractions) {
    // Slots are 32 bits wide; 4 billion stacks take more than 64 GiB.
    if (part.stacks.size() >= std::numeric_limits<std::uint32_t>::max()) {
        return 0;
    }
    return Merge(part, fractions).merge();
}

}  // namespace mapdiag::stacks
