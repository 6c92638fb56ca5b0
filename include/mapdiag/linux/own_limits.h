#pragma once

#include <cstdint>
#include <optional>

namespace mapdiag::linux_os {

/// Soft limits of this process, which the job inherits; nothing where there is none.
std::optional<std::uint64_t> cpu_time_limit_s();
std::optional<std::uint64_t> file_size_limit();

/// Cores in this process's affinity mask.
unsigned usable_cores();

}  // namespace mapdiag::linux_os
