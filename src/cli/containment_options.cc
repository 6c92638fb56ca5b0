#include "containment_options.h"

namespace mapdiag::cli {

void add_containment_options(CLI::App& run, run::RunOptions& options) {
    const auto* group = "Limits (they hold whether DM_MAP_PROFILE is on or off)";
    auto& limits = options.containment;
    run.add_option("--memory-limit", limits.memory_limit,
                   "Memory that the job may use, without swap: a size (2G), a share of the limit "
                   "that is there or else of the machine (50%), or auto, a little under what is "
                   "left")
        ->type_name("SIZE|PCT%|auto")
        ->group(group);
    auto* time = run.add_option("--time-limit", limits.time_limit,
                                "Ends the job after that long (30, 1.5s, 2m, 1h): its stacks are "
                                "written down, then SIGTERM; the exit status is 124")
                     ->type_name("TIME")
                     ->group(group);
    run.add_option("--kill-after", limits.kill_after,
                   "How long after SIGTERM everything in the job's group gets SIGKILL; 10 s unless "
                   "given")
        ->type_name("TIME")
        ->needs(time)
        ->group(group);
    run.add_option("--cpu-limit", limits.cpu_limit, "Cores that the job may use (2, 0.5)")
        ->type_name("CORES")
        ->group(group);
    run.add_option("--last-gasp", options.last_gasp,
                   "Share of the memory limit at which the job's stacks are written down once, "
                   "before a kill; 90 unless given, 0 for never")
        ->type_name("PCT")
        ->group(group);
}

}  // namespace mapdiag::cli
