#include "stack_dump.h"

#include <signal.h>

#include <algorithm>

#include "mapdiag/support/output_file.h"
#include "mapdiag/support/text.h"

#include "py_spy_words.h"

namespace mapdiag::run {
namespace {

constexpr auto kPatience = std::chrono::seconds(4);
constexpr unsigned kAttempts = 4;
constexpr std::size_t kMost = 8;
constexpr std::size_t kLongestDump = 4U << 20;

}  // namespace

// Process 13: python step.py --secret x      <- a command line, perhaps with line ends in it
// Python v3.11.2 (/usr/bin/python3.11)
//
// Thread 13 (active): "MainThread"
//     work (step.py:3)
std::optional<std::string> read_dump(std::string_view printed, const DumpTarget& target) {
    constexpr std::string_view kPython = "\nPython v";
    const auto python = printed.rfind(kPython);
    if (!printed.starts_with("Process ") || python == std::string_view::npos) {
        return std::nullopt;
    }
    std::string text =
        "Process " + std::to_string(target.pid) + " (" + printable(target.program) + ")\n";
    for (const auto line : split(printed.substr(python + 1), '\n')) {
        text += printable(line) + '\n';
    }
    return text;
}

StackDump::StackDump(std::string py_spy, std::vector<DumpTarget> targets, std::string path,
                     Clock::time_point now)
    : py_spy_(std::move(py_spy)), path_(std::move(path)), deadline_(now + kPatience) {
    targets.resize(std::min(targets.size(), kMost));
    for (auto& target : targets) {
        jobs_.emplace_back().target = std::move(target);
    }
}

bool StackDump::owns(std::int32_t pid) const {
    return std::ranges::any_of(
        jobs_, [&](const Job& job) { return job.helper && job.helper->pid() == pid; });
}

void StackDump::start(Job& job, ProfilerSystem& system) const {
    std::vector<std::string> command = {py_spy_, "dump", "--pid", std::to_string(job.target.pid)};
    if (++job.attempts == kAttempts) {
        command.emplace_back("--nonblocking");
    }
    auto helper = system.start({.command = std::move(command),
                                .environment = {"RUST_LOG=error"},
                                .output_limit = kLongestDump});
    if (!helper) {
        job.failure = helper.error().text();
        job.over = true;
        return;
    }
    job.helper = std::move(*helper);
}

void StackDump::take(Job& job, ProfilerSystem& system) const {
    job.helper->poll();
    if (!job.helper->end()) {
        return;
    }
    const auto printed = job.helper->output();
    job.helper.reset();
    if (auto text = read_dump(printed, job.target)) {
        job.text = std::move(*text);
        job.over = true;
        return;
    }
    job.failure = understand_py_spy(printed).message;
    job.over = job.attempts >= kAttempts;
    if (!job.over) {
        start(job, system);
    }
}

std::optional<DumpOutcome> StackDump::poll(Clock::time_point now, ProfilerSystem& system) {
    for (auto& job : jobs_) {
        if (job.over) {
            continue;
        }
        if (job.helper) {
            take(job, system);
        } else {
            start(job, system);
        }
        if (!job.over && now >= deadline_) {
            job.failure = "py-spy did not answer in time";
            job.helper.reset();  // kills it
            job.over = true;
        }
    }
    return std::ranges::all_of(jobs_, &Job::over) ? std::optional(write()) : std::nullopt;
}

DumpOutcome StackDump::write() const {
    DumpOutcome outcome;
    std::string all;
    for (const auto& job : jobs_) {
        outcome.processes += job.text.empty() ? 0 : 1;
        all += job.text;
        if (job.text.empty()) {
            outcome.failure = job.failure.empty() ? "py-spy said nothing" : job.failure;
        }
    }
    if (outcome.processes == 0) {
        return outcome;
    }
    if (const auto written = write_output_file(path_, all); !written) {
        return {.path = {}, .processes = 0, .failure = written.error().text()};
    }
    outcome.path = path_;
    return outcome;
}

}  // namespace mapdiag::run
