#include "mapdiag/run/job_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <utility>

#include "leftovers.h"
#include "limits/job_limits.h"
#include "limits/last_gasp.h"
#include "limits/time_limit.h"
#include "mapdiag/linux/clocks.h"
#include "mapdiag/linux/containment.h"
#include "mapdiag/linux/exec.h"
#include "mapdiag/linux/job_process.h"
#include "mapdiag/linux/output_relay.h"
#include "mapdiag/linux/proc.h"
#include "mapdiag/linux/signals.h"
#include "mapdiag/linux/wait.h"
#include "mapdiag/linux/watcher.h"
#include "mapdiag/record/journal.h"
#include "mapdiag/support/fd.h"
#include "mapdiag/support/text.h"
#include "measurement.h"
#include "output_state.h"
#include "placement.h"
#include "process_tree.h"
#include "sampler.h"
#include "signal_router.h"

namespace mapdiag::run {
namespace {

using namespace std::chrono_literals;
using record::RunRecord;
using std::chrono::nanoseconds;

constexpr int kStdout = 1;
constexpr int kStderr = 2;

/// How long output may stay silent after the job's end before what holds the pipe is left alone.
constexpr auto kQuietAfterEnd = 250ms;
/// How long what the job left running may go on talking before mapdiag leaves it alone.
constexpr auto kTalkAfterEnd = 1s;
/// How long a tracer may hold the ended job back before mapdiag ends its own one.
constexpr auto kTracerPatience = 2s;
/// How long a profiler may take to write its file after the job's end.
constexpr auto kProfilerPatience = 10s;
/// How long what got SIGKILL may take to go.
constexpr auto kKillPatience = 10s;
/// Where nothing else is due.
constexpr auto kLongestNap = 500ms;

}  // namespace

// ---------------------------------------------------------------------------------------------

class JobRun::Impl {
  public:
    Impl(RunPlan plan, JobRunSetup setup) : plan_(std::move(plan)), setup_(std::move(setup)) {}

    RunOutcome execute();
    void write_lines(std::span<const std::string> lines);
    Result<void> close_journal(const RunRecord& record);

  private:
    bool on() const { return plan_.mode == Mode::on; }
    /// A limit is held in a place of the job's own, with or without a diagnosis.
    bool has_place() const { return on() || plan_.containment.any(); }
    double elapsed_s() const {
        return std::chrono::duration<double>(Clock::now() - start_).count();
    }
    void trouble(const Error& error) { record_.troubles.push_back(error.text()); }

    bool prepare();
    void start_witness();
    void open_log();
    void open_journal();
    void journal(const Result<void>& written);
    void make_profiler();
    void finish_profiler();
    void make_pipes();
    Result<void> add_pipe(int to, Fd& write_end);
    void do_without_pipes(const Error& reason);
    bool choose_place();
    bool find_a_place();
    bool make_job();
    Result<linux_os::JobProcess> make_job_at(Place& place);
    void start_watcher();
    void end_orphaned_job(std::int32_t job);
    bool start_job();
    void let_go_of_descriptors();
    void start_relay();
    void make_sampler();
    void journal_start();

    void supervise();
    void watch_time(Clock::time_point now);
    void watch_memory(Clock::time_point now);
    void dump_stacks(const char* why, const char* ending);
    void take_dump();
    void kill_job();
    void signal_process(std::int32_t pid, int signal) const;
    void end_rest_after_time_limit();
    nanoseconds until_next_duty() const;
    void reap_orphans();
    std::vector<std::int32_t> adopted() const;
    std::vector<std::int32_t> job_processes() const;
    bool is_helper(std::int32_t pid) const;
    void wait_for_reaping();

    void drain_output();
    void deal_with_leftovers();
    void finish_record();
    void remove_group();
    void not_started(int status, const std::string& reason);

    RunPlan plan_;
    JobRunSetup setup_;
    RunRecord record_;

    linux_os::ProcFs proc_;
    std::optional<linux_os::SignalGate> gate_;
    std::optional<linux_os::GroupWitness> witness_;
    std::optional<linux_os::Watcher> watcher_;
    std::optional<SignalRouter> router_;

