#include "mapdiag/run/profiler.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <vector>

#include "mapdiag/support/mapped_file.h"
#include "mapdiag/support/output_file.h"
#include "mapdiag/support/text.h"

#include "folded_merge.h"
#include "process_watch.h"
#include "py_spy_finder.h"
#include "py_spy_words.h"
#include "python_programs.h"
#include "raw_files.h"
#include "stack_dump.h"
#include "target.h"

namespace mapdiag::run {
namespace {

using record::ProfileOutcome;
using record::ProfileState;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// What mapdiag may spend: 1 % of a core while a Python may turn up at any moment, a fraction of
// that while one is profiled, and 30 ms beside: a launcher's first seconds, with many short
// processes, is when the polls have to be frequent.
constexpr int kCostFactorWaiting = 100;
constexpr int kCostFactorAttached = 400;
constexpr auto kCredit = milliseconds(30);
constexpr auto kBeforeFirst = milliseconds(8);
constexpr auto kAfterFirst = milliseconds(10);
constexpr auto kLater = milliseconds(20);
constexpr auto kSlowest = milliseconds(250);
constexpr auto kLaterIs = std::chrono::seconds(10);
// Asking py-spy for its version must not compete with the attaching.
constexpr auto kVersionAfter = milliseconds(250);

bool contains(const std::vector<std::int32_t>& list, std::int32_t pid) {
    return std::ranges::find(list, pid) != list.end();
}

}  // namespace

class Profiler::Work {
  public:
    Work(ProfilerOptions options, ProfilerSystem& system)
        : options_(std::move(options)),
          system_(system),
          raw_files_(options_.folded_path, system),
          finder_(options_, system),
          watch_(system.proc()),
          tools_{.options = options_, .system = system, .finder = finder_, .new_raw_path = [this] {
                     return raw_files_.next();
                 }} {
        record_.settings = options_.settings;
        record_.limit_at_once = static_cast<std::uint32_t>(options_.at_most_at_once);
        std::error_code ignored;
        std::filesystem::remove(options_.folded_path, ignored);
    }

    void poll(Clock::time_point now, std::span<const std::int32_t> job_processes) {
        const auto begin = cpu_at_last_end_.value_or(system_.cpu_time());
        first_poll_ = first_poll_ == Clock::time_point() ? now : first_poll_;
        finder_.poll(now);
        for (auto& python : watch_.look(job_processes, [this](auto pid) { return owns(pid); })) {
            notice(std::move(python), now);
        }
        for (auto& target : targets_) {
            target->poll(now, tools_);
        }
        const bool started = start_waiting(now);
        const bool asked = ask_version(now);
        const bool dumping = go_on_dumping(now);
        // What the thread did since the last poll: waking up and listing the processes cost as much
        // as looking at them. Starting a process is paid once, not at every poll.
        cpu_at_last_end_ = system_.cpu_time();
        if (!started && !asked && !dumping) {
            const auto cost = *cpu_at_last_end_ - begin;
            spent_ += cost;
            cost_ += (cost - cost_) / 8;
        }
    }

    nanoseconds poll_interval() const {
        const auto base = targets_.empty() || dump_           ? kBeforeFirst
                          : last_poll_ - last_new_ > kLaterIs ? kLater
                                                              : kAfterFirst;
        const bool attached =
            std::ranges::any_of(targets_, [](const auto& target) { return target->attached(); });
        const auto factor = attached ? kCostFactorAttached : kCostFactorWaiting;
        const auto allowed = (last_poll_ - first_poll_) / factor + kCredit;
        if (spent_ < allowed || dump_) {
            return base;
        }
        return std::clamp<nanoseconds>(cost_ * factor, base, kSlowest);
    }

    bool owns(std::int32_t pid) const {
        return finder_.owns(pid) || (version_ && version_->pid() == pid) ||
               (dump_ && dump_->owns(pid)) ||
               std::ranges::any_of(targets_, [&](const auto& t) { return t->owns(pid); });
    }

