#pragma once

#include <cstdint>
#include <string_view>

namespace mapdiag::heap {

/// Checksum of a part of an index file. Any single damaged word changes it.
std::uint64_t checksum_of(std::string_view bytes);

}  // namespace mapdiag::heap
