#include "mapdiag/run/profiler_system.h"

#include <signal.h>

#include <filesystem>
#include <system_error>
#include <thread>

#include "mapdiag/linux/clocks.h"

namespace mapdiag::run {
namespace {

class RealHelper final : public Helper {
  public:
    explicit RealHelper(linux_os::ChildProcess process) : process_(std::move(process)) {}
    std::int32_t pid() const override { return process_.pid(); }
    void poll() override { process_.poll(); }
    std::optional<linux_os::HelperEnd> end() const override { return process_.end(); }
    std::string output() const override { return process_.output(); }
    void signal(int number) override { process_.signal(number); }
    void signal_group(int number) override { process_.signal_group(number); }

  private:
    linux_os::ChildProcess process_;
};

class RealSystem final : public ProfilerSystem {
  public:
    const linux_os::ProcFs& proc() const override { return proc_; }
    std::optional<linux_os::ProcessStatus> own_status() const override {
        return proc_.status(linux_os::own_pid());
    }
    bool may_read_memory(std::int32_t pid) const override { return linux_os::may_read_memory(pid); }
    bool is_executable(const std::string& path) const override {
        return linux_os::is_executable_file(path);
    }
    std::string resolved(const std::string& path) const override {
        std::error_code failed;
        const auto target = std::filesystem::canonical(path, failed);
        return failed ? path : target.string();
    }
    Result<std::unique_ptr<Helper>> start(const linux_os::HelperStart& start) override {
        auto process = linux_os::ChildProcess::start(start);
        if (!process) {
            return std::unexpected(process.error());
        }
        return std::make_unique<RealHelper>(std::move(*process));
    }
    void continue_process(const linux_os::ProcessId& process) override {
        linux_os::send_signal(process, SIGCONT);
    }
    double seconds_since_start(const linux_os::ProcessId& process) const override {
        return linux_os::seconds_since_start(process);
    }
    std::int32_t own_pid() const override { return linux_os::own_pid(); }
    Clock::time_point now() const override { return Clock::now(); }
    std::chrono::nanoseconds cpu_time() const override { return linux_os::thread_cpu_time(); }
    void pause(std::chrono::nanoseconds time) override { std::this_thread::sleep_for(time); }

  private:
    linux_os::ProcFs proc_;
};

}  // namespace

std::unique_ptr<ProfilerSystem> make_profiler_system() {
    return std::make_unique<RealSystem>();
}

}  // namespace mapdiag::run
