#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "mapdiag/support/error.h"
#include "mapdiag/support/fd.h"

namespace mapdiag {

/// A whole regular file, mapped read-only. An empty file maps to an empty view.
/// A file that another process cuts short while it is mapped raises SIGBUS on access, as mmap does.
class MappedFile {
  public:
    static Result<MappedFile> open(const std::string& path);
    /// The whole of an open regular file, whatever the descriptor's position; `shown` names it.
    static Result<MappedFile> of(const Fd& fd, const std::string& shown);

    MappedFile(MappedFile&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    MappedFile& operator=(MappedFile&& other) noexcept;
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    ~MappedFile();

    std::string_view bytes() const { return {data_, size_}; }
    /// Tells the kernel that the file is about to be read from front to back.
    void expect_sequential() const;
    /// Lets the kernel drop the pages of [offset, offset + size) from this process.
    void drop(std::size_t offset, std::size_t size) const;

  private:
    MappedFile(const char* data, std::size_t size) : data_(data), size_(size) {}

    const char* data_;
    std::size_t size_;
};

}  // namespace mapdiag
