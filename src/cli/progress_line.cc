#include "progress_line.h"

#include <algorithm>
#include <cstdio>

#include "mapdiag/support/terminal.h"

namespace mapdiag::cli {
namespace {

constexpr std::chrono::milliseconds kPatience{1000};
constexpr std::chrono::milliseconds kPause{100};

}  // namespace

ProgressLine::ProgressLine() : ProgressLine(stderr_is_terminal(), kPatience) {}

ProgressLine::ProgressLine(bool on_terminal, std::chrono::milliseconds patience)
    : on_terminal_(on_terminal), next_(std::chrono::steady_clock::now() + patience) {}

ProgressLine::~ProgressLine() {
    wipe();
}

void ProgressLine::show(std::string_view what, double share) {
    if (!on_terminal_) {
        return;
    }
    const std::lock_guard guard(lock_);
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) {
        return;
    }
    next_ = now + kPause;
    shown_ = true;
    std::fputs(("\r\033[K" + progress_text(what, share)).c_str(), stderr);
    std::fflush(stderr);
}

void ProgressLine::wipe() {
    const std::lock_guard guard(lock_);
    if (shown_) {
        std::fputs("\r\033[K", stderr);
        std::fflush(stderr);
        shown_ = false;
    }
}

std::string progress_text(std::string_view what, double share) {
    std::string out = "mapdiag: ";
    out += what;
    if (share >= 0) {
        out += ' ' + std::to_string(static_cast<int>(std::min(share, 1.0) * 100)) + " %";
    }
    return out;
}

}  // namespace mapdiag::cli
