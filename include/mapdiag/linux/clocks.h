#pragma once

#include <chrono>
#include <string>

namespace mapdiag::linux_os {

/// CPU time that the calling thread has used.
std::chrono::nanoseconds thread_cpu_time();

/// Now, as "2026-12-01T04:25:23.250Z"; for a person: intervals are measured by the steady clock.
std::string utc_now();

/// This process's id.
int own_pid();

}  // namespace mapdiag::linux_os
