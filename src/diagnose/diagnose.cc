#include "mapdiag/diagnose/diagnose.h"

#include <array>

#include "rule_table.h"

namespace mapdiag::diagnose {
namespace {

constexpr std::array kSubjects = {start_and_end_rules, memory_cause_rules, signal_rules, exit_rules,
                                  memory_advice_rules, slow_rules,         output_rules};

template <class Each>
void for_each_row(FindingKind kind, Each each) {
    for (const auto subject : kSubjects) {
        for (const auto& row : subject()) {
            if (row.rule.kind == kind) {
                each(row);
            }
        }
    }
}

std::optional<Finding> apply(const RuleRow& row, const Facts& facts) {
    auto finding = row.apply(facts);
    if (finding) {
        finding->id = row.rule.id;
        finding->kind = row.rule.kind;
        finding->label = row.rule.label;
    }
    return finding;
}

}  // namespace

const char* finding_kind_name(FindingKind kind) {
    switch (kind) {
        case FindingKind::cause:
            return "cause";
        case FindingKind::advice:
            return "advice";
        case FindingKind::warning:
            break;
    }
    return "warning";
}

std::vector<Finding> diagnose(const record::RunRecord& record,
                              std::span<const record::Sample> samples) {
    const Facts facts(record, samples);
    std::vector<Finding> findings;
    for_each_row(FindingKind::cause, [&](const RuleRow& row) {
        if (findings.empty()) {
            if (auto finding = apply(row, facts)) {
                findings.push_back(std::move(*finding));
            }
        }
    });
    for (const auto kind : {FindingKind::advice, FindingKind::warning}) {
        for_each_row(kind, [&](const RuleRow& row) {
            if (auto finding = apply(row, facts)) {
                findings.push_back(std::move(*finding));
            }
        });
    }
    return findings;
}

std::vector<Rule> rules() {
    std::vector<Rule> all;
    for (const auto kind : {FindingKind::cause, FindingKind::advice, FindingKind::warning}) {
        for_each_row(kind, [&](const RuleRow& row) { all.push_back(row.rule); });
    }
    return all;
}

}  // namespace mapdiag::diagnose
