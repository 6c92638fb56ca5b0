#include "raw_files.h"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "mapdiag/support/output_file.h"
#include "mapdiag/support/text.h"

namespace mapdiag::run {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".raw";

}  // namespace

RawFiles::RawFiles(const std::string& folded_path, const ProfilerSystem& system)
    : own_pid_(system.own_pid()) {
    const fs::path path(folded_path);
    folder_ = path.has_parent_path() ? path.parent_path().string() : std::string(".");
    prefix_ = '.' + path.filename().string() + '.';
    remove_abandoned(system);
}

void RawFiles::remove_abandoned(const ProfilerSystem& system) const {
    std::error_code failed;
    std::vector<fs::path> abandoned;
    for (auto entry = fs::directory_iterator(folder_, failed);
         !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
        const auto name = entry->path().filename().string();
        if (!name.starts_with(prefix_) || !name.ends_with(kEnding)) {
            continue;
        }
        const auto middle = std::string_view(name).substr(
            prefix_.size(), name.size() - prefix_.size() - kEnding.size());
        const auto pid = find_u64(middle.substr(0, middle.find('-')));
        if (pid && *pid <= 0x7fffffff && !system.proc().stat(static_cast<std::int32_t>(*pid))) {
            abandoned.push_back(entry->path());
        }
    }
    for (const auto& path : abandoned) {
        fs::remove(path, failed);
    }
}

Result<std::string> RawFiles::next() {
    std::error_code ignored;
    fs::create_directories(folder_, ignored);
    auto path = folder_ + '/' + prefix_ + std::to_string(own_pid_) + '-' +
                std::to_string(made_.size() + 1) + std::string(kEnding);
    if (auto made = write_output_file(path, {}); !made) {
        return std::unexpected(made.error());
    }
    made_.push_back(path);
    return path;
}

void RawFiles::remove_all() {
    std::error_code ignored;
    for (const auto& path : made_) {
        fs::remove(path, ignored);
    }
    made_.clear();
}

}  // namespace mapdiag::run
