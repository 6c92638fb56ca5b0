#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mapdiag/record/record.h"

namespace mapdiag::diagnose {

enum class FindingKind : std::uint8_t {
    cause,    ///< how the run ended; exactly one in every diagnosis
    advice,   ///< a concrete next step
    warning,  ///< something to know before the results or the figures are trusted
};

/// "cause", "advice", "warning".
const char* finding_kind_name(FindingKind kind);

/// One reading that proves a finding.
struct Proof {
    std::string reading;  ///< "memory kills in the job's own cgroup"
    std::string value;    ///< "1", or "not available, because ..."
    std::string source;   ///< "memory.events of the job's own cgroup"; empty where there is none
};

/// A statement that follows from the record by one rule.
struct Finding {
    std::string_view id;  ///< stable, from the table in docs/diagnosis.md: "memory-own-limit"
    FindingKind kind = FindingKind::cause;
    std::string_view label;  ///< two to four words for a table: "own memory limit"
    std::string text;        ///< one line for a person
    std::vector<Proof> proofs;
    /// Says no more than how the run ended by itself (a plain exit 0): no line of its own is
    /// needed.
    bool plain = false;
};

/// All findings of a run: the cause first, then advice, then warnings, each in the order of the
/// table. A pure function of what was observed. `samples` may be empty: the rules about growth over
/// time then say nothing.
std::vector<Finding> diagnose(const record::RunRecord& record,
                              std::span<const record::Sample> samples = {});

/// One row of the table of rules.
struct Rule {
    std::string_view id;
    FindingKind kind;
    std::string_view label;
    /// What the record must show, in one sentence; also in docs/diagnosis.md.
    std::string_view when;
};

/// Every rule, in order. docs/diagnosis.md is tested against it.
std::vector<Rule> rules();

}  // namespace mapdiag::diagnose
