#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mapdiag/run/profiler_system.h"
#include "mapdiag/run/stack_dump.h"

namespace mapdiag::run {

/// A Python whose stacks are wanted.
struct DumpTarget {
    std::int32_t pid = 0;
    std::string program;
};

/// What py-spy dump printed, with the command line in its first lines replaced by the program's
/// name; nothing where it is no dump.
std::optional<std::string> read_dump(std::string_view printed, const DumpTarget& target);

/// Has `py-spy dump` print the stacks of some Pythons, all at once, and writes one file of them. It
/// prints names of functions and files, never values (no --locals). A py-spy that is recording
/// holds the process now and then, so a dump that was refused is tried again, at last without
/// stopping the process.
class StackDump {
  public:
    StackDump(std::string py_spy, std::vector<DumpTarget> targets, std::string path,
              Clock::time_point now);

    /// Starts, watches and gathers. Never waits. Gives the outcome once, when all is over.
    std::optional<DumpOutcome> poll(Clock::time_point now, ProfilerSystem& system);
    bool owns(std::int32_t pid) const;

  private:
    struct Job {
        DumpTarget target;
        std::unique_ptr<Helper> helper;
        unsigned attempts = 0;
        std::string text;
        std::string failure;
        bool over = false;
    };
    void start(Job& job, ProfilerSystem& system) const;
    void take(Job& job, ProfilerSystem& system) const;
    DumpOutcome write() const;

    std::string py_spy_;
    std::string path_;
    Clock::time_point deadline_;
    std::vector<Job> jobs_;
};

}  // namespace mapdiag::run
