#pragma once

#include <cstddef>
#include <string>

namespace mapdiag::run {

/// What came of having the stacks written.
struct DumpOutcome {
    std::string path;           ///< empty where nothing could be written
    std::size_t processes = 0;  ///< whose stacks are in the file
    std::string failure;        ///< why there are none, or not all
};

}  // namespace mapdiag::run
