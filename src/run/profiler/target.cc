#include "target.h"

#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "python_programs.h"
#include "trace_permission.h"

namespace mapdiag::run {
namespace {

using record::ProfileOutcome;
using std::chrono::milliseconds;

constexpr auto kLookEvery = milliseconds(100);
// py-spy sees the end of its process by itself within 30 ms; a SIGINT before it has attached would
// end it without a file.
constexpr auto kGrace = milliseconds(150);
// A stop that began so shortly before py-spy's own end is py-spy's.
constexpr auto kStopOfPySpy = std::chrono::seconds(1);
// One sample holds the process for some milliseconds.
constexpr auto kHeldTooLong = std::chrono::seconds(5);
constexpr auto kFirstPause = milliseconds(50);
constexpr auto kLongestPause = milliseconds(5000);

bool has_bytes(const std::string& path) {
    std::error_code failed;
    const auto size = std::filesystem::file_size(path, failed);
    return !failed && size > 0;
}

double seconds(Clock::duration time) {
    return std::chrono::duration<double>(time).count();
}

}  // namespace

bool Target::start(Clock::time_point now, const TargetTools& tools) {
    auto raw_path = tools.new_raw_path();
    if (!raw_path) {
        trouble_ = raw_path.error();
        conclude(ProfileOutcome::failed);
        return false;
    }
    raw_paths_.push_back(*raw_path);
    ++result_.attempts;
    const auto& found = *tools.finder.found();
    auto session = PySpySession::start({.py_spy = found.path,
                                        .settings = tools.options.settings,
                                        .pid = pid(),
                                        .raw_path = *raw_path},
                                       tools.system, now);
    if (!session) {
        result_.message = session.error().text();
        tools.finder.discard(result_.message);
        retry(ProfileOutcome::cannot_start, 4, now);
        return false;
    }
    session_.emplace(std::move(*session));
    result_.outcome = ProfileOutcome::attached;
    // The process may have been something else before: a shell, a shim.
    attach_age_s_ = std::min(tools.system.seconds_since_start(python_.id), seconds(now - born_));
    next_look_ = now + kLookEvery;
    stopped_since_.reset();
    held_since_.reset();
    return true;
}

void Target::poll(Clock::time_point now, const TargetTools& tools) {
    if (!session_) {
        if (!over_ && now >= next_look_) {
            next_look_ = now + kLookEvery;
            if (!tools.system.proc().alive(python_.id)) {
                over_ = true;
            }
        }
        return;
    }
    session_->poll(now);
    if (session_->end()) {
        take_end(now, tools);
    } else if (now >= next_look_) {
        next_look_ = now + kLookEvery;
        watch_process(now, tools);
    }
}

void Target::watch_process(Clock::time_point now, const TargetTools& tools) {
    const auto& proc = tools.system.proc();
    const auto stat = proc.stat(pid());
    if (!stat || stat->id != python_.id || stat->state == 'Z' || stat->state == 'X') {
        // A process that py-spy holds is not reaped by its parent before py-spy lets go.
        over_ = true;
        session_->ask_to_end(now, kGrace);
        return;
    }
    const auto follow = [&](std::optional<Clock::time_point>& since, char state) {
        if (stat->state != state) {
            since.reset();
        } else if (!since) {
            since = now;
        }
    };
    follow(stopped_since_, 'T');
    follow(held_since_, 't');
    if (held_since_ && now - *held_since_ > kHeldTooLong) {
        const auto status = proc.status(pid());
        if (status && status->tracer == session_->pid()) {
            session_->kill();
        }
        held_since_.reset();
    }
    const auto executable = proc.executable(pid());
    if (executable && !is_python(*executable)) {
        retire(now, tools);
    }
}

void Target::retire(Clock::time_point now, const TargetTools& tools) {
    over_ = true;
    if (session_) {
        const bool alive = tools.system.proc().alive(python_.id);
        session_->ask_to_end(now, alive ? milliseconds(0) : kGrace);
    }
}

void Target::kill_py_spy() {
    if (session_) {
        session_->kill();
    }
}

void Target::conclude(ProfileOutcome outcome) {
    over_ = true;
    // What is known from samples, or from an earlier attempt, says more than that it has ended.
    if (outcome == ProfileOutcome::too_short) {
        outcome = result_.profiled_s > 0 ? ProfileOutcome::sampled : last_failure_;
    }
    result_.outcome = outcome;
}

void Target::take_end(Clock::time_point now, const TargetTools& tools) {
    const auto talk = session_->talk();
    result_.told_samplings = result_.told_samplings || talk.samplings.has_value();
    result_.samplings += talk.samplings.value_or(0);
    result_.errors += talk.errors.value_or(0);
    result_.behind_s = std::max(result_.behind_s, talk.behind_s);
    if (!talk.message.empty()) {
        result_.message = talk.message;
    }
    continue_if_left_stopped(now, tools);
    const bool recorded = has_bytes(session_->raw_path()) || talk.samplings.has_value();
    if (recorded && !session_->killed_by_us()) {
        if (result_.profiled_s == 0) {
            result_.attached_after_s = attach_age_s_;
        }
        result_.profiled_s += seconds(now - session_->since());
        result_.outcome = ProfileOutcome::sampled;
        // It ends by itself with its process, or when that becomes another program.
        retry(ProfileOutcome::sampled, 8, now);
    } else {
        digest_failure(talk, now, tools);
    }
    session_.reset();
}

void Target::digest_failure(const PySpyTalk& talk, Clock::time_point now,
                            const TargetTools& tools) {
    if (session_->killed_by_us()) {
        conclude(ProfileOutcome::hung);
        return;
    }
    const auto end = *session_->end();
    if (const auto* killed = std::get_if<linux_os::HelperKilled>(&end)) {
        // A SIGINT that came before it had attached, and so before it had a handler.
        if (session_->interrupted() && killed->signal == SIGINT) {
            conclude(ProfileOutcome::too_short);
            return;
        }
        // Not tried again: a py-spy that the memory killer took would be taken again, or the job.
        result_.signal = killed->signal;
        conclude(ProfileOutcome::died);
        return;
    }
    const auto code = std::get<linux_os::HelperExited>(end).code;
    if (result_.stopped_job) {
        conclude(ProfileOutcome::failed);
    } else if (code == 126 || code == 127 || talk.complaint == PySpyComplaint::not_there) {
        tools.finder.discard(talk.message);
        retry(ProfileOutcome::cannot_start, 4, now);
    } else if (talk.complaint == PySpyComplaint::unsupported_python) {
        if (!talk.python_version.empty()) {
            result_.python_version = talk.python_version;
        }
        conclude(ProfileOutcome::unsupported_python);
    } else if (talk.complaint == PySpyComplaint::denied) {
        refuse_or_retry(ProfileOutcome::denied, now, tools);
    } else if (!tools.system.proc().alive(python_.id)) {
        conclude(ProfileOutcome::too_short);
    } else if (talk.complaint == PySpyComplaint::no_interpreter ||
               talk.complaint == PySpyComplaint::process_gone) {
        // What py-spy says where it was denied may well be that there is no Python.
        refuse_or_retry(ProfileOutcome::no_interpreter, now, tools);
    } else {
        retry(ProfileOutcome::failed, 3, now);
    }
}

void Target::refuse_or_retry(ProfileOutcome outcome, Clock::time_point now,
                             const TargetTools& tools) {
    const auto facts = trace_facts(tools.system, pid());
    if (is_forbidden(facts) || outcome == ProfileOutcome::denied) {
        result_.denial = explain_denial(facts);
    }
    if (is_forbidden(facts)) {
        conclude(ProfileOutcome::denied);
    } else {
        retry(outcome, outcome == ProfileOutcome::denied ? 2 : 12, now);
    }
}

void Target::retry(ProfileOutcome outcome, unsigned at_most, Clock::time_point now) {
    // Samples that are there are worth more than what a later try came to.
    if (result_.profiled_s == 0) {
        result_.outcome = outcome;
        last_failure_ = outcome;
    }
    if (++failures_ > at_most) {
        over_ = true;
        return;
    }
    auto pause = kFirstPause * (1U << std::min(failures_ - 1, 10U));
    next_try_ = now + std::min<milliseconds>(pause, kLongestPause);
    next_look_ = now;
}

void Target::continue_if_left_stopped(Clock::time_point now, const TargetTools& tools) {
    const auto stat = tools.system.proc().stat(pid());
    if (!stat || stat->id != python_.id || stat->state != 'T') {
        return;
    }
    // A stop by the user is older than the end of py-spy, which goes on sampling a stopped process.
    if (!stopped_since_ || now - *stopped_since_ < kStopOfPySpy) {
        tools.system.continue_process(python_.id);
        result_.stopped_job = true;
    }
}

}  // namespace mapdiag::run
