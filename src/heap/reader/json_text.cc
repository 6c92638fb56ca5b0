#include "heap/reader/json_text.h"

#include <fmt/format.h>

#include <cstdint>

#include "mapdiag/support/text.h"

namespace mapdiag::heap {
namespace {

bool is_high(std::uint32_t unit) {
    return unit >= 0xD800 && unit < 0xDC00;
}
bool is_low(std::uint32_t unit) {
    return unit >= 0xDC00 && unit < 0xE000;
}

std::optional<std::uint32_t> find_unit(std::string_view digits) {
    if (digits.size() < 4) {
        return std::nullopt;
    }
    std::uint32_t unit = 0;
    for (const char c : digits.substr(0, 4)) {
        unsigned digit = 0;
        if (c >= '0' && c <= '9') {
            digit = static_cast<unsigned>(c - '0');
        } else if (c >= 'a' && c <= 'f') {
            digit = static_cast<unsigned>(c - 'a') + 10;
        } else if (c >= 'A' && c <= 'F') {
            digit = static_cast<unsigned>(c - 'A') + 10;
        } else {
            return std::nullopt;
        }
        unit = unit * 16 + digit;
    }
    return unit;
}

void append_code_point(std::string& out, std::uint32_t code) {
    const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xC0 | (code >> 6));
        put(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        put(0xE0 | (code >> 12));
        put(0x80 | ((code >> 6) & 0x3F));
        put(0x80 | (code & 0x3F));
    } else {
        put(0xF0 | (code >> 18));
        put(0x80 | ((code >> 12) & 0x3F));
        put(0x80 | ((code >> 6) & 0x3F));
        put(0x80 | (code & 0x3F));
    }
}

// What one escape stands for, and how many bytes it takes after the backslash.
struct Escape {
    std::uint32_t code;
    std::size_t size;
};

std::optional<Escape> find_unicode_escape(std::string_view rest) {
    const auto unit = find_unit(rest.substr(1));
    if (!unit) {
        return std::nullopt;
    }
    if (is_high(*unit) && rest.substr(5).starts_with("\\u")) {
        const auto low = find_unit(rest.substr(7));
        if (low && is_low(*low)) {
            return Escape{0x10000 + ((*unit - 0xD800) << 10) + (*low - 0xDC00), 11};
        }
    }
    return Escape{*unit, 5};
}

std::optional<Escape> find_escape(std::string_view rest) {
    if (rest.empty()) {
        return std::nullopt;
    }
    switch (rest.front()) {
        case '"':
        case '\\':
        case '/':
            return Escape{static_cast<unsigned char>(rest.front()), 1};
        case 'b':
            return Escape{'\b', 1};
        case 'f':
            return Escape{'\f', 1};
        case 'n':
            return Escape{'\n', 1};
        case 'r':
            return Escape{'\r', 1};
        case 't':
            return Escape{'\t', 1};
        case 'u':
            return find_unicode_escape(rest);
        default:
            return std::nullopt;
    }
}

// The code unit of a lone surrogate in three-byte form at the start of `text`, or 0.
std::uint32_t lone_surrogate(std::string_view text) {
    if (text.size() < 3 || static_cast<unsigned char>(text[0]) != 0xED ||
        (static_cast<unsigned char>(text[1]) & 0xE0) != 0xA0 ||
        (static_cast<unsigned char>(text[2]) & 0xC0) != 0x80) {
        return 0;
    }
    const auto middle = static_cast<std::uint32_t>(static_cast<unsigned char>(text[1]) & 0x3F);
    const auto last = static_cast<std::uint32_t>(static_cast<unsigned char>(text[2]) & 0x3F);
    return 0xD000 | (middle << 6) | last;
}

// The code point of the valid UTF-8 character of `length` bytes at the start of `text`.
std::uint32_t code_point(std::string_view text, std::size_t length) {
    const auto first = static_cast<unsigned char>(text[0]);
    if (length == 1) {
        return first;
    }
    std::uint32_t code = first & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        code = (code << 6) | (static_cast<unsigned char>(text[i]) & 0x3FU);
    }
    return code;
}

}  // namespace

std::optional<std::string> decode_json_text(std::string_view raw) {
    std::string out;
    out.reserve(raw.size());
    for (std::size_t i = 0; i < raw.size();) {
        if (raw[i] != '\\') {
            out += raw[i++];
            continue;
        }
        const auto escape = find_escape(raw.substr(i + 1));
        if (!escape) {
            return std::nullopt;
        }
        append_code_point(out, escape->code);
        i += 1 + escape->size;
    }
    return out;
}

std::string text_for_people(std::string_view decoded) {
    const char quote =
        decoded.find('\'') != std::string_view::npos && decoded.find('"') == std::string_view::npos
            ? '"'
            : '\'';
    std::string out(1, quote);
    while (!decoded.empty()) {
        const auto length = utf8_length(decoded);
        if (const auto unit = lone_surrogate(decoded); unit != 0) {
            out += fmt::format("\\u{:04x}", unit);
            decoded.remove_prefix(3);
            continue;
        }
        if (length == 1 && (decoded.front() == quote || decoded.front() == '\\')) {
            out += '\\';
            out += decoded.front();
        } else if (decoded.front() == '\r') {
            out += "\\r";
        } else {
            out += printable(decoded.substr(0, length == 0 ? 1 : length));
        }
        decoded.remove_prefix(length == 0 ? 1 : length);
    }
    return out + quote;
}

std::string encode_json_text(std::string_view decoded) {
    std::string out;
    const auto put_unit = [&out](std::uint32_t unit) { out += fmt::format("\\u{:04x}", unit); };
    while (!decoded.empty()) {
        const auto length = utf8_length(decoded);
        std::size_t used = length == 0 ? 1 : length;
        if (const auto unit = lone_surrogate(decoded); unit != 0) {
            put_unit(unit);
            used = 3;
        } else if (length == 0) {
            put_unit(static_cast<unsigned char>(decoded.front()));
        } else if (const auto code = code_point(decoded, length); code >= 0x10000) {
            put_unit(0xD800 + ((code - 0x10000) >> 10));
            put_unit(0xDC00 + ((code - 0x10000) & 0x3FF));
        } else if (code <= 0x1F || code > 0x7E) {
            put_unit(code);
        } else {
            if (code == '\\' || code == '/' || code == '"') {
                out += '\\';
            }
            out += static_cast<char>(code);
        }
        decoded.remove_prefix(used);
    }
    return out;
}

}  // namespace mapdiag::heap
