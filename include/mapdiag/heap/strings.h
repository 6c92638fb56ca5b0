#pragma once

#include <string>

#include "mapdiag/heap/objects.h"
#include "mapdiag/heap/string_groups.h"

namespace mapdiag::heap {

/// Values are compared by a 64-bit hash of what the dump holds of them (Meliae writes the first 100
/// characters) together with type and length.
StringsView find_duplicate_strings(const Graph& graph, std::size_t limit);
/// The same with fewer of the largest groups.
StringsView with_limit(StringsView view, std::size_t limit);

std::string strings_text(const StringsView& view, const Graph& graph, const Describer& describer);
std::string strings_json(const StringsView& view, const Graph& graph, const Describer& describer);

}  // namespace mapdiag::heap
