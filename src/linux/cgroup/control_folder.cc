#include "mapdiag/linux/control_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "mapdiag/support/text.h"

namespace mapdiag::linux_os {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestControlFile = 16U
                                            << 20;  // cgroup.procs of a group with many processes

}  // namespace

Result<ControlFolder> ControlFolder::open(const std::string& path) {
    auto folder = open_file(path, O_RDONLY | O_DIRECTORY);
    if (!folder) {
        return std::unexpected(folder.error());
    }
    return ControlFolder(path, std::move(*folder));
}

Result<ControlFolder> ControlFolder::make(const std::string& parent, const std::string& name) {
    const auto path = parent + '/' + name;
    if (::mkdir(path.c_str(), 0755) != 0) {
        return std::unexpected(Error::from_errno("make the cgroup", path));
    }
    auto folder = open(path);
    if (!folder) {
        ::rmdir(path.c_str());
    }
    return folder;
}

Result<std::string> ControlFolder::read(const std::string& name) const {
    const auto fd = open_file_at(folder_.get(), name, O_RDONLY, file(name));
    if (!fd) {
        return std::unexpected(fd.error());
    }
    return read_all(fd->get(), file(name), kLargestControlFile);
}

Result<std::optional<std::uint64_t>> ControlFolder::read_number(const std::string& name) const {
    const auto text = read(name);
    if (!text) {
        return std::unexpected(text.error());
    }
    if (trim(*text) == "max") {
        return std::optional<std::uint64_t>{};
    }
    const auto number = find_u64(trim(*text));
    if (!number) {
        return std::unexpected(
            Error::because("read a number from", file(name), mapdiag::quoted(*text)));
    }
    return number;
}

std::optional<std::uint64_t> ControlFolder::find_value(const std::string& name,
                                                       const std::string& key) const {
    const auto text = read(name);
    return text ? find_key_value(*text, key) : std::nullopt;
}

bool ControlFolder::has(const std::string& name) const {
    return ::faccessat(folder_.get(), name.c_str(), F_OK, 0) == 0;
}

Result<void> ControlFolder::write(const std::string& name, std::string_view text) const {
    const auto fd = open_for_writing(name);
    if (!fd) {
        return std::unexpected(fd.error());
    }
    if (::write(fd->get(), text.data(), text.size()) < 0) {
        return std::unexpected(
            Error::from_errno("write " + std::string(trim(text)) + " to", file(name)));
    }
    return {};
}

Result<Fd> ControlFolder::open_for_writing(const std::string& name) const {
    return open_file_at(folder_.get(), name, O_WRONLY, file(name));
}

Result<std::vector<std::int32_t>> ControlFolder::processes() const {
    const auto text = read("cgroup.procs");
    if (!text) {
        return std::unexpected(text.error());
    }
    std::vector<std::int32_t> pids;
    for (const auto line : split(*text, '\n')) {
        // 0 is a process of another pid namespace.
        if (const auto pid = find_u64(line); pid && *pid > 0) {
            pids.push_back(static_cast<std::int32_t>(*pid));
        }
    }
    return pids;
}

std::vector<std::string> ControlFolder::groups_below() const {
    std::vector<std::string> found;
    // A folder of cgroups has two links and one for each group in it (kernfs_refresh_inode()): the
    // usual one without any costs one call instead of a walk over forty files.
    struct stat own = {};
    if (::fstat(folder_.get(), &own) == 0 && own.st_nlink == 2) {
        return found;
    }
    std::error_code failure;
    for (auto at = fs::recursive_directory_iterator(path_, failure);
         !failure && at != fs::recursive_directory_iterator(); at.increment(failure)) {
        std::error_code gone;
        if (at->is_directory(gone) && !at->is_symlink(gone)) {
            found.push_back(at->path().string());
        }
    }
    // The iterator gives a folder before what is in it.
    std::ranges::reverse(found);
    return found;
}

}  // namespace mapdiag::linux_os
