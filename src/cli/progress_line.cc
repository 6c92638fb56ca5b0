#include "progress_line.h"

#include <algorithm>
#include <cstdio>
#include <system_error>

#include "mapdiag/support/terminal.h"

namespace mapdiag::cli {
namespace {

constexpr std::chrono::milliseconds kPatience{1000};
constexpr std::chrono::milliseconds kPause{100};
// To the beginning of the line, and nothing on it.
constexpr std::string_view kEmptyLine = "\r\033[K";

void put(const std::string& text) {
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
}

}  // namespace

ProgressLine::ProgressLine()
    : on_terminal_(stderr_is_terminal()),
      visible_from_(std::chrono::steady_clock::now() + kPatience) {}

ProgressLine::~ProgressLine() {
    if (writer_.joinable()) {
        writer_.request_stop();
        writer_.join();
    }
    wipe();
}

void ProgressLine::show(std::string_view what, double share) {
    if (!on_terminal_) {
        return;
    }
    const std::lock_guard guard(lock_);
    text_ = progress_text(what, share);
    if (!writer_.joinable()) {
        try {
            writer_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
        } catch (const std::system_error&) {
            // A process limit: the work goes on without a word.
        }
    }
}

void ProgressLine::wipe() {
    const std::lock_guard guard(lock_);
    text_.clear();
    if (!shown_.empty()) {
        put(std::string(kEmptyLine));
        shown_.clear();
    }
}

void ProgressLine::restart() {
    const std::lock_guard guard(lock_);
    visible_from_ = std::chrono::steady_clock::now() + kPatience;
}

// A step may say once what it is and then take long, so somebody has to watch the clock.
void ProgressLine::run(const std::stop_token& stop) {
    std::unique_lock guard(lock_);
    while (!stop.stop_requested()) {
        if (text_ != shown_ && !text_.empty() &&
            std::chrono::steady_clock::now() >= visible_from_) {
            put(std::string(kEmptyLine) + text_);
            shown_ = text_;
        }
        wake_.wait_for(guard, stop, kPause, [] { return false; });
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
