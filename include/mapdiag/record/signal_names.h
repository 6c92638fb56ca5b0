#pragma once

#include <string>

namespace mapdiag::record {

/// "SIGKILL", "SIGRTMIN+3"; "signal 99" for a number that has no name.
std::string signal_name(int signal);
/// "SIGKILL (signal 9)".
std::string signal_with_number(int signal);

}  // namespace mapdiag::record
