#include "py_spy_session.h"

#include <signal.h>

#include <filesystem>
#include <system_error>

namespace mapdiag::run {
namespace {

constexpr auto kAgainAfter = std::chrono::milliseconds(1000);
constexpr auto kPatience = std::chrono::seconds(4);

std::vector<std::string> command_line(const SessionStart& start) {
    std::vector<std::string> command = {
        start.py_spy, "record",      "--pid",  std::to_string(start.pid),
        "--format",   "raw",         "--rate", std::to_string(start.settings.rate),
        "--output",   start.raw_path};
    if (start.settings.idle) {
        command.emplace_back("--idle");
    }
    if (start.settings.native) {
        command.emplace_back("--native");
    }
    if (start.settings.nonblocking) {
        command.emplace_back("--nonblocking");
    }
    return command;
}

}  // namespace

Result<PySpySession> PySpySession::start(const SessionStart& start, ProfilerSystem& system,
                                         Clock::time_point now) {
    // A level of talk that the user set for a py-spy of his own could fill gigabytes.
    auto helper = system.start({.command = command_line(start), .environment = {"RUST_LOG=error"}});
    if (!helper) {
        return std::unexpected(helper.error());
    }
    return PySpySession(std::move(*helper), start.raw_path, now);
}

std::uint64_t PySpySession::written() const {
    std::error_code failed;
    const auto size = std::filesystem::file_size(raw_path_, failed);
    return failed ? 0 : size;
}

void PySpySession::ask_to_end(Clock::time_point now, std::chrono::milliseconds grace) {
    if (asked_) {
        return;
    }
    asked_ = true;
    next_interrupt_ = now + grace;
    kill_at_ = now + grace + kPatience;
}

void PySpySession::kill() {
    if (!helper_->end()) {
        killed_ = true;
        helper_->signal_group(SIGKILL);
    }
}

void PySpySession::poll(Clock::time_point now) {
    helper_->poll();
    if (helper_->end() || !asked_) {
        return;
    }
    if (now >= kill_at_) {
        const auto written_now = written();
        if (written_now == written_) {
            kill();
            return;
        }
        // A large profile on a slow disk: as long as it grows, it is worth waiting for.
        written_ = written_now;
        kill_at_ = now + std::chrono::seconds(2);
    }
    if (now >= next_interrupt_ && interrupts_ < 3) {
        helper_->signal(SIGINT);
        ++interrupts_;
        next_interrupt_ = now + kAgainAfter;
    }
}

}  // namespace mapdiag::run
