#pragma once

#include <string>
#include <string_view>

#include "mapdiag/support/error.h"
#include "mapdiag/support/fd.h"

namespace mapdiag {

/// A file that appears whole or not at all: written beside its target under a temporary name,
/// renamed by commit(), removed by the destructor where commit() was not reached. A target that is
/// a device or a pipe is written to directly.
class OutputFile {
  public:
    /// `mode` is cut by the umask; use 0600 for a file that may hold values.
    static Result<OutputFile> create(const std::string& path, unsigned mode = 0666);

    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    ~OutputFile();

    Result<void> write(std::string_view bytes);
    /// For a library that wants to write to a descriptor itself; write() buffers are flushed first.
    Result<int> descriptor();
    /// Flushes, reports a late write error (full disk, quota) and puts the file in its place.
    Result<void> commit();

  private:
    OutputFile(std::string path, std::string temporary, Fd fd);
    Result<void> flush();

    std::string path_;
    std::string temporary_;
    std::string buffer_;
    Fd fd_;
};

/// Writes a small file whole or not at all.
Result<void> write_output_file(const std::string& path, std::string_view bytes,
                               unsigned mode = 0666);

}  // namespace mapdiag
