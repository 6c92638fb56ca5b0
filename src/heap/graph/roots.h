#pragma once

#include <vector>

#include "mapdiag/heap/graph.h"

namespace mapdiag::heap {

/// From where everything is held, ascending: objects that nothing refers to, modules, frames that
/// are on a thread's stack (no generator, coroutine or traceback holds them), and of each cycle
/// that nothing else reaches the object that comes first in the dump. Every object is reachable
/// from a root.
std::vector<ObjectId> find_roots(const Graph& graph);

}  // namespace mapdiag::heap
