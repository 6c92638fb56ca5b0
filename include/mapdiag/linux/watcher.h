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
    /// What to do: it runs in the watcher's own copy of this process, made at the start, with the
    /// job's pid as far as the watcher was told, else 0.
    using Orphaned = std::function<void(std::int32_t job)>;

    /// Must be called while mapdiag has one thread. `not_kept` are descriptors that the watcher
    /// must not hold open (the job's pipes). When it comes back, signals to mapdiag's group no
    /// longer reach the watcher: what is made from here on is dealt with.
    static Result<Watcher> start(const Orphaned& when_orphaned, const std::vector<int>& not_kept);

    Watcher(Watcher&&) noexcept = default;
    Watcher& operator=(Watcher&&) = delete;
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;
    ~Watcher() { dismiss(); }

    std::int32_t pid() const { return pid_; }
    /// The job's pid; 0 once it has been reaped, when the number may become somebody else's.
    void tell_job(std::int32_t pid) const;

    /// mapdiag has done everything itself: the watcher ends and is reaped.
    void dismiss();

  private:
    Watcher(std::int32_t pid, Fd line) : pid_(pid), line_(std::move(line)) {}

    std::int32_t pid_;
    Fd line_;
};

}  // namespace mapdiag::linux_os
