#pragma once

#include <cstdint>
#include <string>

#include "mapdiag/heap/load.h"
#include "mapdiag/heap/objects.h"

namespace mapdiag::heap {

struct ConvertOptions {
    bool without_expensive = false;  ///< Meliae's remove_expensive_references.py
    bool show_values = false;        ///< for tables only: with a column of values
};

/// What was written.
struct Converted {
    std::uint64_t objects = 0;
    std::uint64_t refs = 0;
};

/// Writes the graph's objects as a dump again, one usual line each: repeated and bad lines are
/// gone. Packed by the ending of `path`, .gz or .zst. A raw graph gives the dump's own objects; a
/// merged one the owners with the refs of their dicts. Values stay as they are in the dump. The
/// file is for its owner alone (0600), as it may hold values.
Result<Converted> convert_to_dump(const Heap& heap, const ConvertOptions& options,
                                  const std::string& path);

/// Writes an SQLite database with the tables
///   types(id, name)
///   objects(id, address, type, size, len, name, retained, dominator[, value])
///   refs(parent, position, child)        child is null for a missing object
///   missing(address, parents)
/// Addresses are text, as SQLite has no unsigned 64-bit numbers.
Result<Converted> convert_to_sqlite(Heap& heap, const ConvertOptions& options,
                                    const std::string& path);

/// "graph.dump.gz: 12 objects, 30 references".
std::string converted_text(const std::string& path, const Converted& converted);
std::string converted_json(const std::string& path, const Converted& converted);

}  // namespace mapdiag::heap
