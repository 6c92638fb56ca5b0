#include "mapdiag/support/file_identity.h"

#include <sys/stat.h>
#include <unistd.h>

namespace mapdiag {
namespace {

std::int64_t nanoseconds(const timespec& time) {
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Result<FileIdentity> identify_file(const std::string& path) {
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0) {
        return std::unexpected(Error::from_errno("look at", path));
    }
    return FileIdentity{.size = static_cast<std::uint64_t>(status.st_size),
                        .modified_ns = nanoseconds(status.st_mtim),
                        .changed_ns = nanoseconds(status.st_ctim),
                        .inode = status.st_ino,
                        .device = status.st_dev};
}

bool is_own_file(const std::string& path) {
    struct stat status = {};
    return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
           (status.st_uid == ::geteuid() || status.st_uid == 0);
}

}  // namespace mapdiag
