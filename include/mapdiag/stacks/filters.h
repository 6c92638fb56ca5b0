#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mapdiag/stacks/pattern.h"
#include "mapdiag/stacks/profile.h"
#include "mapdiag/support/error.h"

namespace mapdiag::stacks {

/// What to leave out of a profile. They work in this order: include, exclude, root, then the frames
/// of the stacks that are left: hide_startup, hide, merge_processes, collapse_recursion.
struct Filters {
    std::optional<Pattern> include;  ///< keeps stacks with a matching frame
    std::optional<Pattern> exclude;  ///< removes stacks with a matching frame
    std::optional<Pattern>
        root;  ///< begins stacks at the first matching frame, removes those without
    std::optional<Pattern> hide;      ///< drops matching frames; their samples go to the parent
    bool hide_startup = false;        ///< drops frames that only bring a program up
    bool merge_processes = false;     ///< drops process and thread ids: `process (python)`
    bool collapse_recursion = false;  ///< one frame where a function calls itself directly
};

/// Applies them and notes in `effects` what each one did. Fails where nothing is left.
Result<void> apply_filters(Profile& profile, const Filters& filters);

/// What a filter did, in a line for a person.
std::string describe(const FilterEffect& effect, const Profile& profile);

}  // namespace mapdiag::stacks
