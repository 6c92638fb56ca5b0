#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mapdiag::stacks {

/// What the first block of a file says about it.
struct FileKind {
    /// Why it is no folded profile, for example because it is an SVG; empty where it may be one.
    std::string refused;
    std::size_t skip = 0;  ///< a byte order mark
    unsigned columns = 1;  ///< 2 where every line has two counts
};

FileKind kind_of_file(std::string_view first_block);

}  // namespace mapdiag::stacks
