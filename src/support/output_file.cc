#include "mapdiag/support/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace mapdiag {
namespace {

constexpr std::size_t kBufferSize = 1U << 18;

}  // namespace

OutputFile::OutputFile(std::string path, std::string temporary, Fd fd)
    : path_(std::move(path)), temporary_(std::move(temporary)), fd_(std::move(fd)) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      buffer_(std::move(other.buffer_)),
      fd_(std::move(other.fd_)) {
    other.temporary_.clear();
}

Result<OutputFile> OutputFile::create(const std::string& path, unsigned mode) {
    struct stat status = {};
    if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
        // A device or a pipe (/dev/stdout, /dev/null) is written to and must never be replaced; a
        // folder gives EISDIR here.
        auto fd = open_file(path, O_WRONLY);
        if (!fd) {
            return std::unexpected(Error("write", path, fd.error().errno_value()));
        }
        return OutputFile(path, {}, std::move(*fd));
    }
    // The process id keeps two writers apart, the counter two files of one writer.
    for (int attempt = 0;; ++attempt) {
        auto temporary =
            path + ".tmp." + std::to_string(::getpid()) + '.' + std::to_string(attempt);
        auto fd = open_file(temporary, O_WRONLY | O_CREAT | O_EXCL, mode);
        if (fd) {
            return OutputFile(path, std::move(temporary), std::move(*fd));
        }
        if (fd.error().errno_value() != EEXIST || attempt == 100) {
            return std::unexpected(Error("write", path, fd.error().errno_value()));
        }
    }
}

OutputFile::~OutputFile() {
    if (!temporary_.empty()) {
        ::unlink(temporary_.c_str());
    }
}

Result<void> OutputFile::write(std::string_view bytes) {
    buffer_ += bytes;
    return buffer_.size() < kBufferSize ? Result<void>{} : flush();
}

Result<int> OutputFile::descriptor() {
    if (auto flushed = flush(); !flushed) {
        return std::unexpected(flushed.error());
    }
    return fd_.get();
}

Result<void> OutputFile::flush() {
    auto written = write_all(fd_.get(), buffer_, path_);
    buffer_.clear();
    return written;
}

Result<void> OutputFile::commit() {
    if (auto flushed = flush(); !flushed) {
        return flushed;
    }
    // Network file systems report a full disk as late as here.
    if (::close(fd_.release()) != 0 && errno != EINTR) {
        return std::unexpected(Error::from_errno("write", path_));
    }
    if (temporary_.empty()) {
        return {};
    }
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
        return std::unexpected(Error::from_errno("put in place", path_));
    }
    temporary_.clear();
    return {};
}

Result<void> write_output_file(const std::string& path, std::string_view bytes, unsigned mode) {
    auto file = OutputFile::create(path, mode);
    if (!file) {
        return std::unexpected(file.error());
    }
    if (auto written = file->write(bytes); !written) {
        return written;
    }
    return file->commit();
}

}  // namespace mapdiag
