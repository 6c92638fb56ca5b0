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

namespace mapdiag::heap {
namespace {

constexpr std::size_t kShownBadLines = 5;

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

    IndexPaths paths() const { return index_paths(path, options.raw, options.cache_folder); }

    std::string path;
    LoadOptions options;
    TextSource source;
    IndexKey key;
    std::optional<MappedFile> graph_file;
    std::optional<Graph> graph;
    std::vector<std::string> warnings;
    std::optional<MappedFile> tree_file;
    std::optional<DominatorTree> tree;
    bool from_index = false;
    bool graph_is_new = false;  // and in no index yet
    bool tree_is_new = false;
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
                     .cached_graph = {},
                     .cached_tree = {}};
    if (!cache_folder.empty()) {
        std::error_code failure;
        const auto absolute = std::filesystem::absolute(dump, failure);
        const auto base =
            fmt::format("{}/heap/{:016x}-{}", cache_folder, hash_bytes(absolute.string(), 0),
                        absolute.filename().string());
        paths.cached_graph = base + ".mapdiag-index" + suffix;
        paths.cached_tree = base + ".mapdiag-retained" + suffix;
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
        auto found = find_indexed_graph(paths.graph, state->key);
        if (!found && !paths.cached_graph.empty()) {
            found = find_indexed_graph(paths.cached_graph, state->key);
        }
        if (found) {
            state->from_index = true;
            state->graph_file = std::move(found->file);
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

Result<const DominatorTree*> Heap::retained() try {
    if (!state_->tree && state_->options.use_index && !state_->graph_is_new) {
        const auto paths = state_->paths();
        auto found = find_indexed_tree(paths.tree, state_->key, graph());
        if (!found && !paths.cached_tree.empty()) {
            found = find_indexed_tree(paths.cached_tree, state_->key, graph());
        }
        if (found) {
            state_->tree_file = std::move(found->file);
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

std::string Heap::save_index() {
    if (!state_->options.use_index) {
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
    return written ? std::string() : no_index_warning(state_->path, written.error().text());
}

}  // namespace mapdiag::heap
