#pragma once

#include <memory>
#include <optional>
#include <string>

namespace mapdiag::cli {

/// Lines from stdin.
class LineInput {
  public:
    /// With editing, history and a prompt where a person types, else plain.
    static std::unique_ptr<LineInput> open();

    LineInput() = default;
    LineInput(const LineInput&) = delete;
    LineInput& operator=(const LineInput&) = delete;
    virtual ~LineInput() = default;

    /// The next line without its end; nothing at the end of the input.
    virtual std::optional<std::string> next(const std::string& prompt) = 0;
};

}  // namespace mapdiag::cli
