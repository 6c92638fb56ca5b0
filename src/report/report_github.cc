// What GitHub Actions shows: a Markdown table in the summary of the job, and annotations.
#include <fmt/format.h>

#include <filesystem>

#include "mapdiag/report/run_report.h"
#include "mapdiag/support/fd.h"
#include "report_row.h"

namespace mapdiag::report {
namespace {

/// GitHub refuses a step's summary that is larger.
constexpr std::size_t kLargestSummary = std::size_t{1} << 20;

// Markdown and HTML have no meaning in a cell: names come from the user's data.
std::string markdown_escaped(std::string_view text) {
    constexpr std::string_view kSpecial = "\\`*_{}[]()#+-.!|~@";
    std::string out;
    for (const char c : text) {
        if (c == '<') {
            out += "&lt;";
        } else if (c == '>') {
            out += "&gt;";
        } else if (c == '&') {
            out += "&amp;";
        } else {
            if (kSpecial.find(c) != std::string_view::npos) {
                out += '\\';
            }
            out += c;
        }
    }
    return out;
}

std::string markdown_row(const Row& row) {
    std::string line = "|";
    for (const auto& cell : row) {
        line += ' ' + markdown_escaped(cell) + " |";
    }
    return line + '\n';
}

// https://docs.github.com/actions: the parts of a workflow command are percent-encoded.
std::string command_escaped(std::string_view text, bool is_property) {
    std::string out;
    for (const char c : text) {
        if (c == '%') {
            out += "%25";
        } else if (c == '\r') {
            out += "%0D";
        } else if (c == '\n') {
            out += "%0A";
        } else if (is_property && c == ':') {
            out += "%3A";
        } else if (is_property && c == ',') {
            out += "%2C";
        } else {
            out += c;
        }
    }
    return out;
}

}  // namespace

std::string report_markdown(const Report& report, std::size_t room) {
    std::string head =
        "### mapdiag\n\n" + markdown_row(header_row()) + "|---|---|---:|---:|---:|---:|---:|---|\n";
    const auto overlap = overlap_text(report.overlap, report.runs.size());
    const std::string tail = overlap.empty() ? "\n" : '\n' + markdown_escaped(overlap) + '\n';
    constexpr std::size_t kLastRow = 64;
    if (head.size() + tail.size() + kLastRow > room) {
        return {};
    }
    auto out = std::move(head);
    std::size_t shown = 0;
    for (const auto& run : report.runs) {
        const auto row = markdown_row(row_of(run));
        if (out.size() + row.size() + tail.size() + kLastRow > room) {
            break;
        }
        out += row;
        ++shown;
    }
    if (shown < report.runs.size()) {
        out += fmt::format("| \\[{} more\\] | | | | | | | |\n", report.runs.size() - shown);
    }
    return out + tail;
}

std::string report_annotations(const Report& report) {
    std::string out;
    for (const auto& run : report.runs) {
        if (!run.failed()) {
            continue;
        }
        const auto& name = run.unreadable.empty() ? run.journal.record.entity : run.path;
        const auto& text = run.unreadable.empty() ? run.findings.front().text : run.unreadable;
        out += fmt::format("::error title={}::{}\n", command_escaped("mapdiag: " + name, true),
                           command_escaped(text, false));
    }
    return out;
}

Result<void> append_step_summary(const Report& report, const std::string& path) {
    std::error_code ignored;
    const auto used = std::filesystem::file_size(path, ignored);
    const auto size = ignored ? std::size_t{0} : static_cast<std::size_t>(used);
    const auto text = report_markdown(report, size < kLargestSummary ? kLargestSummary - size : 0);
    if (text.empty()) {
        return std::unexpected(
            Error::because("append to", path, "its 1 MiB for the step's summary is used up"));
    }
    return append_to_file(path, text);
}

}  // namespace mapdiag::report
