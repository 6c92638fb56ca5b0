#include "mapdiag/heap/load.h"

#include <fmt/format.h>

#include <filesystem>
#include <new>
#include <optional>
#include <random>

#include "heap/graph/assemble.h"
#include "heap/graph/index_file.h"
#include "heap/reader/sniff.h"
#include "heap/reader/text_source.h"
#include "mapdiag/heap/messages.h"
#include "mapdiag/heap/strings.h"

namespace mapdiag::heap {
namespace {

constexpr std::size_t kShownBadLines = 5;
// Groups of duplicate strings that an index keeps.
constexpr std::size_t kStoredStrings = 1000;

// What bad lines there are and whether the end is missing.
std::vector<std::string> describe_flaws(const std::string& path, std::span<const RawChunk> chunks,
                                        const TextEnd& end, GraphFacts& facts) {
    std::vector<BadLineNote> bad;
    std::uint64_t lines_before = 0;
    std::uint64_t cut_line = 0;
    for (const auto& chunk : chunks) {
        for (const auto& line : chunk.bad_lines) {
            const auto number = lines_before + line.line + 1;
            if (line.reason == BadLine::kCut) {
                cut_line = number;
            } else if (bad.size() < kShownBadLines) {
                bad.push_back({number, reason_text(line.reason)});
            }
        }
        lines_before += chunk.line_count;
    }
    std::vector<std::string> warnings;
    facts.bad_lines -= cut_line != 0 ? 1 : 0;
    facts.cut = cut_line != 0 || !end.damage.empty() ? 1 : 0;
    if (facts.bad_lines != 0) {
        warnings.push_back(bad_lines_warning(path, facts.bad_lines, bad));
    }
    if (!end.damage.empty()) {
        warnings.push_back(damaged_stream_warning(path, end.damage));
    } else if (cut_line != 0) {
        warnings.push_back(cut_warning(path, cut_line));
    }
    return warnings;
}

struct ReadDump {
    Graph graph;
    std::vector<std::string> warnings;
};

Result<ReadDump> read_dump(const TextSource& source, const std::string& path,
                           const LoadOptions& options) {
    std::random_device device;
    // Nobody who has the index can try out values against the hashes: the key is not kept.
    const auto key = (static_cast<std::uint64_t>(device()) << 32) | device();
    std::vector<RawChunk> chunks;
    const auto end = source.read_chunks(key, options.progress, chunks);
    if (!end) {
        return std::unexpected(end.error());
    }
    auto draft = assemble(chunks, options.limits, path);
    if (!draft) {
        return std::unexpected(draft.error());
    }
    if (draft->facts.line_objects == 0) {
        return std::unexpected(not_a_dump(path, describe_file(source.beginning())));
    }
    auto warnings = describe_flaws(path, chunks, *end, draft->facts);
    const auto say = [&](std::string_view what) {
        if (options.progress) {
            options.progress(what, -1);
        }
    };
    say("resolving references");
    if (auto resolved = resolve_refs(*draft, chunks, options.limits, path); !resolved) {
        return std::unexpected(resolved.error());
    }
    if (!options.raw) {
        say("merging instance dicts");
        if (auto merged = merge_instance_dicts(*draft, path); !merged) {
            return std::unexpected(merged.error());
        }
    }
    say("collecting referrers");
    auto graph = finish(std::move(*draft), path);
    if (!graph) {
        return std::unexpected(graph.error());
    }
    return ReadDump{std::move(*graph), std::move(warnings)};
}

// What find(path) finds beside the dump, else in the cache folder.
template <class Find>
auto find_somewhere(const std::string& beside, const std::string& cached, Find find) {
    auto found = find(beside);
    return found || cached.empty() ? std::move(found) : find(cached);
}

// Calls write(path) for the dump's folder, then for the cache folder.
template <class Write>
Result<void> write_somewhere(const std::string& beside, const std::string& cached, Write write) {
    auto written = write(beside);
    if (written || cached.empty()) {
        return written;
    }
    std::error_code failure;
    std::filesystem::create_directories(std::filesystem::path(cached).parent_path(), failure);
    return write(cached);
}

}  // namespace

struct Heap::State {
    State(std::string of, const LoadOptions& with, TextSource text)
        : path(std::move(of)), options(with), source(std::move(text)) {}

