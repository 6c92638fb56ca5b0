#pragma once

#include "app.h"

namespace mapdiag::cli {

/// `mapdiag report DIR [--json]`
void add_report_command(CLI::App& app, Action& chosen);
/// `mapdiag explain E.diag.jsonl`
void add_explain_command(CLI::App& app, Action& chosen);

}  // namespace mapdiag::cli
