#include "mapdiag/linux/shared_group.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "mapdiag/support/text.h"

namespace mapdiag::linux_os {
namespace {

constexpr const char* kPeakV1 = "memory.max_usage_in_bytes";
constexpr const char* kPeakV2 = "memory.peak";

// Since Linux 6.12 a write to memory.peak begins a new count for the descriptor that it came by,
// and for no other (cgroup-v2.rst). Before, and on v1, a reset would be everybody's: nothing is
// written there. Older kernels have the file without any write permission, and say EINVAL to root.
bool begin_count(int descriptor) {
    return ::write(descriptor, "reset", 5) == 5;
}

}  // namespace

Result<SharedGroup> SharedGroup::open(const CgroupPlace& place, int version) {
    const char* name = version == 1 ? kPeakV1 : kPeakV2;
    if (place.shows_root && place.folder == place.mount_point) {
        return std::unexpected(Error::because("take the peak of", place.folder,
                                              "it is the root of the hierarchy, which is the whole "
                                              "machine"));
    }
    auto group = ControlFolder::open(place.folder);
    if (!group) {
        return std::unexpected(group.error());
    }
    auto own_count = version == 1 || place.read_only
                         ? Result<Fd>(std::unexpected(Error("open", name, EROFS)))
                         : open_file_at(group->descriptor(), name, O_RDWR, group->file(name));
    const bool reset = own_count && begin_count(own_count->get());
    auto descriptor = reset ? std::move(own_count)
                            : open_file_at(group->descriptor(), name, O_RDONLY, group->file(name));
    if (!descriptor) {
        return std::unexpected(descriptor.error());
    }
    SharedGroup shared(std::move(*group), name, std::move(*descriptor));
    shared.reset_ = reset;
    const auto now = shared.read();
    if (!now) {
        return std::unexpected(now.error());
    }
    shared.at_start_ = *now;
    return shared;
}

Result<std::uint64_t> SharedGroup::read() const {
    std::array<char, 32> text = {};
    const auto got = ::pread(descriptor_.get(), text.data(), text.size(), 0);
    if (got < 0) {
        return std::unexpected(Error::from_errno("read", group_.file(file_)));
    }
    const std::string_view shown(text.data(), static_cast<std::size_t>(got));
    const auto bytes = find_u64(trim(shown));
    return bytes ? Result<std::uint64_t>(*bytes)
                 : std::unexpected(Error::because("read a number from", group_.file(file_),
                                                  mapdiag::quoted(shown)));
}

Result<SharedGroup::Peak> SharedGroup::peak() const {
    const auto bytes = read();
    if (!bytes) {
        return std::unexpected(bytes.error());
    }
    return Peak{*bytes, reset_ ? Span::run : *bytes > at_start_ ? Span::rose : Span::older};
}

}  // namespace mapdiag::linux_os