    record::ProfileRecord finish(Clock::time_point deadline);

    Result<void> dump_stacks(const std::string& path, Clock::time_point now);
    bool dumping() const { return dump_.has_value(); }
    std::optional<DumpOutcome> take_dump() { return std::exchange(dumped_, std::nullopt); }

  private:
    bool go_on_dumping(Clock::time_point now);
    void notice(PythonSeen python, Clock::time_point now);
    bool start_waiting(Clock::time_point now);
    bool ask_version(Clock::time_point now);
    bool below_profiled(const PythonSeen& python) const;
    void end_all(Clock::time_point deadline);
    void mark_uv_helpers();
    std::string root_frames(const Target& target) const;
    void merge_into(FoldedMerge& merge, Target& target);
    void write(const FoldedMerge& merge);

    ProfilerOptions options_;
    ProfilerSystem& system_;
    RawFiles raw_files_;
    PySpyFinder finder_;
    ProcessWatch watch_;
    TargetTools tools_;
    std::vector<std::unique_ptr<Target>> targets_;
    std::optional<StackDump> dump_;
    std::optional<DumpOutcome> dumped_;
    std::unique_ptr<Helper> version_;
    bool version_asked_ = false;
    std::string version_found_;
    std::set<linux_os::ProcessId> left_out_;
    record::ProfileRecord record_;
    std::optional<record::FoundProfiler> used_;
    Clock::time_point first_start_;
    Clock::time_point last_new_;
    Clock::time_point last_poll_;
    Clock::time_point first_poll_;
    nanoseconds spent_{0};
    nanoseconds cost_{0};
    std::optional<nanoseconds> cpu_at_last_end_;
};

bool Profiler::Work::below_profiled(const PythonSeen& python) const {
    return std::ranges::any_of(
        targets_, [&](const auto& target) { return contains(python.ancestors, target->pid()); });
}

void Profiler::Work::notice(PythonSeen python, Clock::time_point now) {
    const auto arguments = system_.proc().arguments(python.id.pid);
    if (python.parent_is_uv && is_uv_probe(arguments)) {
        return;
    }
    record_.python_seen = true;
    for (auto& target : targets_) {
        // An exec in the same process: another program, a py-spy of its own.
        if (target->pid() == python.id.pid) {
            target->retire(now, tools_);
        }
    }
    if (!options_.settings.subprocesses && below_profiled(python)) {
        // A fork that then becomes another Python is one process all the same.
        record_.left_out_children += left_out_.insert(python.id).second ? 1 : 0;
        return;
    }
    if (targets_.size() >= options_.at_most_in_all) {
        ++record_.over_limit;
        return;
    }
    finder_.offer_interpreter(python.id.pid, python.executable);
    record::ProfiledProcess facts;
    facts.pid = python.id.pid;
    facts.program = shown_program(arguments, python.executable);
    facts.python_version = python_version_in(python.executable);
    facts.outcome = ProfileOutcome::too_short;
    targets_.push_back(std::make_unique<Target>(
        std::move(python), std::move(facts), last_poll_ == Clock::time_point() ? now : last_poll_));
    last_new_ = now;
}

bool Profiler::Work::start_waiting(Clock::time_point now) {
    last_poll_ = now;
    if (!finder_.found()) {
        return false;
    }
    auto attached = std::ranges::count_if(targets_, [](const auto& t) { return t->attached(); });
    bool started = false;
    for (auto& target : targets_) {
        if (!target->waits_for_start(now)) {
            continue;
        }
        // Two tracers of one process are not possible.
        const bool held = std::ranges::any_of(targets_, [&](const auto& other) {
            return other->pid() == target->pid() && other->attached();
        });
        if (held || !finder_.found()) {
            continue;
        }
        if (std::cmp_greater_equal(attached, options_.at_most_at_once)) {
            if (target->result().attempts == 0) {
                target->result().outcome = ProfileOutcome::over_limit;
            }
            continue;
        }
        used_ = finder_.found();
        if (target->start(now, tools_)) {
            first_start_ = first_start_ == Clock::time_point() ? now : first_start_;
            ++attached;
            started = true;
        }
    }
    return started;
}

// Says whether a process was started.
bool Profiler::Work::ask_version(Clock::time_point now) {
    if (version_) {
        version_->poll();
        if (version_->end()) {
            version_found_ = find_py_spy_version(version_->output()).value_or(std::string());
            version_.reset();
        }
    }
    const bool time = first_start_ != Clock::time_point() && now - first_start_ > kVersionAfter;
    if (!time || version_asked_ || !used_) {
        return false;
    }
    version_asked_ = true;
    auto asked = system_.start({.command = {used_->path, "--version"}, .environment = {}});
    if (asked) {
        version_ = std::move(*asked);
    }
    return true;
}

Result<void> Profiler::Work::dump_stacks(const std::string& path, Clock::time_point now) {
    const auto nothing = [&](const char* why) {
        return std::unexpected(Error::because("write the stacks to", path, why));
    };
    if (!finder_.found()) {
        return nothing("no py-spy was found");
    }
    std::vector<DumpTarget> pythons;
    for (const auto& target : targets_) {
        const auto pid = target->pid();
        const bool twice =
            std::ranges::any_of(pythons, [&](const auto& p) { return p.pid == pid; });
        if (!twice && system_.proc().alive(target->python().id)) {
            pythons.push_back({pid, target->result().program});
        }
    }
    if (pythons.empty()) {
        return nothing("the job has no Python process");
    }
    dump_.emplace(finder_.found()->path, std::move(pythons), path, now);
    go_on_dumping(now);
    return {};
}

// Says whether there is anything to do.
bool Profiler::Work::go_on_dumping(Clock::time_point now) {
    if (!dump_) {
        return false;
    }
    if (auto outcome = dump_->poll(now, system_)) {
        dumped_ = std::move(outcome);
        dump_.reset();
    }
    return true;
}

void Profiler::Work::end_all(Clock::time_point deadline) {
    for (auto& target : targets_) {
        target->poll(system_.now(), tools_);
        target->retire(system_.now(), tools_);
    }
    const auto attached = [&] {
        return std::ranges::any_of(targets_, [](const auto& t) { return t->attached(); });
    };
    // A killed process is gone within moments, unless the kernel itself holds it.
    const auto last = deadline + std::chrono::seconds(1);
    for (auto now = system_.now(); attached() && now < last; now = system_.now()) {
        for (auto& target : targets_) {
            if (now >= deadline) {
                target->kill_py_spy();
            }
            target->poll(now, tools_);
        }
        if (attached()) {
            system_.pause(milliseconds(1));
        }
    }
    ask_version(system_.now());
    finder_.give_up();
}

// uv runs short Pythons before the command: to build packages from source. The command is the last
// child that it starts.
void Profiler::Work::mark_uv_helpers() {
    for (std::size_t i = 0; i < targets_.size(); ++i) {
        const auto& python = targets_[i]->python();
        const bool uv_child = python.parent_is_uv;
        const bool another_later =
            uv_child &&
            std::any_of(targets_.begin() + static_cast<std::ptrdiff_t>(i) + 1, targets_.end(),
                        [&](const auto& later) {
                            return later->python().parent_is_uv && later->pid() != python.id.pid &&
                                   later->python().ancestors.front() == python.ancestors.front();
                        });
        const bool of_a_helper = std::any_of(
            targets_.begin(), targets_.begin() + static_cast<std::ptrdiff_t>(i),
            [&](const auto& earlier) {
                return earlier->result().helper && contains(python.ancestors, earlier->pid());
            });
        targets_[i]->result().helper = another_later || of_a_helper;
    }
}

std::string Profiler::Work::root_frames(const Target& target) const {
    if (!options_.settings.subprocesses) {
        return {};
    }
    const auto frame = [](Target& of) {
        return "process " + std::to_string(of.pid()) + " (" + of.result().program + ");";
    };
    std::string frames;
    for (const auto pid : target.python().ancestors) {
        const auto above =
            std::ranges::find_if(targets_, [&](const auto& t) { return t->pid() == pid; });
        if (above != targets_.end()) {
            frames = frame(**above) + frames;
        }
    }
    return frames + frame(const_cast<Target&>(target));
}

void Profiler::Work::merge_into(FoldedMerge& merge, Target& target) {
    FoldedMerge left_out;
    auto& into = target.result().helper ? left_out : merge;
    const auto root = root_frames(target);
    std::uint64_t with_frames = 0;
    for (const auto& path : target.raw_paths()) {
        const auto file = MappedFile::open(path);
        if (!file) {
            continue;
        }
        const auto counts = into.add(file->bytes(), root);
        target.result().samples += counts.samples;
        with_frames += counts.samples - counts.without_frame;
        record_.mended_lines += counts.mended_lines;
        record_.lost_lines += counts.lost_lines;
    }
    if (with_frames > 0) {
        target.result().outcome = ProfileOutcome::sampled;
    } else if (target.result().outcome == ProfileOutcome::sampled) {
        target.result().outcome = ProfileOutcome::no_samples;
    }
}

void Profiler::Work::write(const FoldedMerge& merge) {
    const auto written = merge.write(options_.folded_path);
    if (!written) {
        record_.state = ProfileState::not_written;
        record_.trouble = written.error().text();
        return;
    }
    record_.state = ProfileState::written;
    record_.path = options_.folded_path;
    record_.samples = merge.samples();
    record_.stacks = merge.stacks();
}

record::ProfileRecord Profiler::Work::finish(Clock::time_point deadline) {
    dump_.reset();
    end_all(deadline);
    mark_uv_helpers();
    FoldedMerge merge;
    for (auto& target : targets_) {
        merge_into(merge, *target);
    }
    raw_files_.remove_all();
    record_.looked_at = finder_.looked_at();
    record_.found = used_ ? used_ : finder_.found();
    if (record_.found) {
        record_.found->version = version_found_;
    }
    if (merge.samples_with_frames() > 0) {
        write(merge);
    } else if (!record_.found) {
        record_.state = ProfileState::not_found;
    } else {
        record_.state = record_.python_seen ? ProfileState::empty : ProfileState::no_python;
    }
    for (auto& target : targets_) {
        if (target->trouble() && record_.trouble.empty()) {
            record_.trouble = target->trouble()->text();
            record_.state = ProfileState::not_written;
        }
        record_.over_limit += target->result().outcome == ProfileOutcome::over_limit ? 1 : 0;
        record_.processes.push_back(target->result());
    }
    return std::move(record_);
}

Profiler::Profiler(ProfilerOptions options, ProfilerSystem& system)
    : work_(std::make_unique<Work>(std::move(options), system)) {}

Profiler::~Profiler() = default;

void Profiler::poll(Clock::time_point now, std::span<const std::int32_t> job_processes) {
    work_->poll(now, job_processes);
}

nanoseconds Profiler::poll_interval() const {
    return work_->poll_interval();
}

bool Profiler::owns(std::int32_t pid) const {
    return work_->owns(pid);
}

Result<void> Profiler::dump_stacks(const std::string& path, Clock::time_point now) {
    return work_->dump_stacks(path, now);
}

bool Profiler::dumping() const {
    return work_->dumping();
}

std::optional<DumpOutcome> Profiler::take_dump() {
    return work_->take_dump();
}

record::ProfileRecord Profiler::finish(Clock::time_point deadline) {
    return work_->finish(deadline);
}

}  // namespace mapdiag::run
