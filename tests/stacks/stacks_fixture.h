#pragma once

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "check_profile.h"
#include "mapdiag/stacks/filters.h"
#include "mapdiag/stacks/pattern.h"
#include "mapdiag/stacks/reader.h"
#include "support/catch.h"
#include "support/temp_folder.h"

namespace mapdiag::test {

inline const std::string kStacksFolder = std::string(MAPDIAG_SOURCE_DIR) + "/tests/stacks/";

inline std::string read_whole(const std::string& path) {
    std::ostringstream out;
    out << std::ifstream(path, std::ios::binary).rdbuf();
    return out.str();
}

using Texts = std::vector<std::string>;

/// What a person is told, without the test's folder.
inline std::string without_folder(std::string text, const std::string& folder) {
    for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder)) {
        text.erase(at, folder.size() + 1);
    }
    return text;
}

/// A file read in one go, and again in small pieces by several threads with equal stacks merged
/// early: the results must not differ. Checks what must hold of every profile.
struct ReadFile {
    explicit ReadFile(const std::string& text, stacks::ReadOptions options = {})
        : ReadFile(Texts{text}, options) {}
    explicit ReadFile(const Texts& texts, stacks::ReadOptions options = {}) {
        std::vector<std::string> paths;
        for (const auto& text : texts) {
            paths.push_back(folder.write(
                paths.empty() ? "test.folded" : "test" + std::to_string(paths.size() + 1), text));
        }
        options.threads = 1;
        read = stacks::read_profile(paths, options);
        for (const std::size_t block : {1U, 7U, 64U}) {
            options.threads = 3;
            options.block_size = block;
            options.merge_from = block;
            check_same(stacks::read_profile(paths, options));
        }
    }

    const stacks::Profile& profile() const {
        INFO((read ? std::string() : read.error().text()));
        REQUIRE(read);
        return read->profile;
    }
    stacks::Profile take() {
        INFO((read ? std::string() : read.error().text()));
        REQUIRE(read);
        return std::move(read->profile);
    }
    const stacks::FileNotes& notes(std::size_t file = 0) const {
        REQUIRE(read);
        return read->files.at(file);
    }
    /// Why it failed, or what the user is told of it.
    std::string error() const {
        REQUIRE_FALSE(read);
        return without_folder(read.error().text(), folder.path());
    }
    Texts told(std::size_t file = 0) const {
        auto lines = stacks::describe(notes(file));
        for (auto& line : lines) {
            line = without_folder(line, folder.path());
        }
        return lines;
    }

    TempFolder folder;
    Result<stacks::Read> read = std::unexpected(Error::because("read", "", ""));

  private:
    void check_same(const Result<stacks::Read>& other) const {
        REQUIRE(read.has_value() == other.has_value());
        if (!read) {
            CHECK(read.error().text() == other.error().text());
            return;
        }
        CHECK_NOTHROW(check_profile(read->profile));
        CHECK_NOTHROW(check_profile(other->profile));
        CHECK(stacks_of(read->profile) == stacks_of(other->profile));
        CHECK(read->profile.total == other->profile.total);
        CHECK(read->profile.decimals == other->profile.decimals);
        REQUIRE(read->files.size() == other->files.size());
        for (std::size_t i = 0; i < read->files.size(); ++i) {
            const auto& a = read->files[i];
            const auto& b = other->files[i];
            CHECK(a.lines == b.lines);
            CHECK(a.stacks == b.stacks);
            CHECK(a.bad_count == b.bad_count);
            CHECK(stacks::describe(a) == stacks::describe(b));
        }
    }
};

/// The stacks of a text, frames joined by " | ".
inline Stacks read_stacks(const std::string& text, const stacks::ReadOptions& options = {}) {
    const ReadFile file(text, options);
    file.profile();
    CHECK(file.told().empty());
    return stacks_of(file.profile());
}

inline stacks::Profile profile_of(const std::string& text) {
    return ReadFile(text).take();
}

inline stacks::Pattern pattern(const std::string& expression) {
    auto compiled = stacks::Pattern::compile(expression);
    REQUIRE(compiled);
    return std::move(*compiled);
}

}  // namespace mapdiag::test
