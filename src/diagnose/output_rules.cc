// What must be known before the run's output, log or figures are used.
#include <fmt/format.h>

#include <array>

#include "mapdiag/support/units.h"
#include "rule_table.h"

namespace mapdiag::diagnose {
namespace {

using namespace record;

std::optional<Finding> output_incomplete(const Facts& facts) {
    if (!facts.cut_short()) {
        return std::nullopt;
    }
    const bool hidden = facts.exit_code() == 0;
    return said(hidden
                    ? "the output may be incomplete and must not be used without a check: a worker "
                      "was killed, though the job exited with 0"
                    : "the output is incomplete and must not be used: the run was cut short",
                {proof_of_ending(facts.record())});
}

std::optional<Finding> output_missing(const Facts& facts) {
    const auto& file = facts.record().output_file;
    if (!file || file->exists) {
        return std::nullopt;
    }
    return said(facts.ended_well() ? "the output file is missing, though the job exited with 0"
                                   : "the output file is missing",
                {{"output file", "missing", "the file system"}});
}

std::optional<Finding> output_empty(const Facts& facts) {
    const auto& file = facts.record().output_file;
    if (!file || !file->exists || file->bytes != 0) {
        return std::nullopt;
    }
    return said("the output file is empty (0 bytes): it is incomplete and must not be used",
                {{"output file", "0 bytes", "the file system"}});
}

std::optional<Finding> output_old(const Facts& facts) {
    const auto& file = facts.record().output_file;
    if (!file || !file->exists || !file->older_than_start) {
        return std::nullopt;
    }
    return said("the output file is older than the start of the run: this run did not write it",
                {{"output file", "older than the start", "the file system"}});
}

std::optional<Finding> output_temporary(const Facts& facts) {
    const auto& file = facts.record().output_file;
    if (!file || !file->leftover_temporary) {
        return std::nullopt;
    }
    return said(
        "a .tmp file was left beside the output file: the output is incomplete and must not "
        "be used",
        {{"output file", "a .tmp file beside it", "the file system"}});
}

std::optional<Finding> log_cut(const Facts& facts) {
    const auto& log = facts.record().log;
    if (log.failure.empty() && log.lost_bytes == 0) {
        return std::nullopt;
    }
    const auto lost = log.lost_bytes == 0
                          ? std::string()
                          : fmt::format(" ({} are missing)", format_bytes(log.lost_bytes));
    return said(fmt::format("the log is incomplete{}: {}", lost,
                            log.failure.empty() ? "it could not be written" : log.failure),
                {{"log", fmt::format("{} bytes missing", log.lost_bytes), log.path}});
}

std::optional<Finding> output_lost(const Facts& facts) {
    const auto& record = facts.record();
    std::string text;
    const auto add = [&](const char* name, const OutputSide& side) {
        if (side.failure.empty() && side.lost_bytes == 0) {
            return;
        }
        text += text.empty() ? "" : "; ";
        text += fmt::format("{} of {} could not be passed on{}{}", format_bytes(side.lost_bytes),
                            name, side.failure.empty() ? "" : ": ", side.failure);
    };
    add("stdout", record.out);
    add("stderr", record.err);
    if (text.empty()) {
        return std::nullopt;
    }
    return said(std::move(text),
                {{"lost from stdout", std::to_string(record.out.lost_bytes) + " bytes", ""},
                 {"lost from stderr", std::to_string(record.err.lost_bytes) + " bytes", ""}});
}

std::optional<Finding> left_running(const Facts& facts) {
    const auto& leftovers = facts.record().leftovers;
    if (leftovers.empty()) {
        return std::nullopt;
    }
    constexpr std::size_t kMostNamed = 5;
    std::string named;
    bool holds = false;
    for (std::size_t i = 0; i < leftovers.size(); ++i) {
        holds = holds || leftovers[i].holds_output;
        if (i < kMostNamed) {
            named += fmt::format("{}{} ({}{}{})", i == 0 ? "" : ", ", leftovers[i].pid,
                                 leftovers[i].program, leftovers[i].stopped ? ", stopped" : "",
                                 leftovers[i].holds_output ? ", holds the output open" : "");
        }
    }
    if (leftovers.size() > kMostNamed) {
        named += fmt::format(" and {} more", leftovers.size() - kMostNamed);
    }
    return said(
        fmt::format("the job left {} running, not killed by mapdiag: {}{}",
                    counted(leftovers.size(), "process", "processes"), named,
                    holds ? "; what they still write to the job's output is not in the log" : ""),
        {{"processes left", std::to_string(leftovers.size()), "the job's cgroup or process tree"}});
}

std::optional<Finding> troubles(const Facts& facts) {
    const auto& all = facts.record().troubles;
    if (all.empty()) {
        return std::nullopt;
    }
    std::string text = "mapdiag's own work had trouble: " + all.front();
    for (std::size_t i = 1; i < all.size(); ++i) {
        text += "; " + all[i];
    }
    return said(std::move(text), {{"troubles", std::to_string(all.size()), "mapdiag"}});
}

constexpr std::array<RuleRow, 9> kRows = {{
    {{"output-incomplete", FindingKind::warning, "output incomplete",
      "a signal, a memory kill, a time limit, a missing end or a status of 128 and more ended the "
      "run"},
     output_incomplete},
    {{"output-missing", FindingKind::warning, "output missing",
      "the known output file does not exist"},
     output_missing},
    {{"output-empty", FindingKind::warning, "output empty", "the known output file has 0 bytes"},
     output_empty},
    {{"output-old", FindingKind::warning, "output old",
      "the known output file is older than the start"},
     output_old},
    {{"output-temporary", FindingKind::warning, "output unfinished",
      "a file with .tmp behind the known output file's name is there"},
     output_temporary},
    {{"log-incomplete", FindingKind::warning, "log incomplete", "not all output is in the log"},
     log_cut},
    {{"output-lost", FindingKind::warning, "output lost",
      "not all output could be passed on to mapdiag's own stdout and stderr"},
     output_lost},
    {{"left-running", FindingKind::warning, "left running",
      "processes of the job were alive after it"},
     left_running},
    {{"trouble", FindingKind::warning, "trouble", "something of mapdiag's own work failed"},
     troubles},
}};

}  // namespace

std::span<const RuleRow> output_rules() {
    return kRows;
}

}  // namespace mapdiag::diagnose
