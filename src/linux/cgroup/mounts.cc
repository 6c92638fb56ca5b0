#include "mapdiag/linux/cgroup_mounts.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "mapdiag/support/fd.h"
#include "mapdiag/support/text.h"

namespace mapdiag::linux_os {
namespace {

namespace fs = std::filesystem;

// PROC_CGROUP_INIT_INO in include/linux/proc_ns.h.
constexpr const char* kInitialNamespace = "cgroup:[4026531835]";

// mountinfo writes blank, tab, line end and backslash as three octal digits.
std::string unescape(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto octal = [&](std::size_t at) { return text[at] >= '0' && text[at] <= '7'; };
        if (text[i] == '\\' && i + 3 < text.size() && octal(i + 1) && octal(i + 2) &&
            octal(i + 3)) {
            out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                     (text[i + 3] - '0'));
            i += 3;
        } else {
            out += text[i];
        }
    }
    return out;
}

bool has(const std::vector<std::string>& list, std::string_view word) {
    return std::ranges::find(list, word) != list.end();
}

std::vector<std::string> words(std::string_view comma_list) {
    std::vector<std::string> out;
    for (const auto word : split(comma_list, ',')) {
        out.emplace_back(word);
    }
    return out;
}

// 36 32 0:30 /a /sys/fs/cgroup/memory ro,nosuid shared:9 - cgroup cgroup rw,memory
std::optional<CgroupMount> parse_mount(std::string_view line) {
    const auto separator = line.find(" - ");
    if (separator == std::string_view::npos) {
        return std::nullopt;
    }
    const auto left = split_words(line.substr(0, separator));
    const auto right = split_words(line.substr(separator + 3));
    if (left.size() < 6 || right.size() < 3 || (right[0] != "cgroup" && right[0] != "cgroup2")) {
        return std::nullopt;
    }
    CgroupMount mount;
    mount.version = right[0] == "cgroup2" ? 2 : 1;
    mount.root = unescape(left[3]);
    mount.mount_point = unescape(left[4]);
    // Either the mount or the whole file system may be read-only.
    mount.read_only = has(words(left[5]), "ro") || has(words(right[2]), "ro");
    if (mount.version == 1) {
        mount.controllers = words(right[2]);
    }
    return mount;
}

// How many levels of ".." a mount root has: in a cgroup namespace it may lie above the namespace's
// own root ("/..", "/../..").
std::size_t levels_above(std::string_view root) {
    std::size_t levels = 0;
    for (const auto part : split(root, '/')) {
        levels += part == ".." ? 1 : 0;
    }
    return levels;
}

bool lists_this_process(const fs::path& folder) {
    const auto procs = read_file((folder / "cgroup.procs").string(), 16U << 20);
    const auto self = std::to_string(::getpid());
    return procs && std::ranges::any_of(split(*procs, '\n'),
                                        [&](std::string_view line) { return line == self; });
}

// The folder exactly `depth` levels below `top`, then `below`, that lists this process. The names
// of those levels can't be read from inside a cgroup namespace.
std::optional<std::string> search_own(const fs::path& top, std::size_t depth,
                                      const std::string& below) {
    std::vector<fs::path> level = {top};
    for (std::size_t i = 0; i < depth; ++i) {
        std::vector<fs::path> next;
        for (const auto& folder : level) {
            std::error_code failure;
            for (const auto& entry : fs::directory_iterator(folder, failure)) {
                if (entry.is_directory(failure)) {
                    next.push_back(entry.path());
                }
            }
        }
        level = std::move(next);
    }
    for (const auto& folder : level) {
        const fs::path candidate = below.empty() ? folder : folder / below;
        if (lists_this_process(candidate)) {
            return candidate.string();
        }
    }
    return std::nullopt;
}

std::string without_slash(std::string_view path) {
    while (path.starts_with('/')) {
        path.remove_prefix(1);
    }
    return std::string(path);
}

}  // namespace

std::vector<CgroupMount> parse_cgroup_mounts(std::string_view mountinfo) {
    std::vector<CgroupMount> mounts;
    for (const auto line : split(mountinfo, '\n')) {
        if (auto mount = parse_mount(line)) {
            mounts.push_back(std::move(*mount));
        }
    }
    return mounts;
}

