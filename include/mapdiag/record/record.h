#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mapdiag/record/profile.h"
#include "mapdiag/record/reading.h"

namespace mapdiag::record {

/// Where the job was put so that it can be measured, best first.
enum class Placement : std::uint8_t {
    own_cgroup_v2,
    own_cgroup_v1,
    systemd_scope,
    shared_cgroup,
    process_tree,
    none,
};

/// The name that every figure of that placement carries: "own cgroup (v2)", "process tree", ...
const char* placement_name(Placement placement);
/// The way back from the name that stands in a journal.
std::optional<Placement> find_placement(std::string_view name);

/// A better placement that could not be had, and why, for a person: "can't make the cgroup /a/b:
/// Permission denied".
struct StepDown {
    Placement placement;
    std::string reason;
};

/// The job never ran: `status` is what mapdiag leaves with (125, 126, 127).
struct NotStarted {
    int status;
    std::string reason;
};
struct Exited {
    int code;  ///< 0..255
};
struct Killed {
    int signal;
    bool core_dumped;
};
/// mapdiag itself ended before the job did; the watcher ended the job.
struct WrapperKilled {};
/// How the run ended. `std::monostate` is "not yet".
using Ending = std::variant<std::monostate, NotStarted, Exited, Killed, WrapperKilled>;

/// Memory of the job's group at one moment, in bytes. A part that the kernel does not tell is
/// empty. `file` is page cache without shmem (tmpfs, shared memory); the kernel can give most of it
/// back.
struct MemorySplit {
    std::optional<std::uint64_t> anon;
    std::optional<std::uint64_t> file;
    std::optional<std::uint64_t> shmem;
    std::optional<std::uint64_t> kernel;
    std::optional<std::uint64_t> swap;
    std::optional<std::uint64_t> dirty;
};

/// Event counters of one memory cgroup, as differences over the run; empty where the kernel has no
/// such counter. On v1 `max` is memory.failcnt and `oom_kill` comes from memory.oom_control.
struct MemoryEvents {
    std::optional<std::uint64_t> low;
    std::optional<std::uint64_t> high;
    std::optional<std::uint64_t> max;
    std::optional<std::uint64_t> oom;
    std::optional<std::uint64_t> oom_kill;
    std::optional<std::uint64_t> oom_group_kill;
    /// v1 only: memory.memsw.failcnt. Where the limits of memory and of memory with swap are equal,
    /// the kernel counts here and memory.failcnt stays 0.
    std::optional<std::uint64_t> swap_max = {};
};

/// A memory limit and the cgroup that sets it.
struct Limit {
    std::uint64_t bytes = 0;
    std::string owner;     ///< path of the cgroup that set it, as seen from here
    bool carried = false;  ///< set on the job's own group by mapdiag, with the owner's value
};

/// One cgroup above the job's: its limit, others' use at the end, and what happened in it during
/// the run (local counters: events in its sub-groups are not in them).
struct AncestorGroup {
    std::string path;
    std::optional<std::uint64_t> limit;
    std::optional<std::uint64_t> usage_at_end;
    MemoryEvents local;
};

/// One point of the time line. Bytes, seconds since the job's start.
struct Sample {
    double at_s = 0;
    std::optional<std::uint64_t> memory;  ///< the group's charge, or the sum over the processes
    MemorySplit split;
    std::optional<double> cpu_s;            ///< user and system so far
    std::optional<double> throttled_s;      ///< waiting for the cpu quota so far
    std::optional<double> pressure_some_s;  ///< memory pressure ("some") so far
    std::optional<std::uint32_t> processes;
    bool under_oom = false;  ///< v1: stopped at its limit, waiting for memory
    /// Memory kills so far in the job's group and below it.
    std::optional<std::uint64_t> memory_kills = {};
};

/// The highest sample: the split nearest to the peak that was seen.
struct PeakSample {
    std::uint64_t memory = 0;
    double at_s = 0;
    MemorySplit split;
};

/// A process that the job left running. Never killed; moved out of the job's cgroup.
struct Leftover {
    std::int32_t pid = 0;
    std::string program;
    bool holds_output = false;  ///< keeps the job's stdout or stderr open
    bool stopped = false;       ///< in state T (stopped or frozen)
};

/// A signal that reached mapdiag during the run.
struct SignalSeen {
    double at_s = 0;
    int signal = 0;
    std::int32_t sender = 0;  ///< pid, 0 where the kernel sent it (a terminal)
    bool passed_on = false;   ///< sent on to the job; false: the job had it already (whole group)
    /// The sender's program ("timeout", "make"); empty where it was gone already.
    std::string sender_program = {};
};

/// What became of one side of the job's output.
struct OutputSide {
    std::uint64_t bytes = 0;       ///< read from the job
    std::uint64_t lost_bytes = 0;  ///< could not be passed on
    std::string failure;           ///< why, empty where all went well
};

/// What the job's last line on stderr says of the resource that ran out. Only this kind is kept in
/// the journal, never the line.
enum class StderrHint : std::uint8_t {
    none,
    disk_full,       ///< ENOSPC
    disk_quota,      ///< EDQUOT
    open_files,      ///< EMFILE, ENFILE
    processes,       ///< EAGAIN of fork or clone
    file_too_large,  ///< EFBIG
    memory_refused,  ///< ENOMEM, MemoryError, a database's own out of memory error
};

const char* stderr_hint_name(StderrHint hint);
std::optional<StderrHint> find_stderr_hint(std::string_view name);
/// Looks for the kernel's words and Python's "[Errno N]" in one line.
StderrHint stderr_hint_of(std::string_view line);

/// What became of E.log.
struct LogOutcome {
    std::string path;  ///< empty with --no-log
    std::uint64_t lost_bytes = 0;
    std::string failure;           ///< why the log is cut or missing, empty where it is whole
    std::string last_stderr_line;  ///< kept in memory only: never put into the journal
    /// stderr_hint_of(last_stderr_line), where that line is not there any more.
    StderrHint hint = StderrHint::none;
};

/// The job's output file, where its command line names one (-o, --output) or the user did.
struct OutputFileState {
    std::string path;
    bool exists = false;
    std::uint64_t bytes = 0;
    bool older_than_start = false;
    bool leftover_temporary = false;  ///< a file of the same name with .tmp behind it
};

/// What the user asked mapdiag to hold the job to; empty where nothing was asked.
struct HeldTo {
    /// Bytes, on the job's own group. Where the limit of a group above is lower, that one is in
    /// force and this one is not set.
    std::optional<std::uint64_t> memory;
    std::optional<double> time_s;
    std::optional<double> kill_after_s;
    std::optional<double> cores;
    /// At the time limit SIGTERM was not enough: everything in the job's group got SIGKILL.
    bool killed = false;
};

/// Stacks of the job's Pythons that were written down while it lived.
struct StackDump {
    double at_s = 0;
    std::string why;   ///< "time limit", "last gasp"
    std::string path;  ///< of the file; empty where none could be written
    std::uint64_t processes = 0;
    std::string failure;  ///< why there are none, or not all
};

/// All readings of one run.
struct RunRecord {
    std::string entity;   ///< printable
    std::string program;  ///< name of the job's program, without its folder
    std::size_t argument_count = 0;
    std::string started_at;  ///< ISO 8601, UTC, with milliseconds
    double wall_s = 0;

