#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mapdiag::linux_os {

/// One process for as long as the machine runs: a pid that is used again has another start time.
struct ProcessId {
    std::int32_t pid = 0;
    std::uint64_t start_ticks = 0;  ///< clock ticks after boot, field 22 of /proc/PID/stat

    friend auto operator<=>(const ProcessId&, const ProcessId&) = default;
};

/// What /proc/PID/stat says.
struct ProcessStat {
    ProcessId id;
    std::string name;  ///< comm: at most 15 bytes, may hold blanks, parentheses and line ends
    char state = '?';  ///< R, S, D, Z, T (stopped by a signal), t (stopped by a tracer), X, I
    std::int32_t parent = 0;
    std::int32_t process_group = 0;
    std::int32_t session = 0;
    std::uint64_t user_ticks = 0;
    std::uint64_t system_ticks = 0;
    /// Where the stack was put when the program was started: another value after each exec. 0 where
    /// the kernel does not tell.
    std::uint64_t stack_start = 0;
};

/// What /proc/PID/status says of memory and of rights. A line that the kernel does not write is
/// empty here.
struct ProcessStatus {
    std::optional<std::uint64_t> peak_resident_bytes;  ///< VmHWM
    std::optional<std::uint32_t> real_user;
    std::optional<std::uint32_t> effective_user;
    std::optional<std::uint64_t> effective_capabilities;
    std::optional<std::uint32_t> seccomp_mode;  ///< 0 off, 1 strict, 2 filter
    std::optional<bool> no_new_privileges;
    std::optional<std::int32_t> tracer;  ///< 0: nobody traces it
};

/// Reads /proc, or a tree of the same shape below another root. A process may end between any two
/// reads, so every answer is optional and nothing is an error; every read is bounded.
class ProcFs {
  public:
    explicit ProcFs(std::string root = "/proc") : root_(std::move(root)) {}

    const std::string& root() const { return root_; }

    /// Every process, ascending.
    std::vector<std::int32_t> pids() const;
    /// The children of all threads of a process, ascending; where the kernel has no
    /// /proc/PID/task/TID/children, by asking every process for its parent.
    std::vector<std::int32_t> children(std::int32_t pid) const;
    /// The processes below `pid` without itself, nearest first; not more than `at_most`.
    std::vector<std::int32_t> descendants(std::int32_t pid, std::size_t at_most = 16384) const;

    std::optional<ProcessStat> stat(std::int32_t pid) const;
    std::optional<ProcessId> id(std::int32_t pid) const;
    /// Whether that very process still exists and is no zombie.
    bool alive(const ProcessId& id) const;
    std::optional<ProcessStatus> status(std::int32_t pid) const;

    /// The file that runs, as the process's own namespace names it; a removed one ends in
    /// " (deleted)". Nothing for kernel threads, zombies and where it may not be read.
    std::optional<std::string> executable(std::int32_t pid) const;
    /// argv, cut to the first 64 KiB; empty for a zombie or before exec.
    std::vector<std::string> arguments(std::int32_t pid) const;
    /// The value that the variable had when the program was started.
    std::optional<std::string> environment_value(std::int32_t pid, std::string_view name) const;
    /// Where a relative path of that process begins.
    std::optional<std::string> working_folder(std::int32_t pid) const;

    /// Resident set, from statm: cheap.
    std::optional<std::uint64_t> resident_bytes(std::int32_t pid) const;
    /// Proportional set size, from smaps_rollup: 9 to 16 ms per 2 GiB, during which the process
    /// can't change its memory map.
    std::optional<std::uint64_t> proportional_bytes(std::int32_t pid) const;

    /// Whether the process has the pipe with that inode open (either end).
    bool holds_pipe(std::int32_t pid, std::uint64_t inode) const;
    /// Of all processes, those that have it open.
    std::vector<std::int32_t> pipe_holders(std::uint64_t inode) const;

    /// A small file below the root, such as "sys/kernel/yama/ptrace_scope"; cut to 64 KiB.
    std::optional<std::string> read(const std::string& name) const;

  private:
    std::string path(std::int32_t pid, std::string_view file) const;
    std::vector<std::int32_t> children_by_parent(std::int32_t pid) const;

    std::string root_;
};

/// How long a process has been running, from its start time and the machine's clock; exact to one
/// clock tick (usually 10 ms). 0 where the clock disagrees.
double seconds_since_start(const ProcessId& id);

/// Whether the kernel lets this process read that one's memory: asked by opening it, which changes
/// nothing. It says less of a helper: Yama trusts ancestors more than siblings.
bool may_read_memory(std::int32_t pid);
/// Sends a signal to that very process; nothing happens where it is gone.
void send_signal(const ProcessId& id, int signal);
/// Whether this user may execute the file (a regular one).
bool is_executable_file(const std::string& path);

}  // namespace mapdiag::linux_os
