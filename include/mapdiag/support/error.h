#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mapdiag {

/// What went wrong: what was tried, on what, the errno (0 where the kernel was not involved) and
/// the context that callers added on the way up. Becomes text in one place, text().
class Error {
  public:
    /// `tried` is a verb phrase ("open", "parse line"), `on` the path or place, `detail` says more
    /// where there is no errno or the errno does not say enough.
    Error(std::string tried, std::string on, int errno_value, std::string detail = {})
        : tried_(std::move(tried)),
          on_(std::move(on)),
          detail_(std::move(detail)),
          errno_(errno_value) {}

    /// An error that the kernel reported: takes the current errno.
    static Error from_errno(std::string tried, std::string on);
    /// An error that our own reading or arithmetic found.
    static Error because(std::string tried, std::string on, std::string detail) {
        return {std::move(tried), std::move(on), 0, std::move(detail)};
    }

    /// The same error, seen from a caller: "while <context>".
    Error within(std::string context) && {
        contexts_.push_back(std::move(context));
        return std::move(*this);
    }

    int errno_value() const { return errno_; }
    const std::string& tried() const { return tried_; }
    const std::string& on() const { return on_; }

    /// One line for a person: "can't open /a/b: Permission denied (while reading the journal)".
    std::string text() const;

  private:
    std::string tried_;
    std::string on_;
    std::string detail_;
    std::vector<std::string> contexts_;
    int errno_;
};

template <class T>
using Result = std::expected<T, Error>;

/// The kernel's words for an errno, for example "Permission denied". Thread-safe.
std::string errno_text(int errno_value);

}  // namespace mapdiag
