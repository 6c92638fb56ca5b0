#pragma once

#include <string_view>

namespace mapdiag::heap {

/// Names what a file that is no heap dump looks like from its first bytes, for example "it is a PNG
/// picture". Never quotes anything from it.
std::string_view describe_file(std::string_view beginning);

}  // namespace mapdiag::heap
