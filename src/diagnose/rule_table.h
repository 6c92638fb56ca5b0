#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "facts.h"

namespace mapdiag::diagnose {

/// A row of the table with what it does: gives the finding where the rule holds.
struct RuleRow {
    Rule rule;
    std::optional<Finding> (*apply)(const Facts& facts);
};

/// The rows by subject. Of the causes the first that holds is the cause of the run: they stand from
/// the surest and most special to the most general, and the last one always holds.
std::span<const RuleRow> start_and_end_rules();
std::span<const RuleRow> memory_cause_rules();
std::span<const RuleRow> signal_rules();
std::span<const RuleRow> exit_rules();
std::span<const RuleRow> memory_advice_rules();
std::span<const RuleRow> slow_rules();
std::span<const RuleRow> output_rules();

/// What most rules give: a text and its proofs. Id, kind and label come from the row.
inline Finding said(std::string text, std::vector<Proof> proofs) {
    Finding finding;
    finding.text = std::move(text);
    finding.proofs = std::move(proofs);
    return finding;
}

}  // namespace mapdiag::diagnose