    Placement placement = Placement::none;
    std::vector<StepDown> steps_down;
    std::string cgroup;  ///< path of the job's own group, empty where it had none
    /// Sampled placements: the mean time between two readings of the memory figure.
    std::optional<double> sampling_interval_s;

    Ending ending;
    bool python_seen = false;
    bool timed_out = false;
    HeldTo held_to;

    Reading<std::uint64_t> peak;
    Reading<PeakSample> peak_sample;
    Reading<Limit> limit;
    Reading<Limit> swap_limit;
    Reading<std::uint64_t> swap_peak;
    Reading<MemoryEvents> events;      ///< of the job's own group and those it made below it
    Reading<MemoryEvents> own_events;  ///< of the job's own group alone
    Reading<std::uint64_t> machine_oom_kills;  ///< /proc/vmstat oom_kill, difference over the run
    std::vector<AncestorGroup> ancestors;      ///< the nearest first
    /// `ancestors` goes up to the root of the hierarchy (no namespace or mount hides a group).
    /// Empty: not known.
    std::optional<bool> sees_root;
    Reading<std::uint64_t> machine_memory;  ///< MemTotal
    bool killer_disabled = false;           ///< v1: memory.oom_control oom_kill_disable at the end
    bool stuck_at_limit = false;            ///< under_oom in the last samples, killer off

    Reading<double> user_s;
    Reading<double> system_s;
    Reading<double> throttled_s;
    Reading<std::uint64_t> largest_process;
    Reading<double> cores;              ///< that the job may use: CPU quota or affinity mask
    Reading<double> memory_pressure_s;  ///< some process waited for memory (PSI "some")
    Reading<double> io_pressure_s;      ///< some process waited for the disk (PSI "some")
    Reading<std::uint64_t> major_faults;
    Reading<std::uint64_t> process_limit_hits;  ///< pids.events max, difference over the run
    Reading<std::uint64_t> cpu_time_limit_s;    ///< RLIMIT_CPU (soft), where one is set
    Reading<std::uint64_t> file_size_limit;     ///< RLIMIT_FSIZE (soft), where one is set

    ProfileRecord profile;
    std::vector<StackDump> stack_dumps;
    std::vector<Leftover> leftovers;
    std::vector<SignalSeen> signals;
    OutputSide out;
    OutputSide err;
    LogOutcome log;
    std::optional<OutputFileState> output_file;
    /// Failures of mapdiag's own work that cost a line, not the job: "can't write the journal ...".
    std::vector<std::string> troubles;
};

}  // namespace mapdiag::record
