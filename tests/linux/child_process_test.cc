#include "mapdiag/linux/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "mapdiag/linux/proc.h"
#include "support/catch.h"
#include "support/temp_folder.h"

using namespace std::chrono_literals;
using mapdiag::linux_os::ChildProcess;
using mapdiag::linux_os::HelperEnd;
using mapdiag::linux_os::HelperExited;
using mapdiag::linux_os::HelperKilled;
using mapdiag::linux_os::HelperStart;
using mapdiag::linux_os::ProcFs;

namespace {

ChildProcess shell(const std::string& script, std::size_t limit = 64U << 10) {
    auto started = ChildProcess::start({.command = {"sh", "-c", script},
                                        .environment = {"HELPER_VALUE=set"},
                                        .output_limit = limit});
    REQUIRE(started);
    return std::move(*started);
}

int exit_code(const ChildProcess& child) {
    REQUIRE(child.end());
    return std::get<HelperExited>(*child.end()).code;
}

int killed_by(const ChildProcess& child) {
    REQUIRE(child.end());
    return std::get<HelperKilled>(*child.end()).signal;
}

// A set of signals in /proc/PID/status.
unsigned long long signal_set(const std::string& status, const std::string& key) {
    const auto at = status.find(key);
    REQUIRE(at != std::string::npos);
    return std::stoull(status.substr(at + key.size(), 16), nullptr, 16);
}

}  // namespace

TEST_CASE("a helper's talk and status are taken") {
    auto child = shell("echo out; echo err >&2; echo $HELPER_VALUE; exit 7");
    REQUIRE(child.wait(20s));
    CHECK(exit_code(child) == 7);
    CHECK(child.output() == "out\nerr\nset\n");
    // It has been reaped: no zombie is left.
    CHECK(::waitpid(child.pid(), nullptr, WNOHANG) == -1);
}

TEST_CASE("a helper that is killed is told apart from one that exits") {
    auto child = shell("kill -9 $$");
    REQUIRE(child.wait(20s));
    CHECK(killed_by(child) == SIGKILL);
}

TEST_CASE("a helper has the default signals, no terminal session of ours and no input") {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const auto old = ::signal(SIGINT, SIG_IGN);
    auto child = shell(
        "grep -E '^Sig(Blk|Ign)' /proc/self/status; cat; ps -o sid= -p $$ | tr -d ' '; echo $$");
    ::signal(SIGINT, old);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    REQUIRE(child.wait(20s));
    const auto talk = child.output();
    CHECK(signal_set(talk, "SigBlk:\t") == 0);
    // The C library's own two (32 and 33) are set to ignored by posix_spawn itself.
    CHECK((signal_set(talk, "SigIgn:\t") & 0x7fffffff) == 0);
    const auto pid = std::to_string(child.pid());
    CHECK(talk.ends_with('\n' + pid + '\n' + pid + '\n'));
}

TEST_CASE("a helper gets no descriptor of ours") {
    // One that was not opened by our rules.
    const int stray = ::open("/dev/null", O_RDONLY);
    REQUIRE(stray > 2);
    auto child = shell("ls /proc/$$/fd | tr '\\n' ' '");
    ::close(stray);
    REQUIRE(child.wait(20s));
    // dash may keep its script's descriptors above 9; ours would be among 3 to 9.
    CHECK(child.output().starts_with("0 1 2 "));
    CHECK(child.output().find(' ' + std::to_string(stray) + ' ') == std::string::npos);
}

TEST_CASE("signals reach a helper, and waiting is bounded") {
    auto child = shell("trap 'echo got; exit 3' INT; echo ready; while :; do sleep 0.05; done");
    while (child.output() != "ready\n") {
        CHECK_FALSE(child.wait(10ms));
    }
    child.signal(SIGINT);
    REQUIRE(child.wait(20s));
    CHECK(exit_code(child) == 3);
    child.signal(SIGKILL);
    CHECK(exit_code(child) == 3);
}

TEST_CASE("much talk is cut in the middle and does not stop the helper") {
    auto child = shell(
        "echo first; i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i+1)); done; echo last",
        64);
    REQUIRE(child.wait(60s));
    CHECK(exit_code(child) == 0);
    CHECK(child.output().size() == 64);
    CHECK(child.output().starts_with("first\n"));
    CHECK(child.output().ends_with("\nlast\n"));
}

TEST_CASE("a program that is not there is an error with its errno") {
    const auto missing =
        ChildProcess::start({.command = {"/nonexistent/py-spy"}, .environment = {}});
    REQUIRE_FALSE(missing);
    CHECK(missing.error().errno_value() == ENOENT);
    const auto folder = ChildProcess::start({.command = {"/usr"}, .environment = {}});
    REQUIRE_FALSE(folder);
    CHECK(folder.error().errno_value() == EACCES);
    CHECK_FALSE(ChildProcess::start({}));
}

TEST_CASE("a forgotten helper is killed with its own children") {
    const ProcFs proc;
    mapdiag::linux_os::ProcessId helper;
    mapdiag::linux_os::ProcessId grandchild;
    {
        auto child = shell("sleep 100 & echo $!; wait");
        while (child.output().find('\n') == std::string::npos) {
            child.wait(10ms);
        }
        helper = *proc.id(child.pid());
        grandchild = *proc.id(std::stoi(child.output()));
        CHECK(proc.alive(grandchild));
    }
    CHECK_FALSE(proc.alive(helper));
    for (int round = 0; round < 1000 && proc.alive(grandchild); ++round) {
        std::this_thread::sleep_for(5ms);
    }
    CHECK_FALSE(proc.alive(grandchild));
}
