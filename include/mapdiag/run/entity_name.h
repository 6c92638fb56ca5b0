#pragma once

#include <string>
#include <string_view>

namespace mapdiag::run {

/// The name under which a run's files are kept.
struct EntityName {
    std::string display;  ///< for a person: control characters made visible
    /// For file names: no '/', no control character, no leading '.', not too long. Two different
    /// names never have the same stem.
    std::string stem;
};

EntityName make_entity_name(std::string_view name);

}  // namespace mapdiag::run
