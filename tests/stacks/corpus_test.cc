// The fuzz target's corpus, and what becomes of it when it is cut and mixed, as an ordinary test.
#include <filesystem>
#include <random>

#include "check_bytes.h"
#include "stacks_fixture.h"

using namespace mapdiag;
using namespace mapdiag::test;

namespace {

std::vector<std::string> corpus() {
    std::vector<std::string> files;
    for (const auto* const folder : {"corpus", "data"}) {
        for (const auto& entry : std::filesystem::directory_iterator(kStacksFolder + folder)) {
            if (entry.is_regular_file()) {
                files.push_back(read_whole(entry.path().string()));
            }
        }
    }
    std::ranges::sort(files);
    return files;
}

}  // namespace

TEST_CASE("every file of the corpus keeps the invariants") {
    const auto files = corpus();
    REQUIRE(files.size() > 30);
    const TempFolder folder;
    for (const auto& bytes : files) {
        INFO(bytes.substr(0, 200));
        const auto path = folder.write("f", bytes);
        CHECK_NOTHROW(check_folded_file(path, 1));
        CHECK_NOTHROW(check_folded_file(path, 50));
    }
}

TEST_CASE("damaged copies of the corpus keep the invariants") {
    std::mt19937 random(7);
    const auto files = corpus();
    const TempFolder folder;
    for (int i = 0; i < 1500; ++i) {
        auto bytes = files[random() % files.size()].substr(0, 1500);
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
                    bytes[at] = ";\n\" 0-.,:()\r"[random() % 12];
                    break;
            }
        }
        INFO(bytes);
        CHECK_NOTHROW(check_folded_file(folder.write("f", bytes), 1 + random() % 90));
    }
}
