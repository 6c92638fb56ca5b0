#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mapdiag/support/error.h"
#include "mapdiag/support/fd.h"

namespace mapdiag::linux_os {

/// How to start a helper process of mapdiag's own.
struct HelperStart {
    /// The program and its arguments; a name without '/' is looked for along PATH.
    std::vector<std::string> command;
    /// "NAME=value": added to mapdiag's environment, or in place of what is there.
    std::vector<std::string> environment;
    /// How much of its talk is kept: the first and the last half of this many bytes.
    std::size_t output_limit = 64U << 10;
};

struct HelperExited {
    int code;
};
struct HelperKilled {
    int signal;
};
using HelperEnd = std::variant<HelperExited, HelperKilled>;

/// A helper that runs beside the job: in a session of its own, so that no terminal signal reaches
/// it, in mapdiag's own cgroup, with every signal at its default and unblocked, without any
/// descriptor of mapdiag's, reading nothing; what it prints on either stream is captured and goes
/// nowhere else. It is reaped through its pidfd alone, so another reaper has to pass over its pid.
/// May be started from a process that blocks signals and has threads.
class ChildProcess {
  public:
    /// Fails where the program can't be executed; the errno says why.
    static Result<ChildProcess> start(const HelperStart& start);

    ChildProcess(ChildProcess&& other) noexcept;
    ChildProcess& operator=(ChildProcess&&) = delete;
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;
    /// Kills what still runs (the helper and its process group) and reaps it.
    ~ChildProcess();

    std::int32_t pid() const { return pid_; }
    /// Readable when the helper has ended.
    int pidfd() const { return pidfd_.get(); }

    /// Takes what it has printed and, where it has ended, its end. Never waits.
    void poll();
    /// poll() until it has ended or the time is over; says whether it has.
    bool wait(std::chrono::nanoseconds at_most);
    const std::optional<HelperEnd>& end() const { return end_; }

    /// To the helper alone; nothing happens where it has ended.
    void signal(int number) const;
    /// To the helper and every process that it has started in its process group.
    void signal_group(int number) const;

    /// What it has printed so far, both streams in one; where more came than is kept, the middle is
    /// left out.
    std::string output() const;

  private:
    ChildProcess(std::int32_t pid, Fd pidfd, Fd talk, std::size_t limit);
    void take_output();
    void keep(const char* bytes, std::size_t size);

    std::int32_t pid_;
    Fd pidfd_;
    Fd talk_;
    std::size_t half_limit_;
    std::string first_;
    std::string last_;
    std::optional<HelperEnd> end_;
};

}  // namespace mapdiag::linux_os
