#pragma once

#include <span>
#include <string>
#include <vector>

#include "heap/reader/raw_chunk.h"
#include "heap/reader/string_pool.h"
#include "mapdiag/heap/graph.h"
#include "mapdiag/heap/limits.h"
#include "mapdiag/support/error.h"

namespace mapdiag::heap {

/// The graph while it is built: columns as they will be, names and types still open for additions.
struct Draft {
    GraphFacts facts;
    GraphColumns columns;
    StringPool types;  ///< TypeId - 1
    StringPool names;
};

/// Joins chunks, in the order of the dump, to one draft: everything but references, referrers and
/// totals. The chunks keep their refs, all else of them is used up.
Result<Draft> assemble(std::span<RawChunk> chunks, const LoadLimits& limits,
                       const std::string& shown);

/// Fills the address table, drops repeated lines, and turns the refs of the chunks, which are used
/// up, into the rows of `children`. Addresses without a line get numbers behind the last line's.
Result<void> resolve_refs(Draft& draft, std::span<RawChunk> chunks, const LoadLimits& limits,
                          const std::string& shown);

/// Merges instance dicts into their owners, as Meliae's collapse_instance_dicts() does, but never a
/// dict that anything else refers to:
///  - an object with exactly [dict, type] becomes the dict's refs and the type;
///  - a Python 2 `instance` with [classobj, dict] the dict's refs and the classobj, and gets its
///    class's name as type;
///  - a module the dict's refs and its other refs (C modules have a state besides their dict).
Result<void> merge_instance_dicts(Draft& draft, const std::string& shown);

/// Referrers and the totals by type; then the graph is complete.
Result<Graph> finish(Draft draft, const std::string& shown);

}  // namespace mapdiag::heap
