#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mapdiag/heap/dominators.h"
#include "mapdiag/heap/graph.h"
#include "mapdiag/heap/limits.h"
#include "mapdiag/heap/string_groups.h"
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

    /// The graph and all that comes from an index throw DamagedIndex where a part that is needed is
    /// not sound: see with_sound_index().
    Result<const DominatorTree*> retained();
    Result<StringsView> duplicate_strings(std::size_t limit);

    /// Forgets the index and reads the dump itself. Object numbers stay what they are; an error
    /// where the dump is not the one that was loaded any more.
    Result<void> read_again();

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
/// graph, for what is retained and for duplicate strings.
struct IndexPaths {
    std::string graph;
    std::string tree;
    std::string strings;
    std::string cached_graph;
    std::string cached_tree;
    std::string cached_strings;
};
IndexPaths index_paths(const std::string& dump, bool raw, const std::string& cache_folder);

/// Calls ask(), which gives a Result. Where it comes upon a damaged part of an index, the dumps of
/// these heaps are read again, and it is asked once more from the beginning.
template <class Ask>
auto with_sound_index(std::initializer_list<Heap*> heaps, Ask ask) -> decltype(ask()) {
    try {
        return ask();
    } catch (const DamagedIndex&) {
        for (auto* const heap : heaps) {
            if (!heap->came_from_index()) {
                continue;
            }
            if (auto read = heap->read_again(); !read) {
                return std::unexpected(read.error());
            }
        }
    }
    return ask();
}

}  // namespace mapdiag::heap
