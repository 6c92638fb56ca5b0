#pragma once

#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "mapdiag/run/profiler_system.h"
#include "support/temp_folder.h"

namespace mapdiag::test {

/// A helper process that does what a test says: nothing happens by itself.
struct FakeProcess {
    std::int32_t pid = 0;
    std::vector<std::string> command;
    std::string output;
    std::optional<linux_os::HelperEnd> end;
    std::vector<int> signals;
    bool writes_on_interrupt = true;  ///< as py-spy does, once it has attached
    std::string profile = "<module> (m.py:1);work (m.py:9) 100\n";

    std::string option(const std::string& name) const {
        for (std::size_t i = 0; i + 1 < command.size(); ++i) {
            if (command[i] == name) {
                return command[i + 1];
            }
        }
        return {};
    }
    bool has(const std::string& word) const {
        return std::ranges::find(command, word) != command.end();
    }
    bool is_py_spy() const { return has("record"); }
    /// Writes its file and ends well.
    void finish() {
        std::ofstream(option("--output"), std::ios::binary) << profile;
        output += "py-spy> Wrote raw flamegraph data to 'x'. Samples: 100 Errors: 0\n";
        end = linux_os::HelperExited{0};
    }
    void fail(const std::string& words, int code = 1) {
        output += words;
        end = linux_os::HelperExited{code};
    }
    void receive(int signal) {
        signals.push_back(signal);
        if (end) {
            return;
        }
        if (signal == SIGKILL) {
            end = linux_os::HelperKilled{SIGKILL};
        } else if (signal == SIGINT && writes_on_interrupt) {
            finish();
        }
    }
};

class FakeHelper final : public run::Helper {
  public:
    explicit FakeHelper(std::shared_ptr<FakeProcess> process) : process_(std::move(process)) {}
    std::int32_t pid() const override { return process_->pid; }
    void poll() override { seen_end_ = process_->end; }
    std::optional<linux_os::HelperEnd> end() const override { return seen_end_; }
    std::string output() const override { return process_->output; }
    void signal(int number) override { process_->receive(number); }
    void signal_group(int number) override { process_->receive(number); }

  private:
    std::shared_ptr<FakeProcess> process_;
    std::optional<linux_os::HelperEnd> seen_end_;
};

/// A machine of a test's own: a tree of /proc in a folder, a clock that stands still unless it is
/// moved, and helpers that only note what they are asked.
class FakeSystem final : public run::ProfilerSystem {
  public:
    FakeSystem() : proc_(folder.path("proc")) {
        std::filesystem::create_directories(folder.path("proc"));
    }

    // The job's processes.
    void add(int pid, int parent, const std::string& executable,
             const std::vector<std::string>& arguments = {}) {
        jobs.insert(pid);
        parents_[pid] = parent;
        set_state(pid, 'S');
        folder.write(name(pid, "status"), "Uid:\t0\t0\t0\t0\nCapEff:\t0\n");
        become(pid, executable, arguments);
    }
    /// exec: the same process, another program.
    void become(int pid, const std::string& executable,
                const std::vector<std::string>& arguments = {}) {
        const auto link = folder.path(name(pid, "exe"));
        std::filesystem::remove(link);
        std::filesystem::create_symlink(executable, link);
        std::string line = arguments.empty() ? executable + '\0' : std::string();
        for (const auto& word : arguments) {
            line += word + '\0';
        }
        folder.write(name(pid, "cmdline"), line);
        ++stack_starts_[pid];
        set_state(pid, 'S');
    }
    /// In the middle of an exec: nobody has written the arguments yet.
    void forget_arguments(int pid) { folder.write(name(pid, "cmdline"), ""); }
    void set_state(int pid, char state) {
        const auto number = std::to_string(pid);
        folder.write(name(pid, "stat"),
                     number + " (x) " + state + ' ' + std::to_string(parents_[pid]) +
                         " 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 " + std::to_string(500 + pid) +
                         " 0 0 0 0 0 " + std::to_string(7000 + stack_starts_[pid]) + "\n");
    }
    void remove(int pid) {
        jobs.erase(pid);
        std::filesystem::remove_all(folder.path("proc/" + std::to_string(pid)));
    }
    std::vector<std::int32_t> job_pids() const { return {jobs.begin(), jobs.end()}; }

    // The helpers.
    std::vector<std::shared_ptr<FakeProcess>> py_spys() const {
        std::vector<std::shared_ptr<FakeProcess>> found;
        for (const auto& helper : helpers) {
            if (helper->is_py_spy()) {
                found.push_back(helper);
            }
        }
        return found;
    }

    const linux_os::ProcFs& proc() const override { return proc_; }
    std::optional<linux_os::ProcessStatus> own_status() const override { return status; }
    bool may_read_memory(std::int32_t) const override { return memory_readable; }
    bool is_executable(const std::string& path) const override {
        return executables.contains(path);
    }
    std::string resolved(const std::string& path) const override { return path; }
    Result<std::unique_ptr<run::Helper>> start(const linux_os::HelperStart& start) override {
        if (!executables.contains(start.command.front())) {
            return std::unexpected(Error("start", start.command.front(), 2));
        }
        auto process = std::make_shared<FakeProcess>();
        process->pid = 9000 + static_cast<int>(helpers.size());
        process->command = start.command;
        helpers.push_back(process);
        if (at_start) {
            at_start(*process);
        }
        return std::make_unique<FakeHelper>(process);
    }
    void continue_process(const linux_os::ProcessId& process) override {
        continued.push_back(process.pid);
    }
    double seconds_since_start(const linux_os::ProcessId&) const override { return 3600; }
    std::int32_t own_pid() const override { return 4242; }
    run::Clock::time_point now() const override { return time; }
    std::chrono::nanoseconds cpu_time() const override {
        cpu += poll_cost;
        return cpu;
    }
    void pause(std::chrono::nanoseconds step) override { time += step; }

    TempFolder folder;
    std::set<int> jobs;
    std::set<std::string> executables = {"/bin/py-spy"};
    std::vector<std::shared_ptr<FakeProcess>> helpers;
    std::function<void(FakeProcess&)> at_start;
    std::vector<std::int32_t> continued;
    linux_os::ProcessStatus status = {
        .effective_user = 0U, .effective_capabilities = ~0ULL, .seccomp_mode = 0U};
    bool memory_readable = true;
    run::Clock::time_point time = run::Clock::time_point(std::chrono::hours(1));
    mutable std::chrono::nanoseconds cpu{0};
    std::chrono::nanoseconds poll_cost{0};

  private:
    static std::string name(int pid, const std::string& file) {
        return "proc/" + std::to_string(pid) + '/' + file;
    }

    linux_os::ProcFs proc_;
    std::map<int, int> parents_;
    std::map<int, int> stack_starts_;
};

}  // namespace mapdiag::test
