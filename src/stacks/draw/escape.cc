#include "escape.h"

#include <algorithm>
#include <cstdint>

#include "mapdiag/support/text.h"

namespace mapdiag::stacks {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::size_t kLongestText = 2000;

std::uint32_t code_point(std::string_view character) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
    switch (character.size()) {
        case 2:
            return (byte(0) & 0x1FU) << 6U | (byte(1) & 0x3FU);
        case 3:
            return (byte(0) & 0x0FU) << 12U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU);
        case 4:
            return (byte(0) & 0x07U) << 18U | (byte(1) & 0x3FU) << 12U | (byte(2) & 0x3FU) << 6U |
                   (byte(3) & 0x3FU);
        default:
            return byte(0);
    }
}

bool is_wide(std::uint32_t code) {
    return (code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) ||
           (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
           (code >= 0xFE30 && code <= 0xFE6F) || (code >= 0xFF00 && code <= 0xFF60) ||
           (code >= 0xFFE0 && code <= 0xFFE6) || (code >= 0x1F300 && code <= 0x1FAFF) ||
           (code >= 0x20000 && code <= 0x3FFFD);
}

bool is_combining(std::uint32_t code) {
    return (code >= 0x300 && code <= 0x36F) || (code >= 0x200B && code <= 0x200F);
}

std::size_t columns_of_character(std::string_view character) {
    const auto code = code_point(character);
    return is_wide(code) ? 2 : is_combining(code) ? 0 : 1;
}

bool is_plain(unsigned char c) {
    return c >= 0x20 && c < 0x7F && c != '&' && c != '<' && c != '>' && c != '"';
}

}  // namespace

void append_xml(std::string& out, std::string_view text) {
    while (!text.empty()) {
        const auto plain = static_cast<std::size_t>(
            std::ranges::find_if_not(
                text, [](char c) { return is_plain(static_cast<unsigned char>(c)); }) -
            text.begin());
        out += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty()) {
            return;
        }
        const auto length = utf8_length(text);
        const auto character = text.substr(0, std::max<std::size_t>(length, 1));
        switch (character.front()) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default: {
                const bool control = length == 1 &&
                                     static_cast<unsigned char>(character.front()) != '\t' &&
                                     (static_cast<unsigned char>(character.front()) < 0x20 ||
                                      character.front() == 0x7F);
                const bool none = character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";
                out += length == 0 || control || none ? kReplacement : character;
            }
        }
        text.remove_prefix(character.size());
    }
}

std::size_t columns_of(std::string_view text) {
    std::size_t columns = 0;
    while (!text.empty()) {
        const auto length = std::max<std::size_t>(utf8_length(text), 1);
        columns += columns_of_character(text.substr(0, length));
        text.remove_prefix(length);
    }
    return columns;
}

std::string fit_columns(std::string_view text, std::size_t columns) {
    if (text.size() <= columns || columns_of(text) <= columns) {
        return std::string(text);
    }
    if (columns < 3) {
        return {};
    }
    std::size_t used = 0;
    std::size_t end = 0;
    while (end < text.size()) {
        const auto length = std::max<std::size_t>(utf8_length(text.substr(end)), 1);
        const auto width = columns_of_character(text.substr(end, length));
        if (used + width > columns - 2) {
            break;
        }
        used += width;
        end += length;
    }
    return std::string(text.substr(0, end)) + "..";
}

std::string shortened(std::string_view text) {
    if (text.size() <= kLongestText) {
        return std::string(text);
    }
    auto end = kLongestText;
    // Not within a character.
    while (end > kLongestText - 4 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
        --end;
    }
    return std::string(text.substr(0, end)) + " ...";
}

}  // namespace mapdiag::stacks
