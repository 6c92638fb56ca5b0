#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "mapdiag/support/error.h"
#include "mapdiag/support/fd.h"

namespace mapdiag::linux_os {

/// A small process in a session of its own, out of reach of signals to mapdiag's group. When
/// mapdiag ends without dismissing it (SIGKILL, a crash), it does what has to be done then.
class Watcher {
  public:
    /// Must be called while mapdiag has one thread. `when_orphaned` runs in the watcher's own copy
    /// of this process; `not_kept` are descriptors that it must not hold open (the job's pipes).
    static Result<Watcher> start(const std::function<void()>& when_orphaned,
                                 const std::vector<int>& not_kept);

    Watcher(Watcher&&) noexcept = default;
    Watcher& operator=(Watcher&&) = delete;
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;
    ~Watcher() { dismiss(); }

    std::int32_t pid() const { return pid_; }
    /// mapdiag has done everything itself: the watcher ends and is reaped.
    void dismiss();

  private:
    Watcher(std::int32_t pid, Fd line) : pid_(pid), line_(std::move(line)) {}

    std::int32_t pid_;
    Fd line_;
};

}  // namespace mapdiag::linux_os
