#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facts.h"

namespace mapdiag::diagnose {

/// Against whose limit the memory killer acted.
enum class Culprit : std::uint8_t {
    none,         ///< it took nobody of the job, or nobody could look
    own,          ///< the limit on the job's own group
    inner,        ///< the limit of a group that the job made below its own
    above,        ///< the limit of one group above
    machine,      ///< no limit: the machine had no memory left
    cannot_tell,  ///< several fit
};

/// The judgement about memory kills in the job's group.
struct MemoryVerdict {
    Culprit culprit = Culprit::none;
    const record::AncestorGroup* above = nullptr;  ///< for Culprit::above
    std::string why_not;                           ///< for Culprit::cannot_tell
};

/// Judges by the counters alone, as measured on v1 and v2 (docs/diagnosis.md has the table):
///   v2: the group whose *local* `oom` rose is the one whose limit was hit; the victims' group
///       counts `oom_kill` whoever did it.
///   v1: there is no `oom`; the group whose failcnt (or memsw.failcnt) rose hit its limit.
/// A kill for the whole machine raises `oom_kill` of the victim's group, too, and no `oom`.
MemoryVerdict judge_memory(const Facts& facts);

/// The readings behind it.
std::vector<Proof> memory_proofs(const Facts& facts, const MemoryVerdict& verdict);

}  // namespace mapdiag::diagnose
