#include "mapdiag/support/fd.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace mapdiag {
namespace {

// Reads through `next(buffer, size, offset)` until it gives 0 bytes.
template <class Next>
Result<std::string> read_until_end(const std::string& shown, std::size_t limit, Next next) {
    std::string out;
    std::size_t room = 4096;
    for (;;) {
        const auto used = out.size();
        out.resize(used + room);
        const auto got = next(out.data() + used, room, used);
        if (got < 0 && errno == EINTR) {
            out.resize(used);
            continue;
        }
        if (got < 0) {
            return std::unexpected(Error::from_errno("read", shown));
        }
        out.resize(used + static_cast<std::size_t>(got));
        if (got == 0) {
            return out;
        }
        if (out.size() > limit) {
            return std::unexpected(
                Error::because("read", shown, "larger than " + std::to_string(limit) + " bytes"));
        }
        room = std::min<std::size_t>(room * 2, 1U << 20);
    }
}

}  // namespace

void Fd::reset() {
    if (fd_ >= 0) {
        ::close(fd_);
        fd_ = -1;
    }
}

Result<Fd> open_file(const std::string& path, int flags, unsigned mode) {
    return open_file_at(AT_FDCWD, path, flags, path, mode);
}

Result<Fd> open_file_at(int folder, const std::string& name, int flags, const std::string& shown,
                        unsigned mode) {
    for (;;) {
        const int fd = ::openat(folder, name.c_str(), flags | O_CLOEXEC, mode);
        if (fd >= 0) {
            return Fd(fd);
        }
        if (errno != EINTR) {
            return std::unexpected(Error::from_errno("open", shown));
        }
    }
}

Result<Fd> create_for_appending(const std::string& path, unsigned mode) {
    return open_file(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, mode);
}

Result<void> make_folder(const std::string& path) {
    std::error_code failure;
    std::filesystem::create_directories(path, failure);
    if (failure) {
        return std::unexpected(Error("make the folder", path, failure.value()));
    }
    return {};
}

Result<std::string> read_all(int fd, const std::string& shown, std::size_t limit) {
    return read_until_end(shown, limit, [fd](char* buffer, std::size_t size, std::size_t) {
        return ::read(fd, buffer, size);
    });
}

Result<std::string> read_file(const std::string& path, std::size_t limit) {
    const auto fd = open_file(path, O_RDONLY);
    if (!fd) {
        return std::unexpected(fd.error());
    }
    return read_all(fd->get(), path, limit);
}

Result<std::string> read_again(int fd, const std::string& shown, std::size_t limit) {
    return read_until_end(shown, limit, [fd](char* buffer, std::size_t size, std::size_t offset) {
        return ::pread(fd, buffer, size, static_cast<off_t>(offset));
    });
}

Result<void> write_all(int fd, std::string_view bytes, const std::string& shown) {
    while (!bytes.empty()) {
        const auto put = ::write(fd, bytes.data(), bytes.size());
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            return std::unexpected(Error::from_errno("write", shown));
        }
        bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return {};
}

Result<void> sync_data(int fd, const std::string& shown) {
    while (::fdatasync(fd) != 0) {
        if (errno == EINVAL || errno == EROFS) {
            return {};
        }
        if (errno != EINTR) {
            return std::unexpected(Error::from_errno("sync", shown));
        }
    }
    return {};
}

Result<void> append_to_file(const std::string& path, std::string_view bytes) {
    const auto fd = open_file(path, O_WRONLY | O_CREAT | O_APPEND);
    if (!fd) {
        return std::unexpected(fd.error());
    }
    return write_all(fd->get(), bytes, path);
}

Result<void> write_file(const std::string& path, std::string_view bytes) {
    const auto fd = open_file(path, O_WRONLY);
    if (!fd) {
        return std::unexpected(fd.error());
    }
    for (;;) {
        const auto put = ::write(fd->get(), bytes.data(), bytes.size());
        if (put == static_cast<ssize_t>(bytes.size())) {
            return {};
        }
        if (put >= 0) {
            return std::unexpected(Error::because("write", path, "the kernel took a part only"));
        }
        if (errno != EINTR) {
            return std::unexpected(Error::from_errno("write", path));
        }
    }
}

}  // namespace mapdiag
