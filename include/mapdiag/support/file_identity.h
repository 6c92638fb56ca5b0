#pragma once

#include <cstdint>
#include <string>

#include "mapdiag/support/error.h"

namespace mapdiag {

/// What tells one state of a file from another without reading it. Any change of the content
/// changes size, mtime or ctime; nothing but the kernel can set ctime.
struct FileIdentity {
    std::uint64_t size = 0;
    std::int64_t modified_ns = 0;
    std::int64_t changed_ns = 0;
    std::uint64_t inode = 0;
    std::uint64_t device = 0;

    friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

Result<FileIdentity> identify_file(const std::string& path);

/// Whether a file belongs to this process's user or to root: nobody else could have written it.
bool is_own_file(const std::string& path);

}  // namespace mapdiag
