#include "heap_questions.h"

#include <algorithm>
#include <charconv>

#include "mapdiag/heap/messages.h"
#include "mapdiag/heap/paths.h"
#include "mapdiag/heap/retained.h"
#include "mapdiag/heap/sizes.h"
#include "mapdiag/heap/strings.h"
#include "mapdiag/support/text.h"

namespace mapdiag::cli {
namespace {

constexpr std::string_view kTypePrefix = "type:";

// Reads the values of these objects where they were asked for.
Result<heap::Describer> describer_for(const heap::Heap& heap, const AnswerOptions& options,
                                      std::vector<heap::ObjectId> ids) {
    heap::Describer describer(heap.graph());
    if (options.show_values) {
        if (auto shown = describer.show_values(heap, std::move(ids)); !shown) {
            return std::unexpected(shown.error());
        }
    }
    return describer;
}

// An answer that is worded by one of two functions.
template <class Text, class Json, class... Arguments>
std::string word(bool as_json, Text text, Json json, const Arguments&... arguments) {
    return as_json ? json(arguments...) : text(arguments...);
}

}  // namespace

std::optional<std::uint64_t> find_address(const std::string& text) {
    std::string_view digits = text;
    const bool is_hex = digits.starts_with("0x") || digits.starts_with("0X");
    digits.remove_prefix(is_hex ? 2 : 0);
    std::uint64_t address = 0;
    const auto* const end = digits.data() + digits.size();
    const auto [at, failure] = std::from_chars(digits.data(), end, address, is_hex ? 16 : 10);
    if (failure != std::errc{} || at != end) {
        return std::nullopt;
    }
    return address;
}

std::optional<heap::SummaryOrder> find_order(std::string_view word) {
    if (word == "size") {
        return heap::SummaryOrder::kSize;
    }
    if (word == "count") {
        return heap::SummaryOrder::kCount;
    }
    return word == "retained" ? std::optional(heap::SummaryOrder::kRetained) : std::nullopt;
}

bool is_part(const std::string& text) {
    return (text.starts_with(kTypePrefix) && text.size() > kTypePrefix.size()) ||
           find_address(text).has_value();
}

// An object, or an address that is only referred to.
Result<heap::ObjectId> HeapQuestions::place_at(std::uint64_t address) const {
    const auto& graph = heap_.graph();
    const auto id = graph.find(address);
    if (!id) {
        return std::unexpected(heap::no_such_address(heap_.path(), address));
    }
    if (!graph.is_missing(*id) && !graph.is_object(*id)) {
        const auto owner = graph.find_owner(*id);
        return std::unexpected(heap::merged_into_owner(
            address, owner ? heap::Describer(graph).line(*owner) : std::string("another object")));
    }
    return *id;
}

Result<heap::ObjectId> HeapQuestions::object_at(std::uint64_t address) const {
    const auto id = place_at(address);
    if (id && heap_.graph().is_missing(*id)) {
        return std::unexpected(heap::only_referred_to(address, heap_.graph().parents(*id).size()));
    }
    return id;
}

Result<heap::WalkOptions> HeapQuestions::walk_of(const PartOptions& part) const {
    heap::WalkOptions walk{.excluding = {}, .without_expensive = part.without_expensive};
    const auto& graph = heap_.graph();
    for (const auto& text : part.excluding) {
        if (text.starts_with(kTypePrefix)) {
            const auto name = text.substr(kTypePrefix.size());
            const auto type = graph.find_type(name);
            if (!type) {
                return std::unexpected(heap::no_such_type(heap_.path(), name));
            }
            const auto all = heap::list_type(graph, *type, SIZE_MAX);
            walk.excluding.insert(walk.excluding.end(), all.shown.begin(), all.shown.end());
            continue;
        }
        const auto id = object_at(find_address(text).value_or(0));
        if (!id) {
            return std::unexpected(id.error());
        }
        walk.excluding.push_back(*id);
    }
    return walk;
}

Result<std::string> HeapQuestions::summary(const PartOptions& part) const {
    const auto walk = walk_of(part);
    if (!walk) {
        return std::unexpected(walk.error());
    }
    heap::SummaryOptions options{.order = part.order, .of = {}, .walk = *walk};
    if (!part.of.empty()) {
        const auto id = object_at(find_address(part.of).value_or(0));
        if (!id) {
            return std::unexpected(id.error());
        }
        options.of = *id;
    }
    const auto summary = heap::summarize(heap_, options);
    if (!summary) {
        return std::unexpected(summary.error());
    }
    return word(options_.json, heap::summary_text, heap::summary_json, *summary, options_.limit);
}

Result<std::string> HeapQuestions::retained() const {
    const auto tree = heap_.retained();
    if (!tree) {
        return std::unexpected(tree.error());
    }
    const auto view = heap::view_retained(heap_.graph(), **tree, options_.limit);
    return word(options_.json, heap::retained_text, heap::retained_json, heap_.graph(), **tree,
                view, options_.limit);
}

Result<std::string> HeapQuestions::retained(std::uint64_t address) const {
    const auto id = object_at(address);
    if (!id) {
        return std::unexpected(id.error());
    }
    const auto tree = heap_.retained();
    if (!tree) {
        return std::unexpected(tree.error());
    }
    const auto object = heap::view_retained(heap_.graph(), **tree, *id, options_.limit);
    auto ids = object.chain;
    ids.insert(ids.end(), object.held.begin(), object.held.end());
    const auto describer = describer_for(heap_, options_, std::move(ids));
    if (!describer) {
        return std::unexpected(describer.error());
    }
    return word(options_.json, heap::retained_object_text, heap::retained_object_json,
                heap_.graph(), **tree, object, *describer);
}

Result<std::string> HeapQuestions::list(std::string_view heading, const heap::ObjectList& list,
                                        std::optional<heap::ObjectId> about) const {
    auto ids = list.shown;
    if (about) {
        ids.push_back(*about);
    }
    const auto describer = describer_for(heap_, options_, std::move(ids));
    if (!describer) {
        return std::unexpected(describer.error());
    }
    if (options_.json) {
        return heap::list_json(list, heap_.graph(), *describer);
    }
    const auto title = std::string(heading) + (about ? describer->line(*about) : std::string());
    return heap::list_text(title, list, heap_.graph(), *describer);
}

Result<std::string> HeapQuestions::parents(std::uint64_t address) const {
    const auto id = place_at(address);
    if (!id) {
        return std::unexpected(id.error());
    }
    return list("parents of ", heap::list_parents(heap_.graph(), *id, options_.limit), *id);
}

Result<std::string> HeapQuestions::children(std::uint64_t address) const {
    const auto id = object_at(address);
    if (!id) {
        return std::unexpected(id.error());
    }
    return list("children of ", heap::list_children(heap_.graph(), *id, options_.limit), *id);
}

Result<std::string> HeapQuestions::show(std::uint64_t address) const {
    const auto id = object_at(address);
    if (!id) {
        return std::unexpected(id.error());
    }
    auto ids = heap::list_children(heap_.graph(), *id, SIZE_MAX).shown;
    ids.resize(std::min(ids.size(), options_.limit * 2 + 2));
    ids.push_back(*id);
    const auto describer = describer_for(heap_, options_, std::move(ids));
    if (!describer) {
        return std::unexpected(describer.error());
    }
    return word(options_.json, heap::show_text, heap::show_json, heap_.graph(), *id, *describer,
                options_.limit);
}

Result<std::string> HeapQuestions::all(const std::string& type) const {
    const auto id = heap_.graph().find_type(type);
    if (!id || heap_.graph().columns().type_totals[id->value].count == 0) {
        return std::unexpected(heap::no_such_type(heap_.path(), type));
    }
    return list("all " + printable(type), heap::list_type(heap_.graph(), *id, options_.limit),
                std::nullopt);
}

Result<std::string> HeapQuestions::size(std::uint64_t address, const PartOptions& part) const {
    const auto id = object_at(address);
    const auto walk = walk_of(part);
    if (!id || !walk) {
        return std::unexpected(id ? walk.error() : id.error());
    }
    const auto total = heap::total_size_of(heap_.graph(), *id, *walk);
    const auto describer = describer_for(heap_, options_, {*id});
    if (!describer) {
        return std::unexpected(describer.error());
    }
    return word(options_.json, heap::total_size_text, heap::total_size_json, heap_.graph(), *id,
                total, *describer);
}

Result<std::string> HeapQuestions::path(std::uint64_t address) const {
    const auto id = place_at(address);
    if (!id) {
        return std::unexpected(id.error());
    }
    const auto tree = heap_.retained();
    if (!tree) {
        return std::unexpected(tree.error());
    }
    const auto paths = heap::shortest_paths(heap_.graph(), **tree, *id, options_.limit);
    std::vector<heap::ObjectId> ids;
    for (const auto& step : paths.steps) {
        ids.push_back(step.id);
    }
    const auto describer = describer_for(heap_, options_, std::move(ids));
    if (!describer) {
        return std::unexpected(describer.error());
    }
    return word(options_.json, heap::paths_text, heap::paths_json, paths, heap_.graph(),
                *describer);
}

Result<std::string> HeapQuestions::suspects() const {
    const auto tree = heap_.retained();
    if (!tree) {
        return std::unexpected(tree.error());
    }
    const auto found = heap::find_suspects(heap_.graph(), **tree);
    return options_.json
               ? heap::suspects_json(heap_.graph(), **tree, found, options_.limit)
               : heap::suspects_text(heap_.graph(), **tree, found, heap_.path(), options_.limit);
}

Result<std::string> HeapQuestions::strings() const {
    const auto view = heap_.duplicate_strings(options_.limit);
    if (!view) {
        return std::unexpected(view.error());
    }
    std::vector<heap::ObjectId> ids;
    for (const auto& group : view->largest) {
        ids.push_back(group.example);
    }
    const auto describer = describer_for(heap_, options_, std::move(ids));
    if (!describer) {
        return std::unexpected(describer.error());
    }
    return word(options_.json, heap::strings_text, heap::strings_json, *view, heap_.graph(),
                *describer);
}

}  // namespace mapdiag::cli
