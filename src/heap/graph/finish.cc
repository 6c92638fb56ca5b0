// The last steps of a graph: referrers, and totals by type.
#include <algorithm>

#include "heap/graph/assemble.h"
#include "heap/graph/referrers.h"
#include "mapdiag/heap/messages.h"
#include "mapdiag/support/parallel.h"

namespace mapdiag::heap {
namespace {

constexpr std::size_t kMaxParts = 16;

struct Totals {
    std::vector<TypeTotals> types;
    bool fits = true;
};

Totals totals_of(const GraphColumns& columns, IndexRange ids, std::size_t type_count) {
    Totals totals{.types = std::vector<TypeTotals>(type_count)};
    for (auto id = ids.begin; id < ids.end; ++id) {
        const auto type = columns.type[id];
        if (!type) {
            continue;
        }
        auto& of_type = totals.types[type.value];
        const auto size = columns.size[id];
        ++of_type.count;
        totals.fits = totals.fits && !__builtin_add_overflow(of_type.size, size, &of_type.size);
        if (!of_type.largest_object || size > of_type.largest) {
            of_type.largest = size;
            of_type.largest_object = {static_cast<std::uint32_t>(id)};
        }
    }
    return totals;
}

bool add_totals(const Totals& part, Totals& into) {
    bool fits = part.fits;
    for (std::size_t type = 0; type < into.types.size(); ++type) {
        const auto& from = part.types[type];
        auto& to = into.types[type];
        to.count += from.count;
        fits = fits && !__builtin_add_overflow(to.size, from.size, &to.size);
        if (from.largest_object && (!to.largest_object || from.largest > to.largest)) {
            to.largest = from.largest;
            to.largest_object = from.largest_object;
        }
    }
    return fits;
}

// By type, TypeId 0 included and empty.
bool add_type_totals(Draft& draft) {
    const auto end = draft.facts.line_objects + 1;
    const std::size_t type_count = draft.types.size() + 1ULL;
    const auto parts = std::clamp<std::size_t>(end / (type_count * 64), 1, kMaxParts);
    std::vector<Totals> found(parts);
    in_parallel(parts, [&](std::size_t part) {
        found[part] = totals_of(draft.columns, part_of(end, part, parts), type_count);
    });
    bool fits = found[0].fits;
    for (std::size_t part = 1; part < parts; ++part) {
        fits = add_totals(found[part], found[0]) && fits;
    }
    BigArray<TypeTotals> totals(type_count);
    std::ranges::copy(found[0].types, totals.begin());
    for (const auto& of_type : totals) {
        draft.facts.objects += of_type.count;
        fits = fits && !__builtin_add_overflow(draft.facts.size, of_type.size, &draft.facts.size);
    }
    draft.columns.type_totals = Column(std::move(totals));
    return fits;
}

void add_strings(const StringPool& pool, Column<std::uint64_t>& starts, Column<char>& bytes) {
    BigArray<std::uint64_t> own_starts(pool.starts().size());
    std::ranges::copy(pool.starts(), own_starts.begin());
    starts = Column(std::move(own_starts));
    BigArray<char> own_bytes(pool.bytes().size());
    std::ranges::copy(pool.bytes(), own_bytes.begin());
    bytes = Column(std::move(own_bytes));
}

}  // namespace

Result<Graph> finish(Draft draft, const std::string& shown) {
    if (!add_type_totals(draft)) {
        return std::unexpected(sizes_overflow(shown));
    }
    auto& columns = draft.columns;
    const auto targets =
        static_cast<std::uint32_t>(draft.facts.line_objects + 1 + draft.facts.missing);
    auto parents = referrers_of(columns.child_start, columns.children, targets);
    columns.parent_start = std::move(parents.starts);
    columns.parents = std::move(parents.cells);
    add_strings(draft.types, columns.type_start, columns.type_bytes);
    add_strings(draft.names, columns.name_start, columns.name_bytes);
    return Graph(draft.facts, std::move(columns));
}

}  // namespace mapdiag::heap
