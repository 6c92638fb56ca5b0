#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mapdiag/stacks/frame_table.h"

namespace mapdiag::stacks {

/// A count of samples, or whatever else a profile counts, in units of 10^-decimals of its Profile.
using Weight = std::uint64_t;

/// The frames that stand where a stack has none.
inline constexpr std::string_view kNoFrames = "[no frames]";
inline constexpr std::string_view kAllHidden = "[all frames hidden]";

/// Where a stack ends among the frames of its part (it begins where the one before ends), and its
/// weight.
struct Stack {
    std::uint64_t end = 0;
    Weight weight = 0;
};

/// Stacks whose frames stand one after the other in one array, root first.
struct StackPart {
    std::vector<FrameId> frames;
    std::vector<Stack> stacks;
};

/// What a filter took away, as the results state it: one line a filter.
struct FilterEffect {
    std::string filter;        ///< "--exclude"
    Weight removed = 0;        ///< the weight of the stacks that it removed
    std::uint64_t stacks = 0;  ///< how many stacks it removed
    std::uint64_t frames = 0;  ///< how many frames it dropped or merged in the stacks that stay
};

/// A folded profile: stacks with weights. Equal stacks may occur several times, and in any order:
/// all results are sums, in an order of their own. No stack is empty.
struct Profile {
    FrameTable table;
    std::vector<StackPart> parts;
    Weight total = 0;
    /// Weights are counts times 10^decimals; 0 where no count had a fraction.
    unsigned decimals = 0;
    /// What filters removed, in their order; `total` is what is left.
    std::vector<FilterEffect> effects;

    /// Calls visit(std::span<const FrameId>, Weight) for every stack.
    template <class Visit>
    void for_each_stack(Visit visit) const {
        for (const auto& part : parts) {
            std::uint64_t first = 0;
            for (const auto& stack : part.stacks) {
                visit(std::span(part.frames).subspan(first, stack.end - first), stack.weight);
                first = stack.end;
            }
        }
    }
    std::uint64_t stack_count() const;
};

/// A weight in decimal digits, with a fraction where the profile has one: "12", "1.5".
std::string format_weight(Weight weight, unsigned decimals);

/// A number and what it counts: "1 stack", "2.5 samples".
std::string counted(std::string_view number, std::string_view thing);
std::string counted(std::uint64_t number, std::string_view thing);
/// A weight of samples in words: "12 samples".
std::string samples_text(Weight weight, unsigned decimals);

/// A share for columns, of two decimals, rounded half up and computed exactly: "12.34".
std::string format_percent(Weight part, Weight whole);

}  // namespace mapdiag::stacks
