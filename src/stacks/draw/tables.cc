#include "mapdiag/stacks/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "../wide.h"
#include "escape.h"
#include "mapdiag/support/text.h"

namespace mapdiag::stacks {
namespace {

constexpr std::size_t kBar = 12;
constexpr std::size_t kNarrowestLabel = 20;

std::uint64_t hundredths(Wide part, Weight whole) {
    return static_cast<std::uint64_t>((part * 20000 + whole) / (static_cast<Wide>(whole) * 2));
}

std::string percent(std::uint64_t hundredths) {
    return fmt::format("{}.{:02}", hundredths / 100, hundredths % 100);
}

std::string bar(Weight part, Weight whole) {
    const auto filled = static_cast<std::size_t>(
        std::lround(static_cast<double>(part) / static_cast<double>(whole) * kBar));
    std::string out;
    for (std::size_t i = 0; i < kBar; ++i) {
        out += i < filled ? "\u2588" : " ";
    }
    return out;
}

std::string painted(const std::string& text, std::string_view colour, bool wanted) {
    return wanted ? fmt::format("\x1b[{}m{}\x1b[0m", colour, text) : text;
}

/// Lines of right-aligned columns with a label at the end.
class Table {
  public:
    explicit Table(const TableOptions& options) : options_(options) {}

    struct Row {
        std::vector<std::string> cells;
        std::string bar;
        std::string label;
        std::string colour;
    };

    void add(Row row) { rows_.push_back(std::move(row)); }

    std::string text() const {
        std::vector<std::size_t> widths;
        for (const auto& row : rows_) {
            widths.resize(std::max(widths.size(), row.cells.size()));
            for (std::size_t i = 0; i < row.cells.size(); ++i) {
                widths[i] = std::max(widths[i], row.cells[i].size());
            }
        }
        std::string out;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            out += line(rows_[i], widths, i == 0);
        }
        return out;
    }

  private:
    std::string line(const Row& row, const std::vector<std::size_t>& widths, bool heading) const {
        std::string cells;
        for (std::size_t i = 0; i < widths.size(); ++i) {
            cells += fmt::format("{:>{}}  ", i < row.cells.size() ? row.cells[i] : "", widths[i]);
        }
        auto used = cells.size();
        std::string drawn;
        if (options_.bars) {
            drawn =
                row.bar.empty() ? std::string(kBar, ' ') : painted(row.bar, "33", options_.colour);
            drawn += "  ";
            used += kBar + 2;
        }
        auto label = printable(row.label);
        if (options_.width > 0) {
            label = fit_columns(label, std::max(options_.width, used + kNarrowestLabel) - used);
        }
        if (heading) {
            return painted(cells + drawn + label, "1", options_.colour) + '\n';
        }
        if (!row.colour.empty()) {
            cells = painted(cells, row.colour, options_.colour);
        }
        return cells + drawn + label + '\n';
    }

    const TableOptions& options_;
    std::vector<Row> rows_;
};

std::string seconds(Weight weight, const Profile& profile, double rate) {
    double value = static_cast<double>(weight) / rate;
    for (unsigned i = 0; i < profile.decimals; ++i) {
        value /= 10;
    }
    return fmt::format("{:.2f}", value);
}

class TopTable {
  public:
    TopTable(const Profile& profile, const RankOptions& ranked, const TableOptions& options)
        : profile_(profile), ranked_(ranked), options_(options), table_(options) {
        Table::Row heading{.cells = {"self %", "self"}, .label = std::string(name_of(ranked.by))};
        if (options.rate) {
            heading.cells.emplace_back("self s");
        }
        heading.cells.insert(heading.cells.end(), {"total %", "total"});
        if (options.rate) {
            heading.cells.emplace_back("total s");
        }
        table_.add(std::move(heading));
    }

    void add(const RankedRow& row) {
        // The difference of two rounded sums, so that the column adds up.
        const auto before = hundredths(self_so_far_, profile_.total);
        self_so_far_ += row.self;
        Table::Row line{.label = row.label};
        line.cells.push_back(percent(hundredths(self_so_far_, profile_.total) - before));
        line.cells.push_back(format_weight(row.self, profile_.decimals));
        if (options_.rate) {
            line.cells.push_back(seconds(row.self, profile_, *options_.rate));
        }
        line.cells.push_back(format_percent(row.total, profile_.total));
        line.cells.push_back(format_weight(row.total, profile_.decimals));
        if (options_.rate) {
            line.cells.push_back(seconds(row.total, profile_, *options_.rate));
        }
        line.bar = bar(ranked_.sort == SortBy::self ? row.self : row.total, profile_.total);
        table_.add(std::move(line));
    }

