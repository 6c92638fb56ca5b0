#include "mapdiag/report/diag_lines.h"

#include <fmt/format.h>

#include "mapdiag/record/signal_names.h"
#include "mapdiag/report/profile_lines.h"
#include "mapdiag/support/text.h"
#include "mapdiag/support/units.h"
#include "memory_lines.h"
#include "run_words.h"

namespace mapdiag::report {
namespace {

using namespace record;

// Collects the lines of one run; each gets the entity in front.
class Lines {
  public:
    explicit Lines(const std::string& entity) : prefix_(fmt::format("[diag {}] ", entity)) {}

    // Whatever a text holds, a line stays one line.
    void add(std::string_view text) { lines_.push_back(prefix_ + printable(text)); }
    void add(std::string_view topic, std::string_view text) {
        add(fmt::format("{}: {}", topic, text));
    }
    void add_all(std::string_view topic, const std::vector<std::string>& texts) {
        for (const auto& text : texts) {
            add(topic, text);
        }
    }
    std::vector<std::string> take() { return std::move(lines_); }

  private:
    std::string prefix_;
    std::vector<std::string> lines_;
};

void add_findings(Lines& lines, std::span<const diagnose::Finding> findings,
                  diagnose::FindingKind kind) {
    for (const auto& finding : findings) {
        if (finding.kind == kind && !finding.plain) {
            lines.add(diagnose::finding_kind_name(kind), finding.text);
        }
    }
}

}  // namespace

std::vector<std::string> diag_lines(const RunRecord& record,
                                    std::span<const diagnose::Finding> findings) {
    using diagnose::FindingKind;
    Lines lines(record.entity);
    lines.add("exit", exit_text(record));
    if (std::holds_alternative<NotStarted>(record.ending)) {
        add_findings(lines, findings, FindingKind::warning);
        return lines.take();
    }
    lines.add("time", time_text(record));
    for (const auto& line : cgroup_lines(record)) {
        lines.add(line);
    }
    lines.add_all("memory", memory_lines(record));
    const auto profile = profile_lines(record.profile);
    lines.add_all("profile", profile.profile);
    for (const auto& dump : record.stack_dumps) {
        lines.add("profile", stack_dump_text(dump));
    }
    add_findings(lines, findings, FindingKind::cause);
    add_findings(lines, findings, FindingKind::advice);
    add_findings(lines, findings, FindingKind::warning);
    lines.add_all("warning", profile.warnings);
    return lines.take();
}

std::string wrapper_killed_line(std::string_view entity) {
    return fmt::format(
        "[diag {}] exit: mapdiag itself was killed and its watcher ended the job; the "
        "output is incomplete and must not be used",
        entity);
}

}  // namespace mapdiag::report
