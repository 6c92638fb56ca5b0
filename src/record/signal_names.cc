#include "mapdiag/record/signal_names.h"

#include <array>
#include <csignal>
#include <utility>

namespace mapdiag::record {
namespace {

constexpr std::array<std::pair<int, const char*>, 31> kNames = {{
    {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},       {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
    {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"},     {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
    {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"},     {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
    {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"},     {SIGTERM, "SIGTERM"}, {SIGSTKFLT, "SIGSTKFLT"},
    {SIGCHLD, "SIGCHLD"}, {SIGCONT, "SIGCONT"},     {SIGSTOP, "SIGSTOP"}, {SIGTSTP, "SIGTSTP"},
    {SIGTTIN, "SIGTTIN"}, {SIGTTOU, "SIGTTOU"},     {SIGURG, "SIGURG"},   {SIGXCPU, "SIGXCPU"},
    {SIGXFSZ, "SIGXFSZ"}, {SIGVTALRM, "SIGVTALRM"}, {SIGPROF, "SIGPROF"}, {SIGWINCH, "SIGWINCH"},
    {SIGIO, "SIGIO"},     {SIGPWR, "SIGPWR"},       {SIGSYS, "SIGSYS"},
}};

// The kernel's first real-time signal is 32; the C library keeps two for itself and counts from 34.
constexpr int kFirstRealTime = 34;
constexpr int kLastRealTime = 64;

}  // namespace

std::string signal_name(int signal) {
    for (const auto& [number, name] : kNames) {
        if (number == signal) {
            return name;
        }
    }
    if (signal == kFirstRealTime) {
        return "SIGRTMIN";
    }
    if (signal > kFirstRealTime && signal <= kLastRealTime) {
        return "SIGRTMIN+" + std::to_string(signal - kFirstRealTime);
    }
    return "signal " + std::to_string(signal);
}

std::string signal_with_number(int signal) {
    const auto name = signal_name(signal);
    return name.starts_with("signal ") ? name : name + " (signal " + std::to_string(signal) + ")";
}

}  // namespace mapdiag::record
