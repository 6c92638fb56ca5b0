#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mapdiag/heap/dominators.h"
#include "mapdiag/heap/graph.h"
#include "mapdiag/heap/limits.h"
#include "mapdiag/support/error.h"

namespace mapdiag::heap {

/// How a dump is loaded.
struct LoadOptions {
    bool raw = false;  ///< keep instance dicts apart
    bool use_index = true;
    std::string
        cache_folder;  ///< for the index where the dump's folder can't be written; may be ""
    LoadLimits limits;
    Progress progress;  ///< may be empty
};

/// A loaded dump: its graph, and what is worked out from it when it is first asked for. The graph
/// comes from the index where a sound one is at hand, else from the dump itself.
class Heap {
  public:
    static Result<Heap> load(const std::string& path, const LoadOptions& options);

    Heap(Heap&&) noexcept;
    Heap& operator=(Heap&&) noexcept;
    Heap(const Heap&) = delete;
    Heap& operator=(const Heap&) = delete;
    ~Heap();

    const Graph& graph() const;
    const std::string& path() const;
    bool is_raw() const;
    /// Whether the dump itself was left alone.
    bool came_from_index() const;
    /// What there was to say about the dump: bad lines, where it is cut.
    const std::vector<std::string>& warnings() const;

    Result<const DominatorTree*> retained();

    /// Calls use(i, line) with the text of ids[i]'s line, from its object on. `ids` ascend.
    Result<void> visit_lines(std::span<const ObjectId> ids,
                             const std::function<void(std::size_t, std::string_view)>& use) const;

    /// Keeps whatever was worked out and is not in an index yet. To be called when the answer has
    /// been given: an index that can't be kept is no failure. Gives the warning, if there is one.
    std::string save_index();

  private:
    struct State;
    explicit Heap(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

/// The index files of a dump, beside it and in the cache folder ("" where there is none), for the
/// graph and for what is retained.
struct IndexPaths {
    std::string graph;
    std::string tree;
    std::string cached_graph;
    std::string cached_tree;
};
IndexPaths index_paths(const std::string& dump, bool raw, const std::string& cache_folder);

}  // namespace mapdiag::heap
