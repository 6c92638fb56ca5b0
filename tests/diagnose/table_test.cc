// The table of rules, and docs/diagnosis.md, which must say the same.
#include <fstream>
#include <set>
#include <sstream>

#include "judge.h"

using namespace mapdiag;

TEST_CASE("ids are unique and spelled alike") {
    std::set<std::string_view> seen;
    for (const auto& rule : diagnose::rules()) {
        INFO(rule.id);
        CHECK(seen.insert(rule.id).second);
        CHECK(rule.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos);
        CHECK_FALSE(rule.when.empty());
        CHECK_FALSE(rule.label.empty());
    }
}

TEST_CASE("docs/diagnosis.md has every rule, in order, with the same words") {
    std::ostringstream text;
    text << std::ifstream(MAPDIAG_SOURCE_DIR "/docs/diagnosis.md").rdbuf();
    const auto doc = text.str();
    std::size_t at = 0;
    std::size_t rows = 0;
    for (const auto& rule : diagnose::rules()) {
        const auto row = "| `" + std::string(rule.id) + "` | " + std::string(rule.label) + " | " +
                         std::string(rule.when) + " |\n";
        INFO(row);
        const auto found = doc.find(row, at);
        REQUIRE(found != std::string::npos);
        at = found;
        ++rows;
    }
    std::size_t documented = 0;
    for (auto found = doc.find("\n| `"); found != std::string::npos;
         found = doc.find("\n| `", found + 1)) {
        ++documented;
    }
    CHECK(documented == rows);
}

TEST_CASE("an untouched record still has a cause") {
    const auto findings = diagnose::diagnose(record::RunRecord{});
    REQUIRE(findings.size() >= 1);
    CHECK(findings.front().id == "no-end");
}
