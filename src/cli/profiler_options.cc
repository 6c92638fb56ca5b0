#include "profiler_options.h"

#include <string>

namespace mapdiag::cli {
namespace {

constexpr const char* kPySpy = "py-spy";

}  // namespace

void add_profiler_options(CLI::App& run, ProfilerFlags& flags) {
    const auto* group = "Profiler";
    run.add_option_function<std::string>(
           "--profiler", [&flags](const std::string& name) { flags.on = name == kPySpy; },
           "py-spy (default), or none to measure without a profile")
        ->check(CLI::IsMember({kPySpy, "none"}))
        ->type_name("NAME")
        ->group(group);
    run.add_option("--py-spy", flags.py_spy,
                   "The py-spy to use; else $MAPDIAG_PYSPY, the one in PATH, the one beside the "
                   "job's Python, or the one that uv provides")
        ->type_name("PATH")
        ->group(group);
    run.add_option("--rate", flags.settings.rate,
                   "Samples a second. py-spy costs 5 to 8 % of the job's time at 120 a second, "
                   "under 3 % at 20 a second")
        ->check(CLI::Range(1U, 1000U))
        ->each([&flags](const std::string&) { flags.rate_given = true; })
        ->capture_default_str()
        ->group(group);
    auto* idle = run.add_flag_callback(
                        "--idle", [&flags] { flags.settings.idle = flags.idle_given = true; },
                        "Count waiting threads too: the profile shows wall clock time (default)")
                     ->group(group);
    run.add_flag_callback(
           "--cpu",
           [&flags] {
               flags.settings.idle = false;
               flags.idle_given = true;
           },
           "Count busy threads only: the profile shows where the processor's time went")
        ->excludes(idle)
        ->group(group);
    run.add_flag("--subprocesses", flags.settings.subprocesses,
                 "Profile also the Pythons that a profiled Python starts, each below a frame with "
                 "its process")
        ->group(group);
    auto* native = run.add_flag("--native", flags.settings.native,
                                "Show frames of extension modules (C, C++, Rust) too; costs more")
                       ->group(group);
    run.add_flag("--nonblocking", flags.settings.nonblocking,
                 "Never stop the job to look at it: costs less, but some samples are wrong or fail")
        ->excludes(native)
        ->group(group);
}

record::ProfilerSettings settings_with(const ProfilerFlags& flags,
                                       const record::ProfilerSettings& taken_over) {
    auto settings = flags.settings;
    settings.rate = flags.rate_given ? settings.rate : taken_over.rate;
    settings.idle = flags.idle_given ? settings.idle : taken_over.idle;
    settings.subprocesses = settings.subprocesses || taken_over.subprocesses;
    settings.native = settings.native || taken_over.native;
    settings.nonblocking = settings.nonblocking || taken_over.nonblocking;
    return settings;
}

}  // namespace mapdiag::cli