std::vector<CgroupMembership> parse_cgroup_memberships(std::string_view proc_self_cgroup) {
    // 4:memory:/a/b        a v1 hierarchy with its controllers
    // 0::/user.slice       the v2 hierarchy
    std::vector<CgroupMembership> memberships;
    for (const auto line : split(proc_self_cgroup, '\n')) {
        const auto first = line.find(':');
        const auto second = line.find(':', first == std::string_view::npos ? first : first + 1);
        if (second == std::string_view::npos) {
            continue;
        }
        CgroupMembership member;
        const auto controllers = line.substr(first + 1, second - first - 1);
        member.version = line.substr(0, first) == "0" && controllers.empty() ? 2 : 1;
        if (member.version == 1) {
            member.controllers = words(controllers);
        }
        member.path = line.substr(second + 1);
        memberships.push_back(std::move(member));
    }
    return memberships;
}

std::vector<std::string> CgroupPlace::upwards() const {
    std::vector<std::string> folders;
    std::string at = folder;
    for (;;) {
        folders.push_back(at);
        if (at.size() <= mount_point.size()) {
            return folders;
        }
        at.resize(at.rfind('/'));
    }
}

Result<CgroupView> CgroupView::read(const std::string& proc) {
    const auto mountinfo = read_file(proc + "/self/mountinfo", 16U << 20);
    if (!mountinfo) {
        return std::unexpected(mountinfo.error());
    }
    const auto memberships = read_file(proc + "/self/cgroup");
    if (!memberships) {
        return std::unexpected(memberships.error());
    }
    CgroupView view(parse_cgroup_mounts(*mountinfo), parse_cgroup_memberships(*memberships));
    std::error_code failure;
    view.initial_namespace_ =
        fs::read_symlink(proc + "/self/ns/cgroup", failure) == kInitialNamespace;
    return view;
}

Result<CgroupPlace> CgroupView::find_v1(std::string_view controller) const {
    const auto member = std::ranges::find_if(memberships_, [&](const CgroupMembership& m) {
        return m.version == 1 && has(m.controllers, controller);
    });
    const auto mount = std::ranges::find_if(mounts_, [&](const CgroupMount& m) {
        return m.version == 1 && has(m.controllers, controller);
    });
    if (member == memberships_.end() || mount == mounts_.end()) {
        return std::unexpected(Error::because(
            "find", "a cgroup v1 " + std::string(controller) + " hierarchy",
            member == memberships_.end() ? "the kernel has none" : "none is mounted here"));
    }
    return place(*member, *mount);
}

Result<CgroupPlace> CgroupView::find_v2() const {
    const auto member = std::ranges::find(memberships_, 2, &CgroupMembership::version);
    const auto mount = std::ranges::find(mounts_, 2, &CgroupMount::version);
    if (member == memberships_.end() || mount == mounts_.end()) {
        return std::unexpected(Error::because(
            "find", "a cgroup v2 hierarchy",
            member == memberships_.end() ? "the kernel has none" : "none is mounted here"));
    }
    return place(*member, *mount);
}

Result<CgroupPlace> CgroupView::place(const CgroupMembership& member,
                                      const CgroupMount& mount) const {
    CgroupPlace found{.folder = {},
                      .mount_point = mount.mount_point,
                      .read_only = mount.read_only,
                      .shows_root = mount.root == "/" && initial_namespace_};
    const auto root = mount.root == "/" ? std::string() : mount.root;
    if (const auto levels = levels_above(root); levels > 0) {
        const auto own = search_own(mount.mount_point, levels, without_slash(member.path));
        if (!own) {
            return std::unexpected(Error::because(
                "find", "this process's cgroup below " + mount.mount_point,
                "a cgroup namespace hides its name (mount root " + mount.root + ')'));
        }
        found.folder = *own;
        return found;
    }
    // "/../x" is how a process outside its cgroup namespace's root reads its own place.
    const bool out_of_namespace = member.path.starts_with("/..");
    const bool below_root =
        !out_of_namespace && (member.path == root || member.path.starts_with(root + '/'));
    if (!below_root) {
        // A container that shows only its own part of the hierarchy, without a cgroup namespace,
        // mounts that part at the mount point: then the mount's root is this process's own group or
        // one above it. Anything else is out of sight.
        return std::unexpected(
            Error::because("find", "this process's cgroup " + member.path,
                           "only " + mount.root + " is mounted, at " + mount.mount_point +
                               (out_of_namespace ? ", in another namespace" : "")));
    }
    const auto relative = without_slash(std::string_view(member.path).substr(root.size()));
    found.folder = relative.empty() ? mount.mount_point : mount.mount_point + '/' + relative;
    if (::access(found.folder.c_str(), F_OK) != 0) {
        return std::unexpected(Error::from_errno("see", "this process's cgroup " + found.folder));
    }
    return found;
}

}  // namespace mapdiag::linux_os
