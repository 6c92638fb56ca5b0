#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "mapdiag/diagnose/diagnose.h"
#include "record/builders.h"
#include "support/catch.h"

namespace mapdiag::test {

/// Findings of a record, after a look at what holds for every diagnosis: one cause and it comes
/// first, then advice, then warnings; every finding has an id of the table, a text of one line
/// without a number format gone wrong, and proofs.
inline std::vector<diagnose::Finding> judge(const record::RunRecord& record,
                                            std::span<const record::Sample> samples = {}) {
    auto findings = diagnose::diagnose(record, samples);
    REQUIRE_FALSE(findings.empty());
    REQUIRE(findings.front().kind == diagnose::FindingKind::cause);
    const auto table = diagnose::rules();
    auto last = diagnose::FindingKind::cause;
    int causes = 0;
    for (const auto& finding : findings) {
        INFO(finding.id << ": " << finding.text);
        REQUIRE(finding.kind >= last);
        last = finding.kind;
        causes += finding.kind == diagnose::FindingKind::cause ? 1 : 0;
        REQUIRE(std::ranges::find(table, finding.id, &diagnose::Rule::id) != table.end());
        REQUIRE_FALSE(finding.text.empty());
        REQUIRE(finding.text.find('\n') == std::string::npos);
        REQUIRE_FALSE(finding.label.empty());
        REQUIRE_FALSE(finding.proofs.empty());
        for (const auto& proof : finding.proofs) {
            REQUIRE_FALSE(proof.reading.empty());
            REQUIRE_FALSE(proof.value.empty());
        }
    }
    REQUIRE(causes == 1);
    return findings;
}

inline std::string cause_id(const record::RunRecord& record) {
    return std::string(judge(record).front().id);
}
inline std::string cause_text(const record::RunRecord& record) {
    return judge(record).front().text;
}
/// The text of a finding; empty where that rule did not hold.
inline std::string text_of(const std::vector<diagnose::Finding>& findings, std::string_view id) {
    const auto found = std::ranges::find(findings, id, &diagnose::Finding::id);
    return found == findings.end() ? std::string() : found->text;
}
inline std::string text_of(const record::RunRecord& record, std::string_view id) {
    return text_of(judge(record), id);
}
inline bool says(const record::RunRecord& record, std::string_view id) {
    return !text_of(record, id).empty();
}

}  // namespace mapdiag::test
