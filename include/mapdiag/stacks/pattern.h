#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "mapdiag/support/error.h"

namespace mapdiag::stacks {

/// A POSIX extended regular expression, as `grep -E` takes it, with `\d`, `\w`, `\s` and `\b`
/// besides. Matches bytes, anywhere in a text. Never recurses over the text that it is matched
/// with.
class Pattern {
  public:
    static Result<Pattern> compile(const std::string& expression);

    Pattern(Pattern&&) noexcept;
    Pattern& operator=(Pattern&&) noexcept;
    Pattern(const Pattern&) = delete;
    Pattern& operator=(const Pattern&) = delete;
    ~Pattern();

    /// Looks at the first mebibyte of `text`.
    bool matches(std::string_view text) const;

  private:
    struct Compiled;
    explicit Pattern(std::unique_ptr<Compiled> compiled);

    std::unique_ptr<Compiled> compiled_;
};

}  // namespace mapdiag::stacks
