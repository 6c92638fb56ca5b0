#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mapdiag/record/record.h"
#include "mapdiag/run/containment.h"
#include "mapdiag/run/entity_name.h"
#include "mapdiag/support/error.h"

namespace mapdiag::run {

/// What the command line of `mapdiag run` says, apart from the profiler's own options.
struct RunOptions {
    std::vector<std::string> command;
    std::optional<std::string> entity;
    std::optional<std::string> log_dir;
    bool no_log = false;
    bool quiet = false;
    std::optional<std::string> placement;
    ContainmentOptions containment;
    std::optional<std::string> last_gasp;
    bool own_profiler = true;  ///< false with --profiler none
    bool profile = false;      ///< --profile: on whatever the environment says
    bool no_profile = false;   ///< --no-profile: off, wins
};

/// How much of mapdiag takes part in a run.
enum class Mode : std::uint8_t {
    off,  ///< the command replaces mapdiag
    /// off, but --log-dir asked for the log, or a limit was asked for: mapdiag stays and holds it.
    log_only,
    on,
};

/// What is going to be done.
struct RunPlan {
    Mode mode = Mode::off;
    std::vector<std::string> command;
    EntityName entity;
    std::string log_dir;
    bool write_log = false;
    bool quiet = false;
    /// The only placement that may be used; nothing: the best that can be had.
    std::optional<record::Placement> placement;
    Containment containment;
    /// Use of the memory limit at which the stacks are written down, 0 to 1; nothing: never.
    std::optional<double> last_gasp_share;
    /// What the command's own `py-spy record`, which is not in `command` any more, asked for.
    std::optional<record::ProfilerSettings> taken_over;
    /// Its --output: where the profile goes in place of the log folder.
    std::optional<std::string> profile_path;
    /// Why the command's own `py-spy record` stays as it is; mapdiag does not profile then.
    std::optional<std::string> left_as_it_is;
    /// Said once on stderr before the job starts: an unknown value of DM_MAP_PROFILE.
    std::optional<std::string> warning;

    std::string file(std::string_view ending) const {
        return log_dir + '/' + entity.stem + std::string(ending);
    }
    std::string log_path() const { return file(".log"); }
    std::string journal_path() const { return file(".diag.jsonl"); }
    std::string folded_path() const { return profile_path.value_or(file(".folded")); }
};

/// Looks an environment variable up; nothing where it is not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;

/// true/1/yes/on and false/0/no/off in any case, and empty for off; nothing for any other word.
std::optional<bool> find_switch(std::string_view text);

/// The words for --placement: "v2", "v1", "shared", "tree", "none".
std::optional<record::Placement> find_placement_word(std::string_view word);

/// The value of `--entity NAME` or `--entity=NAME` in a wrapped command.
std::optional<std::string> find_entity_argument(const std::vector<std::string>& command);

/// Decides what is done. An error is a wrong use (exit status 2).
Result<RunPlan> plan_run(const RunOptions& options, const Environment& environment);

}  // namespace mapdiag::run
