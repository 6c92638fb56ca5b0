#include "output_state.h"

#include <algorithm>

#include "mapdiag/support/text.h"

namespace mapdiag::run {

std::optional<std::string> find_output_argument(const std::vector<std::string>& command) {
    constexpr std::string_view kLong = "--output=";
    const auto start = std::ranges::find(command, "map-data");
    if (start == command.end()) {
        return std::nullopt;
    }
    for (auto word = start + 1; word != command.end(); ++word) {
        if ((*word == "-o" || *word == "--output") && word + 1 != command.end()) {
            return *(word + 1);
        }
        if (word->starts_with(kLong)) {
            return word->substr(kLong.size());
        }
    }
    return std::nullopt;
}

std::optional<record::OutputFileState> look_at_output(const std::vector<std::string>& command,
                                                      std::filesystem::file_time_type job_start) {
    const auto path = find_output_argument(command);
    if (!path) {
        return std::nullopt;
    }
    record::OutputFileState state;
    state.path = printable(*path);
    std::error_code missing;
    const auto bytes = std::filesystem::file_size(*path, missing);
    state.exists = !missing;
    state.bytes = missing ? 0 : bytes;
    const auto written = std::filesystem::last_write_time(*path, missing);
    // File times come from a coarser clock than now(): a tick earlier is no older file.
    state.older_than_start = state.exists && written + std::chrono::milliseconds(20) < job_start;
    state.leftover_temporary = std::filesystem::exists(*path + ".tmp", missing);
    return state;
}

}  // namespace mapdiag::run
