#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mapdiag/heap/dominators.h"
#include "mapdiag/heap/graph.h"
#include "mapdiag/support/error.h"
#include "mapdiag/support/file_identity.h"
#include "mapdiag/support/mapped_file.h"

namespace mapdiag::heap {

/// What an index file is made of and valid for. It holds a graph or its dominator tree as the
/// columns are in memory: a header with version, kind, identity of the dump and the place of each
/// column, the columns, each with a checksum. It is a cache: whatever does not fit is not an error
/// but a reason to build it again.
struct IndexKey {
    FileIdentity dump;
    std::uint64_t sample = 0;  ///< hash of some of the dump's bytes
    std::uint64_t raw = 0;     ///< 1: instance dicts are kept apart
};

/// Format version: to be raised with every change of a column's meaning.
inline constexpr std::uint32_t kIndexVersion = 1;

/// Hash of the dump's first and last bytes and of some between.
std::uint64_t sample_of(std::string_view dump);

/// A graph that lives in a mapped index file.
struct IndexedGraph {
    MappedFile file;
    Graph graph;
    std::vector<std::string> warnings;  ///< what was said when the dump was read
};

/// Nothing where there is no index, or one of another dump, version, or byte order, or a damaged
/// one.
std::optional<IndexedGraph> find_indexed_graph(const std::string& path, const IndexKey& key);
Result<void> write_graph_index(const std::string& path, const IndexKey& key, const Graph& graph,
                               const std::vector<std::string>& warnings);

/// A dominator tree that lives in a mapped index file.
struct IndexedTree {
    MappedFile file;
    DominatorTree tree;
};

std::optional<IndexedTree> find_indexed_tree(const std::string& path, const IndexKey& key,
                                             const Graph& graph);
Result<void> write_tree_index(const std::string& path, const IndexKey& key,
                              const DominatorTree& tree);

}  // namespace mapdiag::heap
