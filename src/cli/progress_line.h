#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace mapdiag::cli {

/// One line on a terminal's stderr that says what takes so long. Silent on anything else than a
/// terminal, and during the first second. Usable from several threads; the line is wiped when the
/// object goes.
class ProgressLine {
  public:
    ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    ~ProgressLine();

    /// What goes on from now until the next call or wipe(). `share` is 0 to 1, or negative where it
    /// can't be known.
    void show(std::string_view what, double share);
    /// Nothing goes on; the line is empty.
    void wipe();
    /// The second begins anew, as for another question.
    void restart();

  private:
    void run(const std::stop_token& stop);

    const bool on_terminal_;
    std::mutex lock_;
    std::condition_variable_any wake_;
    std::chrono::steady_clock::time_point visible_from_;
    std::string text_;
    std::string shown_;
    std::jthread writer_;  // from the first show() on; last, as it uses all the others
};

/// The line itself: "mapdiag: reading 42 %", "mapdiag: resolving references".
std::string progress_text(std::string_view what, double share);

}  // namespace mapdiag::cli
