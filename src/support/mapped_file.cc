#include "mapdiag/support/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mapdiag/support/fd.h"

namespace mapdiag {
namespace {

// madvise() and munmap() take void*, though neither writes.
void* mapping(const char* data) {
    return const_cast<char*>(data);
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
    const auto fd = open_file(path, O_RDONLY);
    if (!fd) {
        return std::unexpected(fd.error());
    }
    return of(*fd, path);
}

Result<MappedFile> MappedFile::of(const Fd& fd, const std::string& path) {
    struct stat status = {};
    if (::fstat(fd.get(), &status) != 0) {
        return std::unexpected(Error::from_errno("look at", path));
    }
    if (!S_ISREG(status.st_mode)) {
        return std::unexpected(Error::because(
            "map", path, S_ISDIR(status.st_mode) ? "it is a folder" : "it is not a regular file"));
    }
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size == 0) {
        return MappedFile(nullptr, 0);
    }
    void* const data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (data == MAP_FAILED) {
        return std::unexpected(Error::from_errno("map", path));
    }
    return MappedFile(static_cast<const char*>(data), size);
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

MappedFile::~MappedFile() {
    if (data_ != nullptr) {
        ::munmap(mapping(data_), size_);
    }
}

void MappedFile::expect_sequential() const {
    if (data_ != nullptr) {
        ::madvise(mapping(data_), size_, MADV_SEQUENTIAL);
    }
}

void MappedFile::drop(std::size_t offset, std::size_t size) const {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const auto first = (offset + page - 1) / page * page;
    const auto last = (offset + size) / page * page;
    if (data_ != nullptr && last > first && last <= size_) {
        ::madvise(mapping(data_ + first), last - first, MADV_DONTNEED);
    }
}

}  // namespace mapdiag
