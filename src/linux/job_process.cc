#include "mapdiag/linux/job_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "mapdiag/linux/raw_fork.h"
#include "mapdiag/support/text.h"

namespace mapdiag::linux_os {
namespace {

// What the child reports before the exec; nothing at all means that the exec succeeded, since the
// pipe is close-on-exec.
enum class Stage : std::int32_t { entered, enter_failed, exec_failed };
struct Report {
    Stage stage;
    std::int32_t errno_value;
};

struct Pipe {
    Fd read_end;
    Fd write_end;
};

Result<Pipe> make_pipe() {
    std::array<int, 2> ends = {};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return std::unexpected(Error::from_errno("make", "a pipe"));
    }
    return Pipe{Fd(ends[0]), Fd(ends[1])};
}

void tell(int pipe, Stage stage, int errno_value) {
    const Report report = {stage, errno_value};
    (void)!::write(pipe, &report, sizeof report);
}

std::optional<Report> read_report(int pipe) {
    Report report = {};
    for (;;) {
        const auto got = ::read(pipe, &report, sizeof report);
        if (got == sizeof report) {
            return report;
        }
        if (got >= 0 || errno != EINTR) {
            return std::nullopt;
        }
    }
}

// dup2 to the same number would keep close-on-exec.
bool install(int from, int to) {
    if (from < 0) {
        return true;
    }
    if (from == to) {
        return ::fcntl(to, F_SETFD, 0) == 0;
    }
    return ::dup2(from, to) == to;
}

// The child between its birth and the exec. Only system calls: nothing here allocates.
[[noreturn]] void become_job(const JobStart& start, char* const* arguments, const Pipe& go_pipe,
                             int report) {
    const int go = go_pipe.read_end.get();
    ::close(go_pipe.write_end.get());  // else the end of mapdiag would not show on the other end
    for (const int entrance : start.enter) {
        if (::write(entrance, "0", 1) != 1) {
            tell(report, Stage::enter_failed, errno);
            ::_exit(125);
        }
    }
    tell(report, Stage::entered, 0);
    char byte = 0;
    ssize_t got = 0;
    do {
        got = ::read(go, &byte, 1);
    } while (got < 0 && errno == EINTR);
    if (got != 1) {
        ::_exit(125);  // mapdiag is gone or has given up
    }
    if (!install(start.out, STDOUT_FILENO) || !install(start.err, STDERR_FILENO)) {
        tell(report, Stage::exec_failed, errno);
        ::_exit(125);
    }
    if (start.signals.child_signal_ignored) {
        ::signal(SIGCHLD, SIG_IGN);
    }
    ::sigprocmask(SIG_SETMASK, &start.signals.mask, nullptr);
    ::execvp(arguments[0], arguments);
    tell(report, Stage::exec_failed, errno);
    ::_exit(127);
}

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

void wait_for(std::int32_t pid) {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace

Result<JobProcess> JobProcess::make(const JobStart& start) {
    auto go = make_pipe();
    auto report = make_pipe();
    if (!go || !report) {
        return std::unexpected(!go ? go.error() : report.error());
    }
    std::vector<char*> arguments;
    arguments.reserve(start.command.size() + 1);
    for (const auto& word : start.command) {
        arguments.push_back(const_cast<char*>(word.c_str()));  // execvp's type; it writes nothing
    }
    arguments.push_back(nullptr);

    int pidfd = -1;
    const auto pid = raw_fork_into(start.clone_into, &pidfd);
    if (pid < 0) {
        return std::unexpected(Error::from_errno(
            start.clone_into >= 0 ? "start a process inside" : "start", "the job's cgroup"));
    }
    if (pid == 0) {
        become_job(start, arguments.data(), *go, report->write_end.get());
    }
    JobProcess job(pid, Fd(pidfd), std::move(go->write_end), std::move(report->read_end));
    report->write_end.reset();
    const auto first = read_report(job.report_.get());
    if (!first || first->stage != Stage::entered) {
        job.go_.reset();
        wait_for(pid);
        return std::unexpected(Error("enter", "the job's cgroup", first ? first->errno_value : 0,
                                     first ? "" : "the child ended before it said anything"));
    }
    return job;
}

std::optional<ExecFailed> JobProcess::run() {
    (void)!::write(go_.get(), "g", 1);
    go_.reset();
    const auto failure = read_report(report_.get());
    report_.reset();
    if (!failure) {
        return std::nullopt;
    }
    wait_for(pid_);
    return ExecFailed{failure->errno_value};
}

void JobProcess::pass_on(const SignalInfo& signal) const {
    if (signal.code == SI_QUEUE) {
        sigval value = {};
        value.sival_ptr = reinterpret_cast<void*>(signal.value);
        ::sigqueue(pid_, signal.signal, value);
        return;
    }
    if (pidfd_) {
        ::syscall(SYS_pidfd_send_signal, pidfd_.get(), signal.signal, nullptr, 0);
    } else {
        ::kill(pid_, signal.signal);
    }
}

bool JobProcess::in_own_group() const {
    return ::getpgid(pid_) == ::getpgrp();
}

std::uint64_t JobProcess::pending_signals() const {
    const auto status = read_file("/proc/" + std::to_string(pid_) + "/status");
    if (!status) {
        return 0;
    }
    // SigPnd:	0000000000000000    (of the thread)
    // ShdPnd:	0000000000000002    (of the process), in hexadecimal
    std::uint64_t pending = 0;
    for (const auto line : split(*status, '\n')) {
        if (line.starts_with("SigPnd:") || line.starts_with("ShdPnd:")) {
            pending |= std::stoull(std::string(trim(line.substr(7))), nullptr, 16);
        }
    }
    return pending;
}

std::optional<ProcessEnd> JobProcess::reap() {
    return reap_child(pid_);
}

bool JobProcess::is_stopped() const {
    siginfo_t info = {};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid_ && info.si_code == CLD_STOPPED;
}

std::optional<ProcessEnd> reap_child(std::int32_t pid) {
    int status = 0;
    rusage use = {};
    if (::wait4(pid, &status, WNOHANG, &use) != pid) {
        return std::nullopt;
    }
    ProcessEnd end{ProcessExited{0},
                   {seconds(use.ru_utime), seconds(use.ru_stime),
                    static_cast<std::uint64_t>(use.ru_maxrss) * 1024}};
    if (WIFSIGNALED(status)) {
        end.how = ProcessKilled{WTERMSIG(status), WCOREDUMP(status) != 0};
    } else {
        end.how = ProcessExited{WEXITSTATUS(status)};
    }
    return end;
}

std::vector<std::int32_t> child_processes() {
    std::vector<std::int32_t> pids;
    const auto children =
        read_file("/proc/self/task/" + std::to_string(::getpid()) + "/children", 16U << 20);
    if (children) {
        for (const auto word : split_words(*children)) {
            if (const auto pid = find_u64(word)) {
                pids.push_back(static_cast<std::int32_t>(*pid));
            }
        }
    }
    return pids;
}

Result<void> adopt_orphans() {
    if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
        return std::unexpected(Error::from_errno("become", "the job's subreaper"));
    }
    return {};
}

std::uint64_t own_peak_rss() {
    rusage use = {};
    ::getrusage(RUSAGE_SELF, &use);
    return static_cast<std::uint64_t>(use.ru_maxrss) * 1024;
}

}  // namespace mapdiag::linux_os
