#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mapdiag/support/error.h"
#include "mapdiag/support/fd.h"

namespace mapdiag::linux_os {

/// A cgroup's folder, held by its descriptor: a removed group whose name was used again can't be
/// read by mistake.
class ControlFolder {
  public:
    static Result<ControlFolder> open(const std::string& path);
    /// mkdir(2) below `parent`, then open.
    static Result<ControlFolder> make(const std::string& parent, const std::string& name);

    const std::string& path() const { return path_; }
    int descriptor() const { return folder_.get(); }
    std::string file(const std::string& name) const { return path_ + '/' + name; }

    Result<std::string> read(const std::string& name) const;
    /// A file that holds one number; "max" (v2: no limit) gives an empty optional.
    Result<std::optional<std::uint64_t>> read_number(const std::string& name) const;
    /// A number after a key, as in memory.stat or memory.events.
    std::optional<std::uint64_t> find_value(const std::string& name, const std::string& key) const;
    bool has(const std::string& name) const;
    Result<void> write(const std::string& name, std::string_view text) const;
    Result<Fd> open_for_writing(const std::string& name) const;

    /// Process ids in cgroup.procs.
    Result<std::vector<std::int32_t>> processes() const;
    /// Folders of the groups below, the deepest first.
    std::vector<std::string> groups_below() const;

  private:
    ControlFolder(std::string path, Fd folder)
        : path_(std::move(path)), folder_(std::move(folder)) {}

    std::string path_;
    Fd folder_;
};

}  // namespace mapdiag::linux_os
