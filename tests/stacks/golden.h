#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "stacks_fixture.h"

namespace mapdiag::test {

/// Compares with tests/stacks/golden/<name>. A missing one is a failure; with
/// MAPDIAG_WRITE_GOLDEN=1 all are written anew, to be read before they are committed.
inline void check_golden(const std::string& name, const std::string& text) {
    const auto path = kStacksFolder + "golden/" + name;
    if (const char* const wanted = std::getenv("MAPDIAG_WRITE_GOLDEN");
        wanted != nullptr && std::string(wanted) == "1") {
        std::ofstream(path, std::ios::binary) << text;
    }
    INFO(path << " differs or is missing; MAPDIAG_WRITE_GOLDEN=1 writes it anew");
    REQUIRE(std::filesystem::exists(path));
    const auto golden = read_whole(path);
    const auto pair = std::ranges::mismatch(golden, text);
    const auto at = static_cast<std::size_t>(pair.in1 - golden.begin());
    const auto from = at > 60 ? at - 60 : 0;
    INFO("golden: " << golden.substr(from, 160) << "\nnow: " << text.substr(from, 160));
    CHECK((golden == text));
}

}  // namespace mapdiag::test
