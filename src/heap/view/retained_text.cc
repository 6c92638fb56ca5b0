// Words and tables for what is retained.
#include <fmt/format.h>

#include <algorithm>

#include "mapdiag/heap/retained.h"
#include "mapdiag/support/text.h"
#include "mapdiag/support/units.h"

namespace mapdiag::heap {
namespace {

std::string share(std::uint64_t part, std::uint64_t whole) {
    return format_share(static_cast<double>(part), static_cast<double>(whole));
}

std::string type_text(const Graph& graph, TypeId type) {
    return printable(graph.type_name(type));
}

void put_type_row(std::string& out, const RetainedType& row, std::string_view kind,
                  bool has_retained) {
    out += fmt::format("{:>12}{:>14}{:>14}{:>14} {}\n", row.count, row.size, row.top,
                       has_retained ? std::to_string(row.retained) : "-", kind);
}

// How the objects directly below a place are made up: "190 MiB in 522 620 tuple, ...".
std::string piles_text(const Graph& graph, const Suspect& suspect, std::size_t limit) {
    std::string out;
    std::uint64_t others = 0;
    std::uint64_t others_retained = 0;
    for (std::size_t i = 0; i < suspect.piles.size(); ++i) {
        const auto& pile = suspect.piles[i];
        if (i >= limit) {
            others += pile.count;
            others_retained += pile.retained;
            continue;
        }
        out += fmt::format("    {:>10} in {} {}\n", format_bytes(pile.retained),
                           format_count(pile.count), type_text(graph, pile.type));
    }
    if (others != 0) {
        out += fmt::format("    {:>10} in [{} others]\n", format_bytes(others_retained),
                           format_count(others));
    }
    return out;
}

std::string single_text(const Graph& graph, const DominatorTree& tree, const Suspect& suspect,
                        const std::string& dump, std::size_t limit) {
    const Describer describer(graph);
    const auto whole = tree.retained[0];
    const auto place = suspect.chain.back();
    auto out =
        fmt::format("{} holds {}, {} of the heap.\n", describer.line(suspect.holders.front()),
                    format_bytes(suspect.retained), share(suspect.retained, whole));
    if (suspect.chain.size() == 1) {
        out += "  It piles up there";
    } else {
        out += fmt::format("  It piles up {} step{} below, in {}, which holds {}",
                           suspect.chain.size() - 1, suspect.chain.size() == 2 ? "" : "s",
                           describer.line(place), format_bytes(tree.retained[place.value]));
    }
    if (suspect.pile_count == 0) {
        out += fmt::format(", its own size.\n");
    } else {
        out += fmt::format("; {} of these are its own and {} object{} lie{} directly below:\n",
                           format_bytes(graph.size(place)), format_count(suspect.pile_count),
                           suspect.pile_count == 1 ? "" : "s", suspect.pile_count == 1 ? "s" : "");
        out += piles_text(graph, suspect, limit);
    }
    out += fmt::format(
        "  Were that one object let go, these {} could be freed. To see the way to it and what it\n"
        "  holds: mapdiag heap retained {} {}\n",
        format_bytes(tree.retained[place.value]), printable(dump), graph.address(place));
    return out;
}

std::string group_text(const Graph& graph, const DominatorTree& tree, const Suspect& suspect,
                       const std::string& dump, std::size_t limit) {
    auto out = fmt::format(
        "{} objects of type {} hold {}, {} of the heap, together; none of them much by itself.\n",
        format_count(suspect.holders.size()), type_text(graph, suspect.group),
        format_bytes(suspect.retained), share(suspect.retained, tree.retained[0]));
    if (suspect.pile_count != 0) {
        out += fmt::format("  {} objects lie directly below them:\n",
                           format_count(suspect.pile_count));
        out += piles_text(graph, suspect, limit);
    }
    out += fmt::format(
        "  Each is held from more than one side or by nothing in the dump. To see what refers to "
        "the\n  largest: mapdiag heap parents {} {}\n",
        printable(dump), graph.address(suspect.holders.front()));
    return out;
}

}  // namespace

std::string retained_text(const Graph& graph, const DominatorTree& tree, const RetainedView& view,
                          std::size_t limit) {
    const Describer describer(graph);
    auto out = fmt::format(
        "Total {} bytes ({}), retained by {} objects at the top ({} roots and what several of them "
        "share)\n    Retained       %        Size Object\n",
        view.size, format_bytes(view.size), view.top_count, view.roots);
    for (const auto id : view.top) {
        out += fmt::format("{:>12}{:>8}{:>12} {}\n", tree.retained[id.value],
                           share(tree.retained[id.value], view.size), graph.size(id),
                           describer.line(id));
    }
    if (view.top_count > view.top.size()) {
        out += fmt::format("{:>12}{:>8}{:>12} [{} others]\n", view.others_retained,
                           share(view.others_retained, view.size), "-",
                           view.top_count - view.top.size());
    }
    out += "\nBy type; Top adds up to the total, Retained overlaps between types\n";
    out += fmt::format("{:>12}{:>14}{:>14}{:>14} {}\n", "Count", "Size", "Top", "Retained", "Kind");
    RetainedType others;
    for (std::size_t i = 0; i < view.types.size(); ++i) {
        if (i < limit) {
            put_type_row(out, view.types[i], type_text(graph, view.types[i].type), true);
            continue;
        }
        others.count += view.types[i].count;
        others.size += view.types[i].size;
        others.top += view.types[i].top;
    }
    if (view.types.size() > limit) {
        put_type_row(out, others, fmt::format("[{} others]", view.types.size() - limit), false);
    }
    return out;
}

std::string retained_object_text(const Graph& graph, const DominatorTree& tree,
                                 const RetainedObject& object, const Describer& describer) {
    const auto whole = tree.retained[0];
    auto out =
        fmt::format("{} retains {} bytes ({}), {} of the heap; {} bytes are its own\n",
                    describer.line(object.id), object.retained, format_bytes(object.retained),
                    share(object.retained, whole), graph.size(object.id));
    out += fmt::format("Held by, from the top ({}):\n",
                       object.is_root ? "a root" : "shared by several roots");
    for (std::size_t i = 0; i < object.chain.size(); ++i) {
        if (object.chain_others != 0 && i == object.chain_gap) {
            out += fmt::format("{:>12} [{} others]\n", "", object.chain_others);
        }
        out += fmt::format("{:>12} {}{}\n", tree.retained[object.chain[i].value],
                           std::string(2 * std::min<std::size_t>(i, 40), ' '),
                           describer.line(object.chain[i]));
    }
    if (object.held_count == 0) {
        return out + "It holds nothing else\n";
    }
    out += fmt::format("Of what it holds directly, {} object{}, the biggest:\n", object.held_count,
                       object.held_count == 1 ? "" : "s");
    for (const auto id : object.held) {
        out += fmt::format("{:>12} {}\n", tree.retained[id.value], describer.line(id));
    }
    if (object.held_count > object.held.size()) {
        out += fmt::format("{:>12} [{} others]\n", object.others_retained,
                           object.held_count - object.held.size());
    }
    return out;
}

std::string suspects_text(const Graph& graph, const DominatorTree& tree,
                          const std::vector<Suspect>& suspects, const std::string& dump,
                          std::size_t limit) {
    const Describer describer(graph);
    const auto whole = tree.retained[0];
    auto out = fmt::format("The heap has {} in {} objects.\n", format_bytes(whole),
                           format_count(graph.facts().objects));
    if (suspects.empty()) {
        out += "Nothing holds more than a fifth of it";
        if (tree.top.size() != 0) {
            const auto largest = tree.top[0];
            out += fmt::format("; the most, {}, is held by {}",
                               share(tree.retained[largest.value], whole), describer.line(largest));
        }
        return out + ".\n";
    }
    for (std::size_t i = 0; i < suspects.size(); ++i) {
        out += fmt::format("\n{}. ", i + 1);
        out += suspects[i].group ? group_text(graph, tree, suspects[i], dump, limit)
                                 : single_text(graph, tree, suspects[i], dump, limit);
    }
    return out;
}

}  // namespace mapdiag::heap
