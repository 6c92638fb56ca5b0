#include "heap/reader/layout_scanner.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace mapdiag::heap {
namespace {

static_assert(std::endian::native == std::endian::little, "the scanner reads digits as words");

constexpr std::uint64_t kEach = 0x0101010101010101ULL;
constexpr std::uint64_t kHighBits = 0x80 * kEach;
constexpr std::array<std::uint64_t, 9> kPowersOfTen = {1,      10,      100,      1000,     10000,
                                                       100000, 1000000, 10000000, 100000000};

std::uint64_t load_word(const char* at) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
}

template <std::size_t N>
bool starts(const char* at, const char (&literal)[N]) {
    return std::memcmp(at, literal, N - 1) == 0;
}

// How many of the 8 bytes, from the first, are digits; `digits` is the word with '0' taken off
// each.
unsigned leading_digits(std::uint64_t digits) {
    // A byte of 10 or more gets its high bit; carries only go to bytes behind the first such one.
    const auto others = ((digits + 0x76 * kEach) | digits) & kHighBits;
    return others == 0 ? 8 : static_cast<unsigned>(std::countr_zero(others)) / 8;
}

// The value of the first `count` digits of such a word.
std::uint64_t digits_value(std::uint64_t digits, unsigned count) {
    if (count == 0) {
        return 0;
    }
    digits <<= (8 - count) * 8;
    // Pairs, then fours, then all eight: D. Lemire, "Quickly parsing eight digits" (2018).
    digits = digits * 10 + (digits >> 8);
    constexpr std::uint64_t kMask = 0x000000FF000000FFULL;
    constexpr std::uint64_t kHigh = 0x000F424000000064ULL;
    constexpr std::uint64_t kLow = 0x0000271000000001ULL;
    return ((digits & kMask) * kHigh + ((digits >> 16) & kMask) * kLow) >> 32;
}

// Digits of more than 15 places, where overflow must be looked for. Null when it does, and
// for leading zeros, which nobody writes.
const char* take_long_number(const char* at, std::uint64_t& value) {
    value = 0;
    const char* const longest = at + 20;
    for (; *at >= '0' && *at <= '9'; ++at) {
        if (at == longest) {
            return nullptr;
        }
        const auto digit = static_cast<std::uint64_t>(*at - '0');
        if (__builtin_mul_overflow(value, std::uint64_t{10}, &value) ||
            __builtin_add_overflow(value, digit, &value)) {
            return nullptr;
        }
    }
    return at;
}

// The number at `at`; null when there is none. Looks at no more than 21 bytes.
const char* take_number(const char* at, std::uint64_t& value) {
    const auto first = load_word(at) ^ (0x30 * kEach);
    const auto first_count = leading_digits(first);
    if (first_count < 8) {
        value = digits_value(first, first_count);
        return first_count == 0 ? nullptr : at + first_count;
    }
    const auto second = load_word(at + 8) ^ (0x30 * kEach);
    const auto second_count = leading_digits(second);
    if (second_count == 8) {
        return take_long_number(at, value);
    }
    value =
        digits_value(first, 8) * kPowersOfTen[second_count] + digits_value(second, second_count);
    return at + 8 + second_count;
}

// Which bytes are a quote, a backslash or a control character: the high bit of each such byte,
// exact up to the first.
std::uint64_t ends_of_plain_text(std::uint64_t word) {
    const auto zero_bytes = [](std::uint64_t x) { return (x - kEach) & ~x & kHighBits; };
    const auto below_blank = (word - 0x20 * kEach) & ~word & kHighBits;
    return zero_bytes(word ^ (0x22 * kEach)) | zero_bytes(word ^ (0x5C * kEach)) | below_blank;
}

// The closing quote of the string whose first character is at `at`. With `escapes` a backslash
// passes together with the byte behind it, else it ends the search. Null when the text ends first.
const char* find_quote(const char* at, const char* safe, bool escapes) {
    while (at < safe) {
        const auto ends = ends_of_plain_text(load_word(at));
        if (ends == 0) {
            at += 8;
            continue;
        }
        at += std::countr_zero(ends) / 8;
        if (*at == '"') {
            return at;
        }
        if (*at != '\\' || !escapes || static_cast<unsigned char>(at[1]) < 0x20) {
            return nullptr;
        }
        at += 2;
    }
    return nullptr;
}

std::string_view between(const char* first, const char* last) {
    return {first, static_cast<std::size_t>(last - first)};
}

const char* take_type(const char* at, const char* safe, ScannedObject& object) {
    if (!starts(at, ", \"type\": \"")) {
        return nullptr;
    }
    at += 11;
    const char* const quote = find_quote(at, safe, false);
    if (quote == nullptr || !starts(quote, "\", \"size\": ")) {
        return nullptr;
    }
    object.type = between(at, quote);
    return quote + 11;
}

const char* take_length(const char* at, ScannedObject& object) {
    std::uint64_t length = 0;
    at = take_number(at, length);
    object.length = static_cast<std::uint32_t>(std::min<std::uint64_t>(length, kNoLength - 1));
    return at;
}

const char* take_name(const char* at, const char* safe, ScannedObject& object) {
    // A name is shown, so that an escape in it has to be decoded: not here.
    const char* const quote = find_quote(at, safe, false);
    if (quote == nullptr) {
        return nullptr;
    }
    object.text = between(at, quote);
    object.is_name = true;
    return quote + 1;
}

// A string or a whole number.
const char* take_value(const char* at, const char* safe, ScannedObject& object) {
    if (*at != '"') {
        std::uint64_t ignored = 0;
        return take_number(*at == '-' ? at + 1 : at, ignored);
    }
    ++at;
    const char* const quote = find_quote(at, safe, object.type != "frame");
    if (quote == nullptr) {
        return nullptr;
    }
    object.text = between(at, quote);
    return quote + 1;
}

const char* take_refs(const char* at, const char* safe, ScannedObject& object) {
    std::uint64_t* out = object.refs;
    if (*at != ']') {
        for (;;) {
            if (at >= safe) {
                return nullptr;
            }
            at = take_number(at, *out);
            if (at == nullptr) {
                return nullptr;
            }
            ++out;
            if (at[0] != ',' || at[1] != ' ') {
                break;
            }
            at += 2;
        }
    }
    object.ref_count = static_cast<std::size_t>(out - object.refs);
    return at;
}

const char* take_line_end(const char* at) {
    if (!starts(at, "]}")) {
        return nullptr;
    }
    at += at[2] == ',' ? 3 : 2;
    return *at == '\n' ? at + 1 : nullptr;
}

}  // namespace

const char* scan_usual_line(const char* at, const char* safe, ScannedObject& object) {
    if (!starts(at, "{\"address\": ")) {
        return nullptr;
    }
    at = take_number(at + 12, object.address);
    at = at != nullptr ? take_type(at, safe, object) : nullptr;
    if (at == nullptr || at >= safe) {
        return nullptr;
    }
    at = take_number(at, object.size);
    if (at == nullptr || object.size > kLargestSize) {
        return nullptr;
    }
    if (starts(at, ", \"len\": ")) {
        at = take_length(at + 9, object);
    }
    if (at != nullptr && starts(at, ", \"name\": \"")) {
        at = take_name(at + 11, safe, object);
    } else if (at != nullptr && starts(at, ", \"value\": ")) {
        at = take_value(at + 11, safe, object);
    }
    if (at == nullptr || at >= safe || !starts(at, ", \"refs\": [")) {
        return nullptr;
    }
    at = take_refs(at + 11, safe, object);
    return at == nullptr || at >= safe ? nullptr : take_line_end(at);
}

}  // namespace mapdiag::heap
