#include "process_watch.h"

#include "python_programs.h"

namespace mapdiag::run {
namespace {

// Every so many looks a known process is asked for more than the name of its executable.
constexpr std::uint64_t kThoroughEvery = 16;
constexpr std::size_t kDeepest = 64;
// A program may be without arguments for good, by its own will.
constexpr int kMostUnready = 3;

// The executable of another user's process can't be read, while the name that it was called by can:
// proc(5): exe needs PTRACE_MODE_READ_FSCREDS, cmdline nothing. Without it such a Python would pass
// for none.
std::string executable_of(const linux_os::ProcFs& proc, std::int32_t pid) {
    if (auto executable = proc.executable(pid)) {
        return std::move(*executable);
    }
    const auto arguments = proc.arguments(pid);
    return !arguments.empty() && is_python(arguments.front()) ? arguments.front() : std::string();
}

}  // namespace

// Brings what is known up to date; says whether another program runs there than before.
bool ProcessWatch::refresh(std::int32_t pid, Known& known, bool thorough) const {
    auto executable = executable_of(proc_, pid);
    const bool changed = executable != known.executable;
    if (!changed && !thorough) {
        return false;
    }
    // In the middle of an exec the new program has no arguments yet, and its stack is not where it
    // will be (load_elf_binary(), fs/binfmt_elf.c): the next look sees it whole.
    if (changed && is_python(executable) && known.unready < kMostUnready &&
        proc_.arguments(pid).empty()) {
        ++known.unready;
        return false;
    }
    known.unready = 0;
    const auto stat = proc_.stat(pid);
    if (!stat || executable.empty()) {
        // Ended, or not readable: nothing new can be said.
        return false;
    }
    const bool other_stack =
        stat->stack_start != known.stack_start && stat->stack_start != 0 && known.stack_start != 0;
    const bool other = changed || stat->id != known.id || other_stack;
    known.id = stat->id;
    known.stack_start = stat->stack_start;
    known.parent = stat->parent;
    known.executable = std::move(executable);
    return other;
}

PythonSeen ProcessWatch::seen(const Known& known) const {
    PythonSeen python = {.id = known.id,
                         .stack_start = known.stack_start,
                         .executable = known.executable,
                         .ancestors = {},
                         .parent_is_uv = false};
    for (auto pid = known.parent; python.ancestors.size() < kDeepest;) {
        const auto parent = known_.find(pid);
        if (parent == known_.end()) {
            break;
        }
        python.parent_is_uv =
            python.parent_is_uv || (python.ancestors.empty() && is_uv(parent->second.executable));
        python.ancestors.push_back(pid);
        pid = parent->second.parent;
    }
    return python;
}

std::vector<PythonSeen> ProcessWatch::look(std::span<const std::int32_t> pids,
                                           const std::function<bool(std::int32_t)>& skip) {
    ++round_;
    std::vector<std::int32_t> turned;
    for (const auto pid : pids) {
        if (skip(pid)) {
            continue;
        }
        auto [at, is_new] = known_.try_emplace(pid);
        auto& known = at->second;
        // A pid that was not in the last list may have been used again since.
        const bool thorough = is_new || known.round + 1 != round_ || round_ % kThoroughEvery == 0;
        known.round = round_;
        if (refresh(pid, known, thorough) && is_python(known.executable)) {
            turned.push_back(pid);
        }
    }
    std::vector<PythonSeen> found;
    for (const auto pid : turned) {
        found.push_back(seen(known_.at(pid)));
    }
    std::erase_if(known_, [&](const auto& entry) { return entry.second.round != round_; });
    return found;
}

}  // namespace mapdiag::run
