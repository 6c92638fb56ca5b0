#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "mapdiag/report/timeline.h"

namespace mapdiag::report {

/// The highest memory in each of `count` equal parts of the run, in bytes. A part without a sample
/// has what was seen before it; parts before the first sample have none.
std::vector<std::optional<double>> memory_columns(const Timeline& timeline, std::size_t count);

/// Cores in use in each part: CPU time by wall clock between samples, spread over the parts between
/// them, so that the sum over all parts is the CPU time of the run. Empty where no CPU time is
/// known.
std::vector<std::optional<double>> cpu_columns(const Timeline& timeline, std::size_t count);

/// The top of the picture: the limit, where the memory comes near enough to it for a line in one
/// picture, or else the highest memory.
double top_of(const Timeline& timeline);
/// Whether the limit is a line in the picture.
bool shows_limit(const Timeline& timeline);

/// The part in which a moment lies.
std::size_t column_of(const Timeline& timeline, double at_s, std::size_t count);

/// "a" to "z", then "A" to "Z"; further marks share "+".
char letter_of(std::size_t mark);

}  // namespace mapdiag::report
