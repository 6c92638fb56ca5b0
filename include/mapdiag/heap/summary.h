#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mapdiag/heap/load.h"
#include "mapdiag/heap/reach.h"

namespace mapdiag::heap {

enum class SummaryOrder { kSize, kCount, kRetained };

struct SummaryOptions {
    SummaryOrder order = SummaryOrder::kSize;
    std::optional<ObjectId> of;  ///< only what this object reaches
    WalkOptions walk;
};

/// One type's line.
struct SummaryRow {
    std::string kind;
    std::uint64_t count = 0;
    std::uint64_t size = 0;
    std::uint64_t largest = 0;
    std::uint64_t retained = 0;  ///< only with SummaryOrder::kRetained
};

/// Meliae's summary: what there is of each type. The rows, all of them, add up to the totals.
struct Summary {
    std::uint64_t objects = 0;
    std::uint64_t size = 0;
    bool has_retained = false;
    std::vector<SummaryRow> rows;
};

/// Without `of`, the excluded objects alone are left out; with it, what only they lead to as well.
Result<Summary> summarize(Heap& heap, const SummaryOptions& options);

/// Meliae's table, with a last row "[N others]" where there are more than `limit` types.
std::string summary_text(const Summary& summary, std::size_t limit);
std::string summary_json(const Summary& summary, std::size_t limit);

}  // namespace mapdiag::heap
