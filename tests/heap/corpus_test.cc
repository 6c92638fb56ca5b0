// The fuzz target's corpus, and what the damaged dumps become when they are cut and mixed, as an
// ordinary test.
#include <filesystem>
#include <random>

#include "check_bytes.h"
#include "heap_fixture.h"

using namespace mapdiag::test;

namespace {

std::vector<std::string> corpus() {
    std::vector<std::string> files;
    for (const auto* const folder : {"corpus", "data", "data/faults"}) {
        const auto path = std::string(MAPDIAG_SOURCE_DIR) + "/tests/heap/" + folder;
        for (const auto& entry : std::filesystem::directory_iterator(path)) {
            if (entry.is_regular_file() && entry.file_size() < 100'000) {
                files.push_back(read_whole(entry.path().string()));
            }
        }
    }
    return files;
}

}  // namespace

TEST_CASE("every file of the corpus keeps the invariants") {
    const auto files = corpus();
    REQUIRE(files.size() > 30);
    for (const auto& bytes : files) {
        CHECK_NOTHROW(check_dump_bytes(bytes));
    }
}

TEST_CASE("damaged copies of the corpus keep the invariants") {
    std::mt19937 random(7);
    const auto files = corpus();
    for (int i = 0; i < 3000; ++i) {
        auto bytes = files[random() % files.size()].substr(0, 3000);
        for (auto left = random() % 6; left > 0 && !bytes.empty(); --left) {
            const auto at = random() % bytes.size();
            switch (random() % 4) {
                case 0:
                    bytes[at] = static_cast<char>(random());
                    break;
                case 1:
                    bytes.erase(at, random() % 20);
                    break;
                case 2:
                    bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 60));
                    break;
                default:
                    bytes[at] = "0123456789\"\\,]}{["[random() % 17];
                    break;
            }
        }
        CHECK_NOTHROW(check_dump_bytes(bytes));
    }
}
