#pragma once

#include <chrono>
#include <initializer_list>

namespace mapdiag::linux_os {

/// Waits until one of the descriptors is readable or the time is over; descriptors of -1 are passed
/// over. Which one it was is for the caller to find out.
void wait_readable(std::initializer_list<int> descriptors, std::chrono::nanoseconds at_most);

/// Whether the descriptor is readable now.
bool is_readable(int descriptor);

}  // namespace mapdiag::linux_os