    std::string text() const { return table_.text(); }

  private:
    const Profile& profile_;
    const RankOptions& ranked_;
    const TableOptions& options_;
    Table table_;
    Wide self_so_far_ = 0;
};

std::string signed_count(Weight before, Weight after, unsigned decimals) {
    if (before == after) {
        return "0";
    }
    return (after > before ? "+" : "-") +
           format_weight(after > before ? after - before : before - after, decimals);
}

class DiffTable {
  public:
    DiffTable(const Comparison& comparison, const CompareOptions& compared,
              const TableOptions& options)
        : comparison_(comparison), compared_(compared), table_(options) {
        Table::Row heading{.label = std::string(name_of(compared.by))};
        heading.cells = compared.counts
                            ? std::vector<std::string>{"before", "after", "change", ""}
                            : std::vector<std::string>{"before %", "after %", "points", ""};
        table_.add(std::move(heading));
    }

    void add(const ComparedRow& row) {
        const bool self = compared_.sort == SortBy::self;
        add(row.label, self ? row.self_before : row.total_before,
            self ? row.self_after : row.total_after,
            row.is_new()    ? "new"
            : row.is_gone() ? "gone"
                            : "");
    }

    // Rows that stand for several frames have a sum only where the column is one of sums.
    void add_sum(const ComparedRow& row) {
        if (compared_.sort == SortBy::self) {
            add(row.label, row.self_before, row.self_after, "");
        } else {
            table_.add({.cells = {}, .label = row.label});
        }
    }

    std::string text() const { return table_.text(); }

  private:
    void add(const std::string& label, Weight before, Weight after, std::string mark) {
        Table::Row line{.label = label};
        if (compared_.counts) {
            line.cells = {format_weight(before, comparison_.decimals),
                          format_weight(after, comparison_.decimals),
                          signed_count(before, after, comparison_.decimals)};
        } else {
            line.cells = {
                format_percent(before, comparison_.total_before),
                format_percent(after, comparison_.total_after),
                format_change(before, comparison_.total_before, after, comparison_.total_after)};
        }
        line.colour = line.cells[2].starts_with('+')   ? "31"
                      : line.cells[2].starts_with('-') ? "32"
                                                       : "";
        line.cells.push_back(std::move(mark));
        table_.add(std::move(line));
    }

    const Comparison& comparison_;
    const CompareOptions& compared_;
    Table table_;
};

}  // namespace

std::string top_table(const Ranking& ranking, const Profile& profile, const RankOptions& ranked,
                      const TableOptions& options) {
    auto out = fmt::format("{} in {}\n", samples_text(profile.total, profile.decimals),
                           counted(profile.stack_count(), "stack"));
    for (const auto& effect : profile.effects) {
        out += describe(effect, profile) + '\n';
    }
    TopTable table(profile, ranked, options);
    for (const auto& row : ranking.rows) {
        table.add(row);
    }
    if (ranking.other_count > 0) {
        table.add(ranking.others);
    }
    return out + table.text();
}

std::string diff_table(const Comparison& comparison, const CompareOptions& compared,
                       const DiffNames& names, const TableOptions& options) {
    auto out = fmt::format(
        "before: {} in {}\nafter:  {} in {}\n",
        samples_text(comparison.total_before, comparison.decimals), printable(names.before),
        samples_text(comparison.total_after, comparison.decimals), printable(names.after));
    for (const auto& filter : names.filters) {
        out += filter + '\n';
    }
    out += fmt::format("{} {} by {}, {}\n", name_of(compared.sort),
                       compared.counts ? "counts" : "shares", name_of(compared.by),
                       comparison.rows.empty() ? "no change" : "largest change first");
    DiffTable table(comparison, compared, options);
    for (const auto& row : comparison.rows) {
        table.add(row);
    }
    if (comparison.other_count > 0) {
        table.add_sum(comparison.others);
    }
    if (comparison.unchanged_count > 0) {
        table.add_sum(comparison.unchanged);
    }
    return out + table.text();
}

}  // namespace mapdiag::stacks
