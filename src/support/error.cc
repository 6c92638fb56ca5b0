#include "mapdiag/support/error.h"

#include <cerrno>
#include <cstring>
#include <system_error>

namespace mapdiag {

Error Error::from_errno(std::string tried, std::string on) {
    const int saved = errno;
    return {std::move(tried), std::move(on), saved};
}

std::string Error::text() const {
    std::string out = "can't " + tried_;
    if (!on_.empty()) {
        out += ' ' + on_;
    }
    if (errno_ != 0) {
        out += ": " + errno_text(errno_);
    }
    if (!detail_.empty()) {
        out += ": " + detail_;
    }
    for (const auto& context : contexts_) {
        out += " (while " + context + ')';
    }
    return out;
}

std::string errno_text(int errno_value) {
    return std::generic_category().message(errno_value);
}

}  // namespace mapdiag