    std::unique_ptr<linux_os::EntityLog> log_;
    std::optional<record::JournalWriter> journal_;
    bool journal_failed_ = false;
    bool started_ = false;
    std::vector<linux_os::RelaySide> sides_;
    std::vector<std::uint64_t> pipe_inodes_;
    linux_os::MissingDescriptors missing_;
    std::vector<int> inherited_;
    Fd job_out_;
    Fd job_err_;
    bool one_pipe_ = false;
    std::unique_ptr<linux_os::OutputRelay> relay_;
    std::vector<linux_os::RelaySide> open_sides_;

    std::string group_name_ = linux_os::make_group_name();
    Place place_;
    JobLimits limits_;
    std::optional<TimeLimit> time_limit_;
    std::optional<LastGasp> last_gasp_;
    std::optional<linux_os::JobProcess> job_;
    std::optional<ProcessTree> tree_;
    std::optional<Sampler> sampler_;
    std::vector<record::Sample> samples_;
    std::unique_ptr<ProfilerSystem> profiler_system_;
    std::optional<Profiler> profiler_;
    Clock::time_point next_profiler_poll_ = Clock::now();
    std::optional<std::uint64_t> machine_kills_;
    ReapedUse use_;
    Clock::time_point start_ = Clock::now();
    std::filesystem::file_time_type wall_start_;
    std::vector<std::int32_t> leftover_pids_;
    std::optional<int> end_signal_;
};

RunOutcome JobRun::Impl::execute() {
    record_.entity = plan_.entity.display;
    record_.program = printable(plan_.command.front().substr(plan_.command.front().rfind('/') + 1));
    record_.argument_count = plan_.command.size() - 1;
    record_.started_at = linux_os::utc_now();
    if (plan_.left_as_it_is) {
        record_.troubles.push_back(*plan_.left_as_it_is);
    }
    if (prepare() && make_job() && start_job()) {
        supervise();
        end_rest_after_time_limit();
        finish_profiler();
        drain_output();
        deal_with_leftovers();
        finish_record();
    }
    remove_group();
    watcher_.reset();
    witness_.reset();
    return {std::move(record_), std::move(samples_)};
}

// Before the job: the standard descriptors first, which anything that is opened might get, then
// signals, so that none is lost from here on.
bool JobRun::Impl::prepare() {
    missing_ = linux_os::reserve_standard_descriptors();
    inherited_ = linux_os::inherited_descriptors();
    auto gate = linux_os::SignalGate::close();
    if (!gate) {
        not_started(125, gate.error().text());
        return false;
    }
    gate_ = std::move(*gate);
    open_log();
    open_journal();
    make_pipes();
    start_watcher();
    if (auto adopts = linux_os::adopt_orphans(); !adopts) {
        trouble(adopts.error());
    }
    return true;
}

// After the placement, which may need mapdiag alone in its cgroup; before the job, so that a signal
// to the group that the job does not get is not taken for one that it got.
void JobRun::Impl::start_witness() {
    auto witness = linux_os::GroupWitness::start(plan_.command.size());
    if (witness) {
        witness_.emplace(std::move(*witness));
    } else {
        trouble(witness.error());
    }
    router_.emplace(*gate_, witness_ ? &*witness_ : nullptr, proc_);
}

void JobRun::Impl::open_log() {
    if (!plan_.write_log) {
        return;
    }
    record_.log.path = plan_.log_path();
    auto log = linux_os::EntityLog::create(plan_.log_path());
    if (log) {
        log_ = std::move(*log);
    } else {
        record_.log.failure = log.error().text();
    }
}

void JobRun::Impl::open_journal() {
    if (!on()) {
        return;
    }
    auto journal = make_folder(plan_.log_dir);
    auto made = journal
                    ? record::JournalWriter::create(plan_.journal_path(), record_, setup_.version)
                    : Result<record::JournalWriter>(std::unexpected(journal.error()));
    if (made) {
        journal_.emplace(std::move(*made));
    } else {
        trouble(made.error());
    }
}

// A journal that can't be written any more is said once; what is in it stays.
void JobRun::Impl::journal(const Result<void>& written) {
    if (!written && !std::exchange(journal_failed_, true)) {
        trouble(written.error());
    }
}

// The job writes into pipes of ours only where there is a log to write a copy to; else it has
// mapdiag's own descriptors.
void JobRun::Impl::make_pipes() {
    if (!log_) {
        return;
    }
    // 2>&1: one pipe keeps the order between the two. A descriptor that is closed stays closed for
    // the job.
    one_pipe_ = !missing_.out && !missing_.err && linux_os::same_open_file(kStdout, kStderr);
    Result<void> made;
    if (!missing_.out) {
        made = add_pipe(kStdout, job_out_);
    }
    if (made && !missing_.err && !one_pipe_) {
        made = add_pipe(kStderr, job_err_);
    }
    if (!made) {
        do_without_pipes(made.error());
    }
}

Result<void> JobRun::Impl::add_pipe(int to, Fd& write_end) {
    auto pipe = linux_os::make_output_pipe();
    if (!pipe) {
        return std::unexpected(pipe.error());
    }
    pipe_inodes_.push_back(linux_os::inode_of(pipe->read_end.get()));
    sides_.push_back({std::move(pipe->read_end), to, to == kStderr});
    write_end = std::move(pipe->write_end);
    return {};
}

// The job gets mapdiag's own stdout and stderr; its output is missing in the log.
void JobRun::Impl::do_without_pipes(const Error& reason) {
    sides_.clear();
    pipe_inodes_.clear();
    job_out_.reset();
    job_err_.reset();
    one_pipe_ = false;
    record_.log.failure = reason.text();
}

// A limit that was asked for holds, or the job is not started.
bool JobRun::Impl::choose_place() {
    if (!find_a_place()) {
        return false;
    }
    auto held = limits_.hold(plan_.containment, place_, group_name_);
    if (!held) {
        not_started(125, held.error().text());
        return false;
    }
    if (*held) {
        trouble(**held);
    }
    return true;
}

bool JobRun::Impl::find_a_place() {
    if (!has_place()) {
        place_.placement = record::Placement::none;
        return true;
    }
    machine_kills_ = read_machine_kills();
    if (!plan_.placement) {
        place_ = find_place(group_name_);
        return true;
    }
    auto place = find_place(*plan_.placement, group_name_);
    if (!place) {
        not_started(125, place.error().text());
        return false;
    }
    place_ = std::move(*place);
    return true;
}

bool JobRun::Impl::make_job() {
    if (!choose_place()) {
        return false;
    }
    start_witness();
    start_relay();
    use_.inherited_bytes = linux_os::own_peak_rss();
    auto job = make_job_at(place_);
    if (!job && place_.group && !plan_.placement && !plan_.containment.needs_group()) {
        step_down_to_tree(place_, job.error().text());
        job = make_job_at(place_);
    }
    if (!job) {
        not_started(125, job.error().text());
        return false;
    }
    job_.emplace(std::move(*job));
    if (watcher_) {
        watcher_->tell_job(job_->pid());
    }
    return true;
}

Result<linux_os::JobProcess> JobRun::Impl::make_job_at(Place& place) {
    linux_os::JobStart start;
    start.command = plan_.command;
    start.signals = gate_->inherited();
    start.out = job_out_.get();
    start.err = one_pipe_ ? job_out_.get() : job_err_.get();
    if (place.group) {
        start.clone_into = place.group->clone_descriptor();
        start.enter = place.group->enter_descriptors();
        if (limits_.enter_descriptor() >= 0) {
            start.enter.push_back(limits_.enter_descriptor());
        }
    }
    return linux_os::JobProcess::make(start);
}

void JobRun::Impl::start_watcher() {
    auto not_kept = inherited_;
    not_kept.insert(not_kept.end(), {job_out_.get(), job_err_.get()});
    for (const auto& side : sides_) {
        not_kept.push_back(side.from.get());
    }
    auto watcher =
        linux_os::Watcher::start([this](std::int32_t job) { end_orphaned_job(job); }, not_kept);
    if (watcher) {
        watcher_.emplace(std::move(*watcher));
    } else {
        trouble(watcher.error());
    }
}

// In the watcher: mapdiag is gone. The job must not go on alone, and what happened must be written.
// The watcher was made before the job and its group, so it knows only what it was told.
void JobRun::Impl::end_orphaned_job(std::int32_t job) {
    if (has_place()) {
        linux_os::end_groups(group_name_);
    }
    if (job > 0) {
        linux_os::kill_tree(proc_, job);
        linux_os::kill_holders(proc_, pipe_inodes_);
    }
    if (journal_) {
        (void)write_all(journal_->descriptor(), record::wrapper_killed_end_line(elapsed_s()),
                        journal_->path());
    }
    if (log_) {
        log_->find_line_start();
        log_->end_line();
        log_->append(setup_.wrapper_killed_line + '\n');
    }
}

bool JobRun::Impl::start_job() {
    job_out_.reset();
    job_err_.reset();
    let_go_of_descriptors();
    router_->settle(*job_, 0);
    start_ = Clock::now();
    wall_start_ = std::filesystem::file_time_type::clock::now();
    if (const auto failed = job_->run()) {
        const auto failure = describe_exec_failure(plan_.command.front(), failed->errno_value);
        not_started(failure.status, failure.line);
        return false;
    }
    started_ = true;
    if (plan_.containment.time) {
        time_limit_.emplace(*plan_.containment.time, plan_.containment.kill_after, start_);
    }
    make_sampler();
    make_profiler();
    return true;
}

// What only the job has to do with is the job's alone: when it closes its stdin, or a pipe that it
// was given, whoever is at the other end learns of it at once, as without mapdiag.
void JobRun::Impl::let_go_of_descriptors() {
    linux_os::let_go_of_standard_descriptor(0);
    if (!relay_) {
        linux_os::let_go_of_standard_descriptor(kStdout);
    }
    for (const int fd : inherited_) {
        const Fd closed(fd);
    }
}

void JobRun::Impl::start_relay() {
    if (!log_ || sides_.empty()) {
        return;
    }
    auto relay = linux_os::OutputRelay::start(sides_, *log_);
    if (relay) {
        relay_ = std::move(*relay);
    } else {
        do_without_pipes(relay.error());
    }
}

void JobRun::Impl::make_sampler() {
    if (!has_place()) {
        return;
    }
    Sampler::Pace pace;
    Measure measure;
    if (place_.group) {
        measure = [this] { return measure_group(*place_.group); };
    } else {
        tree_.emplace(proc_, job_->pid());
        pace.shortest = 10ms;
        pace.apart = [this] { return tree_->spent_on_proportional(); };
        measure = [this] { return tree_->measure(job_processes(), Clock::now() - start_); };
    }
    auto sink = [this](const record::Sample& sample) {
        samples_.push_back(sample);
        if (journal_) {
            journal(journal_->sample(sample));
        }
    };
    if (place_.placement != record::Placement::none) {
        sampler_.emplace(std::move(measure), std::move(sink), pace, start_);
    }
    if (journal_) {
        journal_start();
    }
}

void JobRun::Impl::journal_start() {
    record_.placement = place_.placement;
    record_.steps_down = place_.steps_down;
    record_.cgroup = place_.group ? place_.group->folder() : "";
    record_limits(record_, place_);
    limits_.record(record_);
    journal(journal_->started(record_));
}

void JobRun::Impl::make_profiler() {
    // Two tracers of one process are not possible.
    if (!on() || !setup_.profiler || plan_.left_as_it_is) {
        return;
    }
    auto options = *setup_.profiler;
    options.command = plan_.command.front();
    options.folded_path = plan_.folded_path();
    if (plan_.last_gasp_share && place_.group && place_.limits.memory) {
        last_gasp_.emplace(*plan_.last_gasp_share, place_.limits.memory->bytes, start_);
    }
    profiler_system_ = make_profiler_system();
    profiler_.emplace(std::move(options), *profiler_system_);
}

// ---------------------------------------------------------------------------------------------
// While the job lives

void JobRun::Impl::supervise() {
    for (;;) {
        linux_os::wait_readable({gate_->descriptor(), job_->pidfd()}, until_next_duty());
        if (router_->route(*job_, elapsed_s())) {
            reap_orphans();
        }
        router_->stop_with(*job_);
        if (linux_os::is_readable(job_->pidfd())) {
            wait_for_reaping();
            return;
        }
        const auto now = Clock::now();
        if (sampler_) {
            sampler_->poll(now);
        }
        if (profiler_ && now >= next_profiler_poll_) {
            profiler_->poll(now, job_processes());
            next_profiler_poll_ = now + profiler_->poll_interval();
            take_dump();
        }
        watch_memory(now);
        watch_time(now);
    }
}

void JobRun::Impl::watch_time(Clock::time_point now) {
    if (!time_limit_) {
        return;
    }
    switch (time_limit_->next(now, profiler_ && profiler_->dumping())) {
        case TimeLimit::Step::dump:
            dump_stacks("time limit", ".time-limit.stacks");
            break;
        case TimeLimit::Step::terminate:
            // A stopped job takes the signal when it goes on.
            job_->pass_on({.signal = SIGTERM});
            job_->pass_on({.signal = SIGCONT});
            break;
        case TimeLimit::Step::kill:
            kill_job();
            break;
        case TimeLimit::Step::nothing:
            break;
    }
}

void JobRun::Impl::signal_process(std::int32_t pid, int signal) const {
    if (const auto stat = proc_.stat(pid)) {
        linux_os::send_signal(stat->id, signal);
    }
}

void JobRun::Impl::kill_job() {
    if (place_.group) {
        linux_os::kill_group(*place_.group);
        return;
    }
    job_->pass_on({.signal = SIGKILL});
    for (const auto pid : job_processes()) {
        signal_process(pid, SIGKILL);
    }
}

// Evidence that outlives the kill: before the limit is reached, once.
void JobRun::Impl::watch_memory(Clock::time_point now) {
    if (!last_gasp_ || !last_gasp_->is_due(now, *place_.group)) {
        return;
    }
    if (journal_) {
        journal(journal_->event({elapsed_s(),
                                 "last_gasp",
                                 {{"memory", static_cast<std::int64_t>(last_gasp_->memory())},
                                  {"limit", static_cast<std::int64_t>(last_gasp_->limit())}}}));
        journal(journal_->sync());
    }
    dump_stacks("last gasp", ".last-gasp.stacks");
}

void JobRun::Impl::dump_stacks(const char* why, const char* ending) {
    if (!profiler_) {
        return;
    }
    record_.stack_dumps.push_back({.at_s = elapsed_s(), .why = why, .path = {}, .failure = {}});
    if (const auto begun = profiler_->dump_stacks(plan_.file(ending), Clock::now()); !begun) {
        record_.stack_dumps.back().failure = begun.error().text();
    }
    take_dump();
}

void JobRun::Impl::take_dump() {
    auto outcome = profiler_->take_dump();
    if (!outcome || record_.stack_dumps.empty()) {
        return;
    }
    auto& dump = record_.stack_dumps.back();
    dump.path = outcome->path;
    dump.processes = outcome->processes;
    dump.failure = outcome->failure;
}

// What the job started gets the time to end that the job itself got, and no more.
void JobRun::Impl::end_rest_after_time_limit() {
    if (!time_limit_ || !time_limit_->reached()) {
        return;
    }
    record_.timed_out = true;
    auto rest = job_processes();
    for (const auto pid : rest) {
        if (pid != job_->pid()) {
            signal_process(pid, SIGTERM);
        }
    }
    // What the kernel itself holds (state D) is left to it.
    const auto last = Clock::now() + plan_.containment.kill_after + kKillPatience;
    for (auto now = Clock::now(); !rest.empty() && now < last; now = Clock::now()) {
        if (time_limit_->next(now, false) == TimeLimit::Step::kill) {
            kill_job();
        }
        linux_os::wait_readable({gate_->descriptor()}, 5ms);
        (void)router_->drain_after_end(elapsed_s());
        reap_orphans();
        rest = job_processes();
        std::erase(rest, job_->pid());
    }
    record_.held_to.killed = time_limit_->killed();
}

nanoseconds JobRun::Impl::until_next_duty() const {
    nanoseconds nap = kLongestNap;
    const auto now = Clock::now();
    if (time_limit_) {
        nap = std::min(nap, time_limit_->until_next(now));
    }
    if (last_gasp_) {
        nap = std::min(nap, last_gasp_->until_next(now));
    }
    if (sampler_) {
        nap = std::min(nap, sampler_->until_next(now));
    }
    if (profiler_) {
        nap = std::min<nanoseconds>(nap, next_profiler_poll_ - now);
    }
    return nap;
}

// The job has ended. A tracer (the profiler) may hold its status back: not for long.
void JobRun::Impl::wait_for_reaping() {
    const auto ended_at = Clock::now();
    record_.wall_s = elapsed_s();
    for (;;) {
        if (const auto end = job_->reap()) {
            if (watcher_) {
                watcher_->tell_job(0);
            }
            use_.job = end->use;
            if (const auto* exited = std::get_if<linux_os::ProcessExited>(&end->how)) {
                record_.ending = record::Exited{exited->code};
            } else {
                const auto& killed = std::get<linux_os::ProcessKilled>(end->how);
                record_.ending = record::Killed{killed.signal, killed.core_dumped};
            }
            return;
        }
        linux_os::wait_readable({gate_->descriptor()}, 2ms);
        (void)router_->drain_after_end(elapsed_s());
        if (profiler_ && Clock::now() - ended_at > kTracerPatience) {
            finish_profiler();
            profiler_.reset();
        }
    }
}

bool JobRun::Impl::is_helper(std::int32_t pid) const {
    return (witness_ && witness_->pid() == pid) || (watcher_ && watcher_->pid() == pid) ||
           (profiler_ && profiler_->owns(pid));
}

void JobRun::Impl::finish_profiler() {
    if (profiler_) {
        record_.profile = profiler_->finish(Clock::now() + kProfilerPatience);
        record_.python_seen = record_.profile.python_seen;
    }
}

std::vector<std::int32_t> JobRun::Impl::adopted() const {
    auto children = linux_os::child_processes();
    std::erase_if(children, [&](std::int32_t pid) { return pid == job_->pid() || is_helper(pid); });
    return children;
}

void JobRun::Impl::reap_orphans() {
    for (const auto pid : adopted()) {
        if (const auto end = linux_os::reap_child(pid)) {
            use_.add_orphan(end->use);
        }
    }
}

std::vector<std::int32_t> JobRun::Impl::job_processes() const {
    if (place_.group) {
        return place_.group->processes();
    }
    return tree_ ? tree_->processes(adopted()) : std::vector<std::int32_t>{};
}

// ---------------------------------------------------------------------------------------------
// After the job

// Everything that the job wrote is passed on. A process that holds the pipe without writing is not
// waited for; a reader of mapdiag's output that is slow is, unless somebody asks mapdiag to end.
void JobRun::Impl::drain_output() {
    if (!relay_) {
        return;
    }
    const auto ended_at = Clock::now();
    relay_->mark_end();
    const auto is_over = [&] {
        const auto waited = Clock::now() - ended_at;
        return relay_->finished() ||
               (waited > kQuietAfterEnd && relay_->quiet_for(kQuietAfterEnd)) ||
               (waited > kTalkAfterEnd && relay_->passed_on_to_mark());
    };
    bool one_ended = false;
    while (!is_over()) {
        // The event stays readable once one of two sides has ended.
        if (one_ended) {
            linux_os::wait_readable({gate_->descriptor()}, 1ms);
        } else {
            linux_os::wait_readable({gate_->descriptor(), relay_->end_descriptor()}, 10ms);
            one_ended = linux_os::is_readable(relay_->end_descriptor());
        }
        if (router_->drain_after_end(elapsed_s())) {
            break;
        }
    }
    open_sides_ = relay_->stop();
    const auto side = [&](bool is_stderr) {
        const auto outcome = relay_->outcome(is_stderr);
        return record::OutputSide{outcome.bytes, outcome.lost_bytes, outcome.failure};
    };
    record_.out = side(false);
    record_.err = side(true);
    record_.log.last_stderr_line = relay_->last_stderr_line();
}

void JobRun::Impl::deal_with_leftovers() {
    reap_orphans();
    if (has_place()) {
        auto pids = place_.group ? job_processes() : std::vector<std::int32_t>{};
        if (tree_) {
            pids = tree_->processes(adopted());
            std::erase(pids, job_->pid());
        }
        record_.leftovers = find_leftovers(proc_, pids, pipe_inodes_);
    }
    if (!open_sides_.empty()) {
        if (const auto keeper = linux_os::keep_reading(open_sides_); !keeper) {
            trouble(keeper.error());
        }
        open_sides_.clear();
    }
}

void JobRun::Impl::finish_record() {
    if (log_) {
        record_.log.lost_bytes = log_->lost_bytes();
        if (const auto why = log_->failure(); !why.empty()) {
            record_.log.failure = "can't write the log " + log_->path() + ": " + why;
        }
    }
    record_.signals = router_->seen();
    record_.placement = place_.placement;
    record_.steps_down = place_.steps_down;
    if (!has_place()) {
        return;
    }
    if (place_.group) {
        record_group(record_, *place_.group, *sampler_);
    } else if (sampler_) {
        record_tree(record_, *tree_, *sampler_);
        if (place_.shared) {
            record_shared(record_, *place_.shared, plan_.placement.has_value());
        }
    }
    record_limits(record_, place_);
    record_surroundings(record_, place_, machine_kills_);
    record_machine(record_, place_);
    limits_.record(record_);
    record_reaped(record_, use_);
    record_.output_file = look_at_output(plan_.command, wall_start_);
}

void JobRun::Impl::remove_group() {
    if (auto gone = limits_.remove(); !gone) {
        trouble(gone.error());
    }
    if (place_.group) {
        if (auto gone = place_.group->remove(); !gone) {
            trouble(gone.error());
        }
    }
}

void JobRun::Impl::not_started(int status, const std::string& reason) {
    record_.ending = record::NotStarted{status, reason};
}

void JobRun::Impl::write_lines(std::span<const std::string> lines) {
    std::string block;
    for (const auto& line : lines) {
        block += line + '\n';
    }
    if (log_) {
        log_->end_line();
        log_->append(block);
    }
    // A command that never started is one line on stderr, which the caller says.
    if (!plan_.quiet && started_) {
        if (relay_ && !relay_->at_line_start(true)) {
            block.insert(block.begin(), '\n');
        }
        (void)write_all(kStderr, block, "stderr");
    }
}

Result<void> JobRun::Impl::close_journal(const RunRecord& record) {
    return journal_ ? journal_->end(record) : Result<void>{};
}

// ---------------------------------------------------------------------------------------------

JobRun::JobRun(RunPlan plan, JobRunSetup setup)
    : impl_(std::make_unique<Impl>(std::move(plan), std::move(setup))) {}

JobRun::~JobRun() = default;

RunOutcome JobRun::execute() {
    return impl_->execute();
}

void JobRun::write_lines(std::span<const std::string> lines) {
    impl_->write_lines(lines);
}

Result<void> JobRun::close_journal(const RunRecord& record) {
    return impl_->close_journal(record);
}

int JobRun::leave_as(const record::Ending& ending) {
    if (const auto* exited = std::get_if<record::Exited>(&ending)) {
        return exited->code;
    }
    if (const auto* not_started = std::get_if<record::NotStarted>(&ending)) {
        return not_started->status;
    }
    if (const auto* killed = std::get_if<record::Killed>(&ending)) {
        linux_os::end_by_signal(killed->signal);
        return 128 + killed->signal;
    }
    return 125;
}

ExecFailure describe_exec_failure(const std::string& program, int errno_value) {
    if (errno_value == EACCES && !linux_os::program_exists(program)) {
        errno_value = ENOENT;
    }
    const int status = errno_value == ENOENT || errno_value == ENOTDIR ? 127 : 126;
    return {status, fmt::format("can't run {}: {}", printable(program), errno_text(errno_value))};
}

ExecFailure exec_in_place(const std::vector<std::string>& command) {
    return describe_exec_failure(command.front(), linux_os::exec_command(command));
}

}  // namespace mapdiag::run
