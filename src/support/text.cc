#include "mapdiag/support/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace mapdiag {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\f\v";

template <class Number>
std::optional<Number> find_number(std::string_view text) {
    Number value{};
    const auto* end = text.data() + text.size();
    const auto [at, failure] = std::from_chars(text.data(), end, value);
    if (failure != std::errc{} || at != end) {
        return std::nullopt;
    }
    return value;
}

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

std::string_view trim(std::string_view text) {
    const auto first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        const auto at = text.find(separator);
        parts.push_back(text.substr(0, at));
        if (at == std::string_view::npos) {
            return parts;
        }
        text.remove_prefix(at + 1);
    }
}

std::vector<std::string_view> split_words(std::string_view text) {
    std::vector<std::string_view> words;
    for (;;) {
        const auto first = text.find_first_not_of(kBlanks);
        if (first == std::string_view::npos) {
            return words;
        }
        text.remove_prefix(first);
        const auto length = std::min(text.find_first_of(kBlanks), text.size());
        words.push_back(text.substr(0, length));
        text.remove_prefix(length);
    }
}

std::optional<std::uint64_t> find_u64(std::string_view text) {
    return find_number<std::uint64_t>(text);
}

std::optional<std::int64_t> find_i64(std::string_view text) {
    return find_number<std::int64_t>(text);
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

std::optional<std::uint64_t> find_key_value(std::string_view file, std::string_view key) {
    for (const auto line : split(file, '\n')) {
        if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ' ') {
            return find_u64(trim(line.substr(key.size())));
        }
    }
    return std::nullopt;
}

std::size_t utf8_length(std::string_view bytes) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    const auto follows = [&](std::size_t i) {
        return i < bytes.size() && (byte(i) & 0xC0) == 0x80;
    };
    if (bytes.empty()) {
        return 0;
    }
    const unsigned first = byte(0);
    if (first < 0x80) {
        return 1;
    }
    if (first >= 0xC2 && first <= 0xDF) {
        return follows(1) ? 2 : 0;
    }
    if (first >= 0xE0 && first <= 0xEF) {
        if (!follows(1) || !follows(2)) {
            return 0;
        }
        const bool overlong = first == 0xE0 && byte(1) < 0xA0;
        const bool surrogate = first == 0xED && byte(1) >= 0xA0;
        return overlong || surrogate ? 0 : 3;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        if (!follows(1) || !follows(2) || !follows(3)) {
            return 0;
        }
        const bool overlong = first == 0xF0 && byte(1) < 0x90;
        const bool too_large = first == 0xF4 && byte(1) >= 0x90;
        return overlong || too_large ? 0 : 4;
    }
    return 0;
}

std::string printable(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const auto length = utf8_length(text);
        const auto c = static_cast<unsigned char>(text.front());
        if (length == 1 && (c < 0x20 || c == 0x7F)) {
            out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : fmt::format("\\x{:02x}", c);
        } else if (length == 0) {
            out += fmt::format("\\x{:02x}", c);
        } else if (length == 2 && c == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0) {
            // C1 control characters: some terminals obey them.
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[1]));
        } else {
            out += text.substr(0, length);
        }
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return out;
}

std::string quoted(std::string_view text) {
    return '"' + printable(text) + '"';
}

std::string to_valid_utf8(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size());
    while (!bytes.empty()) {
        const auto length = utf8_length(bytes);
        if (length == 0) {
            out += "\xEF\xBF\xBD";
            bytes.remove_prefix(1);
        } else {
            out += bytes.substr(0, length);
            bytes.remove_prefix(length);
        }
    }
    return out;
}

}  // namespace mapdiag