    // An index that belongs to this graph is at hand only where the graph came from one: object
    // numbers are the same each time, hashes are not.
    bool may_read_index() const { return options.use_index && !distrusts_index && !graph_is_new; }
    IndexPaths paths() const { return index_paths(path, options.raw, options.cache_folder); }

    std::string path;
    LoadOptions options;
    TextSource source;
    IndexKey key;
    std::optional<MappedIndex> graph_index;
    std::optional<Graph> graph;
    std::vector<std::string> warnings;
    std::optional<MappedIndex> tree_index;
    std::optional<DominatorTree> tree;
    std::optional<StringsView> strings;  // the kStoredStrings largest groups
    bool from_index = false;
    bool graph_is_new = false;  // and in no index yet
    bool tree_is_new = false;
    bool strings_are_new = false;
    bool distrusts_index = false;  // what there is was damaged
};

Heap::Heap(std::unique_ptr<State> state) : state_(std::move(state)) {}
Heap::Heap(Heap&&) noexcept = default;
Heap& Heap::operator=(Heap&&) noexcept = default;
Heap::~Heap() = default;

const Graph& Heap::graph() const {
    return *state_->graph;
}
const std::string& Heap::path() const {
    return state_->path;
}
bool Heap::is_raw() const {
    return state_->options.raw;
}
bool Heap::came_from_index() const {
    return state_->from_index;
}
const std::vector<std::string>& Heap::warnings() const {
    return state_->warnings;
}

IndexPaths index_paths(const std::string& dump, bool raw, const std::string& cache_folder) {
    const std::string suffix = raw ? "-raw" : "";
    IndexPaths paths{.graph = dump + ".mapdiag-index" + suffix,
                     .tree = dump + ".mapdiag-retained" + suffix,
                     .strings = dump + ".mapdiag-strings" + suffix,
                     .cached_graph = {},
                     .cached_tree = {},
                     .cached_strings = {}};
    if (!cache_folder.empty()) {
        std::error_code failure;
        const auto absolute = std::filesystem::absolute(dump, failure);
        const auto base =
            fmt::format("{}/heap/{:016x}-{}", cache_folder, hash_bytes(absolute.string(), 0),
                        absolute.filename().string());
        paths.cached_graph = base + ".mapdiag-index" + suffix;
        paths.cached_tree = base + ".mapdiag-retained" + suffix;
        paths.cached_strings = base + ".mapdiag-strings" + suffix;
    }
    return paths;
}

Result<Heap> Heap::load(const std::string& path, const LoadOptions& options) try {
    auto source = TextSource::open(path, options.limits);
    if (!source) {
        return std::unexpected(source.error());
    }
    auto state = std::make_unique<State>(path, options, std::move(*source));
    const auto identity = identify_file(path);
    if (!identity) {
        return std::unexpected(identity.error());
    }
    state->key = {.dump = *identity,
                  .sample = sample_of(state->source.file_bytes()),
                  .raw = options.raw ? 1ULL : 0ULL};
    if (options.use_index) {
        const auto paths = state->paths();
        auto found = find_somewhere(paths.graph, paths.cached_graph, [&](const std::string& file) {
            return find_indexed_graph(file, state->key);
        });
        if (found) {
            state->from_index = true;
            state->graph_index = std::move(found->index);
            state->graph = std::move(found->graph);
            state->warnings = std::move(found->warnings);
            return Heap(std::move(state));
        }
    }
    auto read = read_dump(state->source, path, options);
    if (!read) {
        return std::unexpected(read.error());
    }
    state->graph = std::move(read->graph);
    state->warnings = std::move(read->warnings);
    state->graph_is_new = true;
    return Heap(std::move(state));
} catch (const std::bad_alloc&) {
    return std::unexpected(out_of_memory(path));
}

Result<void> Heap::read_again() try {
    const auto identity = identify_file(state_->path);
    if (!identity || *identity != state_->key.dump) {
        return std::unexpected(identity ? dump_changed(state_->path) : identity.error());
    }
    auto read = read_dump(state_->source, state_->path, state_->options);
    if (!read) {
        return std::unexpected(read.error());
    }
    state_->graph = std::move(read->graph);
    state_->warnings = std::move(read->warnings);
    state_->tree.reset();
    state_->strings.reset();
    state_->graph_index.reset();
    state_->tree_index.reset();
    state_->from_index = false;
    state_->graph_is_new = true;
    state_->distrusts_index = true;
    return {};
} catch (const std::bad_alloc&) {
    return std::unexpected(out_of_memory(state_->path));
}

Result<const DominatorTree*> Heap::retained() try {
    if (!state_->tree && state_->may_read_index()) {
        const auto paths = state_->paths();
        auto found = find_somewhere(paths.tree, paths.cached_tree, [&](const std::string& file) {
            return find_indexed_tree(file, state_->key, graph());
        });
        if (found) {
            state_->tree_index = std::move(found->index);
            state_->tree = std::move(found->tree);
        }
    }
    if (!state_->tree) {
        if (state_->options.progress) {
            state_->options.progress("working out what retains what", -1);
        }
        state_->tree = find_dominators(graph());
        state_->tree_is_new = true;
    }
    return &*state_->tree;
} catch (const std::bad_alloc&) {
    return std::unexpected(out_of_memory(state_->path));
}

Result<StringsView> Heap::duplicate_strings(std::size_t limit) try {
    if (!state_->strings && state_->may_read_index()) {
        const auto paths = state_->paths();
        state_->strings =
            find_somewhere(paths.strings, paths.cached_strings, [&](const std::string& file) {
                return find_indexed_strings(file, state_->key, graph());
            });
    }
    if (!state_->strings) {
        if (state_->options.progress) {
            state_->options.progress("comparing strings", -1);
        }
        state_->strings = find_duplicate_strings(graph(), kStoredStrings);
        state_->strings_are_new = true;
    }
    const bool has_enough = limit <= kStoredStrings || state_->strings->groups <= kStoredStrings;
    return has_enough ? with_limit(*state_->strings, limit)
                      : find_duplicate_strings(graph(), limit);
} catch (const std::bad_alloc&) {
    return std::unexpected(out_of_memory(state_->path));
}

Result<void> Heap::visit_lines(
    std::span<const ObjectId> ids,
    const std::function<void(std::size_t, std::string_view)>& use) const {
    std::vector<std::uint64_t> offsets;
    offsets.reserve(ids.size());
    for (const auto id : ids) {
        offsets.push_back(graph().columns().line[id.value]);
    }
    return state_->source.visit_lines(offsets, use);
}

std::string Heap::save_index() try {
    if (!state_->options.use_index ||
        !(state_->graph_is_new || state_->tree_is_new || state_->strings_are_new)) {
        return {};
    }
    // A dump that went on growing while it was read is not what its identity says.
    const auto now = identify_file(state_->path);
    if (!now || *now != state_->key.dump) {
        return {};
    }
    const auto paths = state_->paths();
    Result<void> written;
    if (state_->graph_is_new) {
        written = write_somewhere(paths.graph, paths.cached_graph, [&](const std::string& path) {
            return write_graph_index(path, state_->key, graph(), state_->warnings);
        });
        state_->graph_is_new = !written;
    }
    if (written && state_->tree_is_new) {
        written = write_somewhere(paths.tree, paths.cached_tree, [&](const std::string& path) {
            return write_tree_index(path, state_->key, *state_->tree);
        });
        state_->tree_is_new = !written;
    }
    if (written && state_->strings_are_new) {
        written =
            write_somewhere(paths.strings, paths.cached_strings, [&](const std::string& path) {
                return write_strings_index(path, state_->key, *state_->strings);
            });
        state_->strings_are_new = !written;
    }
    return written ? std::string() : no_index_warning(state_->path, written.error().text());
} catch (const std::bad_alloc&) {
    return no_index_warning(state_->path, out_of_memory(state_->path).text());
}

}  // namespace mapdiag::heap
