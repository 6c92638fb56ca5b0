#include "trace_permission.h"

#include "mapdiag/support/text.h"

namespace mapdiag::run {
namespace {

constexpr std::uint64_t kSysPtrace = 1ULL << 19;  // CAP_SYS_PTRACE
constexpr std::uint32_t kSeccompFilter = 2;

}  // namespace

TraceFacts trace_facts(const ProfilerSystem& system, std::int32_t pid) {
    TraceFacts facts;
    if (const auto scope = system.proc().read("sys/kernel/yama/ptrace_scope")) {
        facts.yama_scope = static_cast<int>(find_u64(trim(*scope)).value_or(0));
    }
    const auto own = system.own_status();
    const auto target = system.proc().status(pid);
    if (own) {
        const auto rights = own->effective_capabilities.value_or(0);
        facts.capability = (rights & kSysPtrace) != 0;
        facts.filtered = own->seccomp_mode == kSeccompFilter;
        if (target) {
            facts.same_user = own->effective_user == target->real_user &&
                              own->effective_user == target->effective_user;
            facts.stronger = (target->effective_capabilities.value_or(0) & ~rights) != 0;
        }
    }
    // A process that has ended by now can't be read either, but nobody is refused.
    facts.memory_readable = !target || system.may_read_memory(pid);
    return facts;
}

// Documentation/admin-guide/LSM/Yama.rst: 1 ancestors only, 2 CAP_SYS_PTRACE only, 3 nobody.
// py-spy is mapdiag's child, so it is no ancestor of the job. In ptrace(2): "Ptrace access mode
// checking".
bool is_forbidden(const TraceFacts& facts) {
    if (facts.yama_scope >= 3) {
        return true;
    }
    return !facts.capability &&
           (facts.yama_scope > 0 || !facts.same_user || facts.stronger || !facts.memory_readable);
}

record::Denial explain_denial(const TraceFacts& facts) {
    using record::DenialCause;
    const auto because = [&](DenialCause cause) {
        return record::Denial{.cause = cause, .yama_scope = facts.yama_scope};
    };
    if (facts.yama_scope >= 3 || (facts.yama_scope > 0 && !facts.capability)) {
        return because(DenialCause::yama);
    }
    if (!facts.same_user && !facts.capability) {
        return because(DenialCause::other_user);
    }
    if (!facts.capability) {
        return because(DenialCause::capability);
    }
    return because(facts.filtered ? DenialCause::seccomp : DenialCause::unknown);
}

}  // namespace mapdiag::run
