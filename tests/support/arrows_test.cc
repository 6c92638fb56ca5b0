// Reads the #includes of every room and fails on an arrow that docs/architecture.md does not have.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "support/catch.h"

namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

const fs::path kRoot = MAPDIAG_SOURCE_DIR;

// The transitive closure of the drawing in docs/architecture.md.
const std::map<std::string, Names> kArrows = {
    {"support", {}},
    {"linux", {"support"}},
    {"record", {"support"}},
    {"run", {"linux", "record", "support"}},
    {"diagnose", {"record", "support"}},
    {"report", {"diagnose", "record", "support"}},
    {"stacks", {"support"}},
    {"heap", {"support"}},
    {"cli", {"run", "linux", "record", "diagnose", "report", "stacks", "heap", "support"}},
};

// Which rooms may include which outside headers.
struct Reserved {
    std::regex header;
    Names rooms;
};
const std::vector<Reserved> kReserved = {
    {std::regex("^(unistd\\.h|sys/.*|linux/.*|fcntl\\.h|poll\\.h|sched\\.h)$"),
     {"linux", "support"}},
    {std::regex("^CLI/"), {"cli"}},
    {std::regex("^spdlog/"), {"cli"}},
    {std::regex("^nlohmann/"), {"record", "report", "stacks", "heap", "cli"}},
    {std::regex("^catch2/"), {}},
};

struct Include {
    std::string file;
    std::string room;
    std::string header;
};

std::vector<Include> includes_of_rooms() {
    std::vector<Include> found;
    const std::regex line_pattern(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
    for (const auto& [room, arrows] : kArrows) {
        for (const auto& base : {kRoot / "src" / room, kRoot / "include/mapdiag" / room}) {
            if (!fs::exists(base)) {
                continue;
            }
            for (const auto& entry : fs::recursive_directory_iterator(base)) {
                const auto extension = entry.path().extension();
                if (extension != ".cc" && extension != ".h") {
                    continue;
                }
                std::ifstream in(entry.path());
                for (std::string line; std::getline(in, line);) {
                    std::smatch match;
                    if (std::regex_search(line, match, line_pattern)) {
                        found.push_back({entry.path().string(), room, match[1]});
                    }
                }
            }
        }
    }
    return found;
}

}  // namespace

TEST_CASE("rooms include only along the arrows") {
    const auto includes = includes_of_rooms();
    REQUIRE(includes.size() > 50);
    for (const auto& include : includes) {
        std::smatch match;
        if (!std::regex_search(include.header, match, std::regex("^mapdiag/([a-z]+)/"))) {
            continue;
        }
        INFO(include.file << " includes " << include.header);
        const std::string target = match[1];
        CHECK((target == include.room || kArrows.at(include.room).contains(target)));
    }
}

TEST_CASE("system and library headers stay in their rooms") {
    for (const auto& include : includes_of_rooms()) {
        for (const auto& reserved : kReserved) {
            if (std::regex_search(include.header, reserved.header)) {
                INFO(include.file << " includes " << include.header);
                CHECK(reserved.rooms.contains(include.room));
            }
        }
    }
}

TEST_CASE("a folder has no more than about a dozen sources") {
    for (const auto& [room, arrows] : kArrows) {
        const auto base = kRoot / "src" / room;
        if (!fs::exists(base)) {
            continue;
        }
        std::map<std::string, int> sources;
        for (const auto& entry : fs::recursive_directory_iterator(base)) {
            sources[entry.path().parent_path().string()] +=
                entry.path().extension() == ".cc" ? 1 : 0;
        }
        for (const auto& [folder, count] : sources) {
            INFO(folder);
            CHECK(count <= 15);
        }
    }
}
