#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mapdiag::record {

/// What is to be profiled, and how: as asked for.
struct ProfilerSettings {
    unsigned rate = 100;        ///< samples a second
    bool idle = true;           ///< wall clock: waiting threads count too; else busy ones only
    bool subprocesses = false;  ///< also what a profiled Python starts
    bool native = false;        ///< frames of extension modules too
    bool nonblocking = false;   ///< never stops the job; some samples are wrong or fail
};

/// How py-spy was found, or where it was looked for, in this order.
enum class ProfilerSource : std::uint8_t {
    option,       ///< --py-spy
    variable,     ///< $MAPDIAG_PYSPY
    search_path,  ///< $PATH
    interpreter,  ///< beside the job's own Python
    uv,           ///< uv run --with py-spy
    uvx,          ///< uvx --from py-spy
};

/// One place where py-spy was looked for in vain.
struct LookedAt {
    ProfilerSource source = ProfilerSource::search_path;
    std::string place;   ///< a path, a folder, the value of PATH; empty: the source itself
    std::string reason;  ///< for a person, where there is more to say than "not there"
};

/// The py-spy that was used.
struct FoundProfiler {
    ProfilerSource source = ProfilerSource::search_path;
    std::string path;
    std::string version;  ///< "0.4.3"; empty where it is not known
};

/// What became of the profiling of one process.
enum class ProfileOutcome : std::uint8_t {
    attached,            ///< under way (in an unfinished record)
    sampled,             ///< its samples are there
    no_samples,          ///< py-spy worked, but its file holds no stack
    denied,              ///< py-spy may not trace the job: see Denial
    unsupported_python,  ///< this py-spy does not know this version of Python
    no_interpreter,      ///< py-spy saw no Python in the process, however often it tried
    too_short,           ///< the process ended before py-spy was ready
    cannot_start,        ///< py-spy itself can't be executed
    died,                ///< py-spy was killed by a signal that mapdiag did not send
    hung,                ///< py-spy did not end when told to and was killed; its samples are lost
    failed,              ///< py-spy gave up for a reason of its own: see `message`
    over_limit,          ///< not profiled: too many at once, or too many in all
};

/// Why the kernel refuses to let py-spy look into the job, as far as can be seen from outside.
enum class DenialCause : std::uint8_t {
    none,
    yama,        ///< kernel.yama.ptrace_scope
    capability,  ///< no CAP_SYS_PTRACE (a container's default)
    other_user,  ///< the job runs as another user
    seccomp,     ///< a system call filter
    unknown,
};

/// The facts beside a refusal.
struct Denial {
    DenialCause cause = DenialCause::none;
    int yama_scope = -1;  ///< 0 to 3; -1: this kernel has no Yama
};

/// One process of the job that was profiled, or was to be.
struct ProfiledProcess {
    std::int32_t pid = 0;
    std::string program;         ///< printable name of the program: "linkml-map", "python -c"
    std::string python_version;  ///< "3.11"; empty where it is not known
    ProfileOutcome outcome = ProfileOutcome::attached;
    Denial denial;
    /// From when the process became this Python to the start of the py-spy that saw it: at most, to
    /// one poll.
    double attached_after_s = 0;
    double profiled_s = 0;  ///< how long py-spy was attached
    std::uint32_t attempts = 0;
    std::uint64_t samplings = 0;  ///< how often py-spy looked
    std::uint64_t errors = 0;     ///< how often it failed to read a stack
    std::uint64_t samples = 0;    ///< stacks that it counted: one a thread and look
    double behind_s = 0;          ///< the most that it said it was behind
    bool told_samplings = false;  ///< py-spy said `samplings` and `errors`
    bool stopped_job = false;     ///< py-spy left it stopped; mapdiag continued it
    bool helper = false;          ///< a short Python of uv itself, left out of the profile
    int signal = 0;               ///< that killed py-spy (`died`)
    std::string message;          ///< py-spy's own last words, one printable line
};

/// How the profile of the run came out.
enum class ProfileState : std::uint8_t {
    off,          ///< not asked for
    written,      ///< `path` holds it
    not_found,    ///< no py-spy: see looked_at
    no_python,    ///< the job never had a Python process
    empty,        ///< Pythons were seen, but no sample came of it: see processes
    not_written,  ///< there were samples, but the file could not be written: see trouble
};

/// Everything that was observed of profiling.
struct ProfileRecord {
    ProfileState state = ProfileState::off;
    ProfilerSettings settings;
    std::optional<FoundProfiler> found;
    std::vector<LookedAt> looked_at;
    std::vector<ProfiledProcess> processes;
    /// A Python was seen in the job, whether it could be profiled or not.
    bool python_seen = false;

    std::string path;                ///< of the .folded file; empty where there is none
    std::uint64_t samples = 0;       ///< in that file
    std::uint64_t stacks = 0;        ///< distinct ones: its lines
    std::uint64_t mended_lines = 0;  ///< lines that line ends in a command line had torn
    std::uint64_t lost_lines = 0;    ///< lines of py-spy that could not be read
    /// Pythons that a profiled Python started or forked; left out without `subprocesses`.
    std::uint32_t left_out_children = 0;
    std::uint32_t over_limit = 0;  ///< Pythons that were not profiled: too many
    std::uint32_t limit_at_once = 0;
    std::string trouble;  ///< why the file is not there (not_written)
};

/// The names that stand in the journal, and the way back.
const char* profile_state_name(ProfileState state);
const char* profile_outcome_name(ProfileOutcome outcome);
const char* denial_cause_name(DenialCause cause);
const char* profiler_source_name(ProfilerSource source);
std::optional<ProfileState> find_profile_state(std::string_view name);
std::optional<ProfileOutcome> find_profile_outcome(std::string_view name);
std::optional<DenialCause> find_denial_cause(std::string_view name);
std::optional<ProfilerSource> find_profiler_source(std::string_view name);

}  // namespace mapdiag::record
