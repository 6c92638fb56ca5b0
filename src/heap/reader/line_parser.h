#pragma once

#include <string>
#include <string_view>

#include "heap/reader/raw_chunk.h"

namespace mapdiag::heap {

/// What one object's text says, before it joins a chunk. `refs` is the caller's and used again.
struct ParsedObject {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::uint32_t length = kNoLength;
    std::string type;              ///< decoded
    std::string name;              ///< decoded; empty where there is none
    std::string_view value;        ///< a string value as written, between its quotes
    bool has_value = false;        ///< a string value was given
    std::string_view plain_value;  ///< a value that is no string, as written
    std::vector<std::uint64_t> refs;
};

/// Reads lines of any layout: keys in any order, blanks anywhere, unknown keys of any kind, escapes
/// of all kinds, several objects on a line, brackets and commas of a JSON array around them.
/// Bounded by the text it is given; never recurses.
class LineParser {
  public:
    explicit LineParser(std::string_view line)
        : begin_(line.data()), at_(begin_), end_(begin_ + line.size()) {}

    /// Whether another object starts on this line; false as well when what is left is no object,
    /// which `ok()` tells.
    bool has_object();
    /// Where that object's text starts, in bytes from the start of the line.
    std::size_t offset() const { return static_cast<std::size_t>(at_ - begin_); }
    /// Reads it. On false, reason() says why and the rest of the line is given up.
    bool read_object(ParsedObject& into);

    bool ok() const { return ok_; }
    BadLine reason() const { return reason_; }

  private:
    bool fail(BadLine reason);
    void skip_blanks();
    bool take(char c);
    bool find_string(std::string_view& raw);
    bool skip_value();
    bool skip_brackets();
    bool skip_plain();
    bool find_number(std::uint64_t& value, bool& negative, bool& too_large);
    bool read_key(ParsedObject& into, std::string_view key);
    bool read_address(ParsedObject& into);
    bool read_size(ParsedObject& into);
    bool read_length(ParsedObject& into);
    bool read_value(ParsedObject& into);
    bool read_refs(ParsedObject& into);
    bool read_decoded(std::string& into, BadLine reason);

    const char* begin_;
    const char* at_;
    const char* end_;
    bool has_address_ = false;
    bool has_type_ = false;
    bool has_size_ = false;
    bool ok_ = true;
    BadLine reason_ = BadLine::kNotJson;
};

}  // namespace mapdiag::heap
