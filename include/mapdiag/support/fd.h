#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "mapdiag/support/error.h"

namespace mapdiag {

/// Owns a file descriptor and closes it. Every descriptor that mapdiag opens is close-on-exec.
class Fd {
  public:
    Fd() = default;
    explicit Fd(int fd) : fd_(fd) {}
    Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Fd& operator=(Fd&& other) noexcept {
        if (this != &other) {
            reset();
            fd_ = std::exchange(other.fd_, -1);
        }
        return *this;
    }
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    ~Fd() { reset(); }

    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    void reset();
    int release() { return std::exchange(fd_, -1); }

  private:
    int fd_ = -1;
};

/// Opens with O_CLOEXEC added to `flags`; `mode` counts where the file is made.
Result<Fd> open_file(const std::string& path, int flags, unsigned mode = 0666);
/// The same, relative to an open folder; `shown` is the full path for messages.
Result<Fd> open_file_at(int folder, const std::string& name, int flags, const std::string& shown,
                        unsigned mode = 0666);

/// Makes a file or empties an old one of that name, to be written in append mode: each write lands
/// at the end, whoever else writes.
Result<Fd> create_for_appending(const std::string& path, unsigned mode = 0666);

/// Makes a folder and those above it; one that is there already is fine.
Result<void> make_folder(const std::string& path);

/// Reads from the current position to the end, but not more than `limit` bytes: a longer file is an
/// error. Good for /proc and cgroup files, which have no size.
Result<std::string> read_all(int fd, const std::string& shown, std::size_t limit = 1U << 20);
Result<std::string> read_file(const std::string& path, std::size_t limit = 1U << 20);
/// Reads from offset 0 of a descriptor that is kept open (pread).
Result<std::string> read_again(int fd, const std::string& shown, std::size_t limit = 1U << 16);

/// Writes every byte, going on after short writes and EINTR.
Result<void> write_all(int fd, std::string_view bytes, const std::string& shown);
/// Makes what was written outlive a crash of the machine (fdatasync). Quietly nothing on a pipe or
/// a device, which can't.
Result<void> sync_data(int fd, const std::string& shown);
/// Writes at the end of a file, which is made where it is missing.
Result<void> append_to_file(const std::string& path, std::string_view bytes);
/// One write(2), as kernel control files need it: a short write is an error.
Result<void> write_file(const std::string& path, std::string_view bytes);

}  // namespace mapdiag
