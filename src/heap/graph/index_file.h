#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mapdiag/heap/dominators.h"
#include "mapdiag/heap/graph.h"
#include "mapdiag/heap/string_groups.h"
#include "mapdiag/support/error.h"
#include "mapdiag/support/file_identity.h"
#include "mapdiag/support/mapped_file.h"

namespace mapdiag::heap {

/// What an index file is made of and valid for. It holds a graph or its dominator tree as the
/// columns are in memory: a header with version, kind, identity of the dump and the place of each
/// column, the columns, and a checksum of each of their blocks. Header and checksums are verified
/// when it is opened, a block when it is first read (BlockGuard). It is a cache: whatever does not
/// fit is not an error but a reason to build it again.
struct IndexKey {
    FileIdentity dump;
    std::uint64_t sample = 0;  ///< hash of some of the dump's bytes
    std::uint64_t raw = 0;     ///< 1: instance dicts are kept apart
};

/// Format version: to be raised with every change of a column's meaning.
inline constexpr std::uint32_t kIndexVersion = 2;

/// Hash of the dump's first and last bytes and of some between.
std::uint64_t sample_of(std::string_view dump);

/// A mapped index file and what watches over its columns. To outlive these.
struct MappedIndex {
    MappedFile file;
    std::vector<std::unique_ptr<BlockGuard>> guards;
};

/// A graph that lives in a mapped index file.
struct IndexedGraph {
    MappedIndex index;
    Graph graph;
    std::vector<std::string> warnings;  ///< what was said when the dump was read
};

/// Nothing where there is no index, or one of another dump, version, or byte order, or one of
/// which the header is damaged.
std::optional<IndexedGraph> find_indexed_graph(const std::string& path, const IndexKey& key);
Result<void> write_graph_index(const std::string& path, const IndexKey& key, const Graph& graph,
                               const std::vector<std::string>& warnings);

/// A dominator tree that lives in a mapped index file.
struct IndexedTree {
    MappedIndex index;
    DominatorTree tree;
};

std::optional<IndexedTree> find_indexed_tree(const std::string& path, const IndexKey& key,
                                             const Graph& graph);
Result<void> write_tree_index(const std::string& path, const IndexKey& key,
                              const DominatorTree& tree);

/// Duplicate strings: the largest groups.
std::optional<StringsView> find_indexed_strings(const std::string& path, const IndexKey& key,
                                                const Graph& graph);
Result<void> write_strings_index(const std::string& path, const IndexKey& key,
                                 const StringsView& view);

}  // namespace mapdiag::heap
