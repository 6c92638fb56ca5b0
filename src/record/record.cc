#include "mapdiag/record/record.h"

#include "names.h"

namespace mapdiag::record {
namespace {

constexpr NameTable<Placement, 6> kPlacements = {{
    {Placement::own_cgroup_v2, "own cgroup (v2)"},
    {Placement::own_cgroup_v1, "own cgroup (v1)"},
    {Placement::systemd_scope, "own cgroup (systemd scope)"},
    {Placement::shared_cgroup, "shared cgroup"},
    {Placement::process_tree, "process tree"},
    {Placement::none, "none"},
}};

constexpr NameTable<StderrHint, 7> kHints = {{
    {StderrHint::none, "none"},
    {StderrHint::disk_full, "disk_full"},
    {StderrHint::disk_quota, "disk_quota"},
    {StderrHint::open_files, "open_files"},
    {StderrHint::processes, "processes"},
    {StderrHint::file_too_large, "file_too_large"},
    {StderrHint::memory_refused, "memory_refused"},
}};

struct Words {
    std::string_view text;
    StderrHint hint;
};

// What Python, the C library and the shells print for an errno, and what programs say that give up
// before the kernel has to: CPython's MemoryError, DuckDB's "Out of Memory Error".
constexpr std::array<Words, 20> kWords = {{
    {"[Errno 28]", StderrHint::disk_full},
    {"No space left on device", StderrHint::disk_full},
    {"[Errno 122]", StderrHint::disk_quota},
    {"Disk quota exceeded", StderrHint::disk_quota},
    {"[Errno 24]", StderrHint::open_files},
    {"[Errno 23]", StderrHint::open_files},
    {"Too many open files", StderrHint::open_files},
    {"[Errno 11] Resource temporarily unavailable", StderrHint::processes},
    {"fork: Resource temporarily unavailable", StderrHint::processes},
    {"fork: retry", StderrHint::processes},
    {"Cannot fork", StderrHint::processes},
    {"can't start new thread", StderrHint::processes},
    {"[Errno 27]", StderrHint::file_too_large},
    {"File too large", StderrHint::file_too_large},
    {"[Errno 12]", StderrHint::memory_refused},
    {"Cannot allocate memory", StderrHint::memory_refused},
    {"MemoryError", StderrHint::memory_refused},
    {"OutOfMemoryException", StderrHint::memory_refused},
    {"Out of Memory Error", StderrHint::memory_refused},
    {"std::bad_alloc", StderrHint::memory_refused},
}};

}  // namespace

const char* placement_name(Placement placement) {
    return name_in(kPlacements, placement);
}

std::optional<Placement> find_placement(std::string_view name) {
    return find_in(kPlacements, name);
}

const char* stderr_hint_name(StderrHint hint) {
    return name_in(kHints, hint);
}

std::optional<StderrHint> find_stderr_hint(std::string_view name) {
    return find_in(kHints, name);
}

StderrHint stderr_hint_of(std::string_view line) {
    for (const auto& words : kWords) {
        if (line.find(words.text) != std::string_view::npos) {
            return words.hint;
        }
    }
    return StderrHint::none;
}

}  // namespace mapdiag::record
