#include "mapdiag/record/profile.h"

#include <array>
#include <cstddef>

namespace mapdiag::record {
namespace {

// In the order of the enumerators.
constexpr std::array kStates = {"off", "written", "not found", "no python", "empty", "not written"};
constexpr std::array kOutcomes = {
    "attached",       "sampled",   "no samples",   "denied", "unsupported python",
    "no interpreter", "too short", "cannot start", "died",   "hung",
    "failed",         "over limit"};
constexpr std::array kCauses = {"none", "yama", "capability", "other user", "seccomp", "unknown"};
constexpr std::array kSources = {"option", "variable", "search path", "interpreter", "uv", "uvx"};

static_assert(kStates.size() == static_cast<std::size_t>(ProfileState::not_written) + 1);
static_assert(kOutcomes.size() == static_cast<std::size_t>(ProfileOutcome::over_limit) + 1);
static_assert(kCauses.size() == static_cast<std::size_t>(DenialCause::unknown) + 1);
static_assert(kSources.size() == static_cast<std::size_t>(ProfilerSource::uvx) + 1);

template <class Enum, class Names>
std::optional<Enum> find_in(const Names& names, std::string_view name) {
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (name == names[i]) {
            return static_cast<Enum>(i);
        }
    }
    return std::nullopt;
}

}  // namespace

const char* profile_state_name(ProfileState state) {
    return kStates[static_cast<std::size_t>(state)];
}
const char* profile_outcome_name(ProfileOutcome outcome) {
    return kOutcomes[static_cast<std::size_t>(outcome)];
}
const char* denial_cause_name(DenialCause cause) {
    return kCauses[static_cast<std::size_t>(cause)];
}
const char* profiler_source_name(ProfilerSource source) {
    return kSources[static_cast<std::size_t>(source)];
}

std::optional<ProfileState> find_profile_state(std::string_view name) {
    return find_in<ProfileState>(kStates, name);
}
std::optional<ProfileOutcome> find_profile_outcome(std::string_view name) {
    return find_in<ProfileOutcome>(kOutcomes, name);
}
std::optional<DenialCause> find_denial_cause(std::string_view name) {
    return find_in<DenialCause>(kCauses, name);
}
std::optional<ProfilerSource> find_profiler_source(std::string_view name) {
    return find_in<ProfilerSource>(kSources, name);
}

}  // namespace mapdiag::record
