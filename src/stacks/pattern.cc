#include "mapdiag/stacks/pattern.h"

#include <regex.h>

#include <algorithm>

namespace mapdiag::stacks {
namespace {

constexpr std::size_t kMostBytes = 1U << 20;

// \d and \D, which people know from other tools, would match the letters d and D.
std::string with_digit_classes(const std::string& expression) {
    std::string out;
    for (std::size_t at = 0; at < expression.size(); ++at) {
        const bool escape = expression[at] == '\\' && at + 1 < expression.size();
        if (!escape) {
            out += expression[at];
            continue;
        }
        ++at;
        if (expression[at] == 'd') {
            out += "[0-9]";
        } else if (expression[at] == 'D') {
            out += "[^0-9]";
        } else {
            out += '\\';
            out += expression[at];
        }
    }
    return out;
}

}  // namespace

struct Pattern::Compiled {
    regex_t regex = {};
    bool ready = false;

    Compiled() = default;
    Compiled(const Compiled&) = delete;
    Compiled& operator=(const Compiled&) = delete;
    ~Compiled() {
        if (ready) {
            ::regfree(&regex);
        }
    }
};

Pattern::Pattern(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

Result<Pattern> Pattern::compile(const std::string& expression) {
    auto compiled = std::make_unique<Compiled>();
    const auto code = ::regcomp(&compiled->regex, with_digit_classes(expression).c_str(),
                                REG_EXTENDED | REG_NOSUB);
    if (code != 0) {
        std::string words(200, '\0');
        ::regerror(code, &compiled->regex, words.data(), words.size());
        words.resize(words.find('\0'));
        return std::unexpected(
            Error::because("read the regular expression", '"' + expression + '"', words));
    }
    compiled->ready = true;
    return Pattern(std::move(compiled));
}

bool Pattern::matches(std::string_view text) const {
    regmatch_t bounds = {};
    bounds.rm_so = 0;
    bounds.rm_eo = static_cast<regoff_t>(std::min(text.size(), kMostBytes));
    return ::regexec(&compiled_->regex, text.data(), 0, &bounds, REG_STARTEND) == 0;
}

}  // namespace mapdiag::stacks
