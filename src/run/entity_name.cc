#include "mapdiag/run/entity_name.h"

#include <fmt/format.h>

#include <cstdint>

#include "mapdiag/support/text.h"

namespace mapdiag::run {
namespace {

// A file name may have 255 bytes; the longest ending of ours (".diag.jsonl",
// ".folded.tmp.<pid>.<n>") takes up to 40 of them.
constexpr std::size_t kLongestStem = 200;

bool is_safe(unsigned char c, bool first) {
    const bool control = c < 0x20 || c == 0x7F;
    return !control && c != '/' && c != '%' && !(first && (c == '.' || c == '-'));
}

// FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/
std::uint64_t hash(std::string_view bytes) {
    std::uint64_t value = 0xcbf29ce484222325ULL;
    for (const char c : bytes) {
        value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    }
    return value;
}

}  // namespace

EntityName make_entity_name(std::string_view name) {
    EntityName out{printable(name), {}};
    // Percent signs are written as such, so the encoding can be undone: no two names meet.
    for (std::size_t i = 0; i < name.size(); ++i) {
        const auto c = static_cast<unsigned char>(name[i]);
        if (is_safe(c, i == 0)) {
            out.stem += name[i];
        } else {
            out.stem += fmt::format("%{:02X}", c);
        }
    }
    if (out.stem.size() > kLongestStem) {
        // "%~" is no result of the encoding above, so that a long name can't meet a short one.
        const auto tail = fmt::format("%~{:016x}", hash(name));
        out.stem = out.stem.substr(0, kLongestStem - tail.size()) + tail;
    }
    return out;
}

}  // namespace mapdiag::run
