#pragma once

#include <vector>

#include "mapdiag/stacks/profile.h"

namespace mapdiag::stacks {

/// A stack whose count has a fraction.
struct Fraction {
    std::uint64_t stack = 0;  ///< index within the part
    std::uint32_t millionths = 0;
};

/// Makes one stack of equal ones, in place and in order of first sight. Fractions that add up to
/// whole counts go over to the weights; gives how many, which the total of the weights grew by. No
/// sum can wrap where the total and as many more as there are stacks fit.
Weight merge_equal_stacks(StackPart& part, std::vector<Fraction>& fractions);

}  // namespace mapdiag::stacks
