#include "heap/reader/line_parser.h"

#include <algorithm>

#include "heap/reader/json_text.h"

namespace mapdiag::heap {
namespace {

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool ends_value(char c) {
    return c == ',' || c == ']' || c == '}' || is_blank(c);
}

}  // namespace

std::string_view reason_text(BadLine reason) {
    switch (reason) {
        case BadLine::kNotJson:
            return "not JSON";
        case BadLine::kNoObject:
            return "not an object";
        case BadLine::kNoAddress:
            return "no address";
        case BadLine::kBadAddress:
            return "the address is not a number from 0 to 2^64-1";
        case BadLine::kNoType:
            return "no type";
        case BadLine::kNoSize:
            return "no size";
        case BadLine::kNegativeSize:
            return "negative size";
        case BadLine::kAbsurdSize:
            return "size larger than any address space";
        case BadLine::kBadSize:
            return "the size is not a whole number";
        case BadLine::kBadRefs:
            return "refs is not a list of addresses";
        case BadLine::kCut:
            return "cut";
        case BadLine::kCount:
            break;
    }
    return "unusable";
}

bool LineParser::fail(BadLine reason) {
    // The first reason is the one that a person can act on.
    if (ok_) {
        reason_ = reason;
        ok_ = false;
    }
    return false;
}

void LineParser::skip_blanks() {
    while (at_ != end_ && is_blank(*at_)) {
        ++at_;
    }
}

bool LineParser::take(char c) {
    skip_blanks();
    if (at_ == end_ || *at_ != c) {
        return false;
    }
    ++at_;
    return true;
}

bool LineParser::has_object() {
    while (ok_ && at_ != end_ && (is_blank(*at_) || *at_ == '[' || *at_ == ']' || *at_ == ',')) {
        ++at_;
    }
    if (!ok_ || at_ == end_) {
        return false;
    }
    return *at_ == '{' || fail(BadLine::kNotJson);
}

// Gives what is between the quotes, as written.
bool LineParser::find_string(std::string_view& raw) {
    if (!take('"')) {
        return false;
    }
    const char* const first = at_;
    while (at_ != end_ && *at_ != '"') {
        at_ += *at_ == '\\' && at_ + 1 != end_ ? 2 : 1;
    }
    if (at_ == end_) {
        return false;
    }
    raw = {first, static_cast<std::size_t>(at_ - first)};
    ++at_;
    return true;
}

bool LineParser::skip_plain() {
    const char* const first = at_;
    while (at_ != end_ && !ends_value(*at_)) {
        if (*at_ == '"' || *at_ == ':' || *at_ == '{' || *at_ == '[') {
            return false;
        }
        ++at_;
    }
    return at_ != first;
}

// Passes over one bracketed value; the open brackets are kept in a list, not on the call stack.
bool LineParser::skip_brackets() {
    std::string open;
    std::string_view ignored;
    do {
        if (at_ == end_) {
            return false;
        }
        if (*at_ == '"') {
            if (!find_string(ignored)) {
                return false;
            }
            continue;
        }
        if (*at_ == '{' || *at_ == '[') {
            open += *at_ == '{' ? '}' : ']';
        } else if (*at_ == '}' || *at_ == ']') {
            if (open.back() != *at_) {
                return false;
            }
            open.pop_back();
        }
        ++at_;
    } while (!open.empty());
    return true;
}

bool LineParser::skip_value() {
    skip_blanks();
    std::string_view ignored;
    if (at_ == end_) {
        return false;
    }
    if (*at_ == '"') {
        return find_string(ignored);
    }
    return *at_ == '{' || *at_ == '[' ? skip_brackets() : skip_plain();
}

// A whole number with an optional '-'. False when it is no such thing.
bool LineParser::find_number(std::uint64_t& value, bool& negative, bool& too_large) {
    skip_blanks();
    negative = at_ != end_ && *at_ == '-';
    at_ += negative ? 1 : 0;
    too_large = false;
    value = 0;
    const char* const first = at_;
    for (; at_ != end_ && is_digit(*at_); ++at_) {
        const auto digit = static_cast<std::uint64_t>(*at_ - '0');
        too_large = too_large || __builtin_mul_overflow(value, std::uint64_t{10}, &value) ||
                    __builtin_add_overflow(value, digit, &value);
    }
    return at_ != first && at_ != end_ && ends_value(*at_);
}

bool LineParser::read_address(ParsedObject& into) {
    bool negative = false;
    bool too_large = false;
    has_address_ = find_number(into.address, negative, too_large) && !negative && !too_large;
    return has_address_ || fail(BadLine::kBadAddress);
}

bool LineParser::read_size(ParsedObject& into) {
    bool negative = false;
    bool too_large = false;
    if (!find_number(into.size, negative, too_large)) {
        return fail(BadLine::kBadSize);
    }
    if (negative && (into.size != 0 || too_large)) {
        return fail(BadLine::kNegativeSize);
    }
    if (too_large || into.size > kLargestSize) {
        return fail(BadLine::kAbsurdSize);
    }
    has_size_ = true;
    return true;
}

bool LineParser::read_length(ParsedObject& into) {
    const char* const before = at_;
    bool negative = false;
    bool too_large = false;
    std::uint64_t length = 0;
    if (find_number(length, negative, too_large) && !negative && !too_large) {
        into.length = static_cast<std::uint32_t>(std::min<std::uint64_t>(length, kNoLength - 1));
        return true;
    }
    at_ = before;
    return skip_value() || fail(BadLine::kNotJson);
}

bool LineParser::read_value(ParsedObject& into) {
    skip_blanks();
    if (at_ != end_ && *at_ == '"') {
        into.has_value = find_string(into.value);
        return into.has_value || fail(BadLine::kNotJson);
    }
    const char* const first = at_;
    if (!skip_value()) {
        return fail(BadLine::kNotJson);
    }
    into.plain_value = {first, static_cast<std::size_t>(at_ - first)};
    return true;
}

bool LineParser::read_decoded(std::string& into, BadLine reason) {
    std::string_view raw;
    if (!find_string(raw)) {
        return fail(reason);
    }
    auto decoded = decode_json_text(raw);
    if (!decoded) {
        return fail(reason);
    }
    into = std::move(*decoded);
    return true;
}

bool LineParser::read_refs(ParsedObject& into) {
    into.refs.clear();
    if (!take('[')) {
        return fail(BadLine::kBadRefs);
    }
    if (take(']')) {
        return true;
    }
    do {
        std::uint64_t target = 0;
        bool negative = false;
        bool too_large = false;
        if (!find_number(target, negative, too_large) || too_large) {
            return fail(BadLine::kBadRefs);
        }
        // A pointer that was written as a signed number.
        into.refs.push_back(negative ? 0 - target : target);
    } while (take(','));
    return take(']') || fail(BadLine::kBadRefs);
}

bool LineParser::read_key(ParsedObject& into, std::string_view key) {
    if (key == "address") {
        return read_address(into);
    }
    if (key == "size") {
        return read_size(into);
    }
    if (key == "type") {
        has_type_ = read_decoded(into.type, BadLine::kNoType);
        return has_type_;
    }
    if (key == "refs") {
        return read_refs(into);
    }
    if (key == "len") {
        return read_length(into);
    }
    if (key == "value") {
        return read_value(into);
    }
    if (key == "name") {
        skip_blanks();
        if (at_ != end_ && *at_ == '"') {
            return read_decoded(into.name, BadLine::kNotJson);
        }
    }
    return skip_value() || fail(BadLine::kNotJson);
}

bool LineParser::read_object(ParsedObject& into) {
    into.length = kNoLength;
    into.type.clear();
    into.name.clear();
    into.value = {};
    into.has_value = false;
    into.plain_value = {};
    into.refs.clear();
    has_address_ = has_type_ = has_size_ = false;
    if (!take('{')) {
        return fail(BadLine::kNoObject);
    }
    if (!take('}')) {
        do {
            std::string_view key;
            if (!find_string(key) || !take(':')) {
                return fail(BadLine::kNotJson);
            }
            if (!read_key(into, key)) {
                return false;
            }
        } while (take(','));
        if (!take('}')) {
            return fail(BadLine::kNotJson);
        }
    }
    if (!has_address_) {
        return fail(BadLine::kNoAddress);
    }
    if (!has_type_) {
        return fail(BadLine::kNoType);
    }
    return has_size_ || fail(BadLine::kNoSize);
}

}  // namespace mapdiag::heap
