#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>

namespace mapdiag::cli {

/// One line on a terminal's stderr that says what takes so long. Silent on anything else than a
/// terminal, and during the first second. Usable from several threads; the line is wiped when the
/// object goes.
class ProgressLine {
  public:
    ProgressLine();
    /// For tests: whether to write, and from when on.
    ProgressLine(bool on_terminal, std::chrono::milliseconds patience);
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    ~ProgressLine();

    /// `share` is 0 to 1, or negative where it can't be known.
    void show(std::string_view what, double share);
    void wipe();

  private:
    std::mutex lock_;
    bool on_terminal_;
    bool shown_ = false;
    std::chrono::steady_clock::time_point next_;
};

/// The line itself: "mapdiag: reading 42 %", "mapdiag: resolving references".
std::string progress_text(std::string_view what, double share);

}  // namespace mapdiag::cli
