#pragma once

#include <string>
#include <vector>

#include "mapdiag/record/profile.h"

namespace mapdiag::report {

/// What the diag lines say of the profile: each text stands behind "profile: " or "warning: ".
struct ProfileLines {
    std::vector<std::string> profile;
    std::vector<std::string> warnings;
};

/// One line a fact, with the remedy where there is one. Nothing where profiling was off.
ProfileLines profile_lines(const record::ProfileRecord& profile);

}  // namespace mapdiag::report
