#include "mapdiag/record/profile.h"

#include "names.h"

namespace mapdiag::record {
namespace {

constexpr NameTable<ProfileState, 6> kStates = {{
    {ProfileState::off, "off"},
    {ProfileState::written, "written"},
    {ProfileState::not_found, "not_found"},
    {ProfileState::no_python, "no_python"},
    {ProfileState::empty, "empty"},
    {ProfileState::not_written, "not_written"},
}};

constexpr NameTable<ProfileOutcome, 12> kOutcomes = {{
    {ProfileOutcome::attached, "attached"},
    {ProfileOutcome::sampled, "sampled"},
    {ProfileOutcome::no_samples, "no_samples"},
    {ProfileOutcome::denied, "denied"},
    {ProfileOutcome::unsupported_python, "unsupported_python"},
    {ProfileOutcome::no_interpreter, "no_interpreter"},
    {ProfileOutcome::too_short, "too_short"},
    {ProfileOutcome::cannot_start, "cannot_start"},
    {ProfileOutcome::died, "died"},
    {ProfileOutcome::hung, "hung"},
    {ProfileOutcome::failed, "failed"},
    {ProfileOutcome::over_limit, "over_limit"},
}};

constexpr NameTable<DenialCause, 6> kCauses = {{
    {DenialCause::none, "none"},
    {DenialCause::yama, "yama"},
    {DenialCause::capability, "capability"},
    {DenialCause::other_user, "other_user"},
    {DenialCause::seccomp, "seccomp"},
    {DenialCause::unknown, "unknown"},
}};

constexpr NameTable<ProfilerSource, 6> kSources = {{
    {ProfilerSource::option, "option"},
    {ProfilerSource::variable, "variable"},
    {ProfilerSource::search_path, "search_path"},
    {ProfilerSource::interpreter, "interpreter"},
    {ProfilerSource::uv, "uv"},
    {ProfilerSource::uvx, "uvx"},
}};

}  // namespace

const char* profile_state_name(ProfileState state) {
    return name_in(kStates, state);
}
const char* profile_outcome_name(ProfileOutcome outcome) {
    return name_in(kOutcomes, outcome);
}
const char* denial_cause_name(DenialCause cause) {
    return name_in(kCauses, cause);
}
const char* profiler_source_name(ProfilerSource source) {
    return name_in(kSources, source);
}
std::optional<ProfileState> find_profile_state(std::string_view name) {
    return find_in(kStates, name);
}
std::optional<ProfileOutcome> find_profile_outcome(std::string_view name) {
    return find_in(kOutcomes, name);
}
std::optional<DenialCause> find_denial_cause(std::string_view name) {
    return find_in(kCauses, name);
}
std::optional<ProfilerSource> find_profiler_source(std::string_view name) {
    return find_in(kSources, name);
}

}  // namespace mapdiag::record
