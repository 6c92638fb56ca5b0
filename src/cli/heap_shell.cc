#include "heap_shell.h"

#include <fmt/format.h>

#include <algorithm>

#include "app.h"
#include "line_input.h"
#include "mapdiag/support/text.h"
#include "talk.h"

namespace mapdiag::cli {
namespace {

constexpr std::string_view kHelp =
    "ADDR           go to an object            ..             back to where you were\n"
    "p, c           its parents, its children  p N, c N       go to the Nth of them\n"
    "[N]            go to the Nth of the list last shown, from 0\n"
    "show           its attributes             size           what it reaches\n"
    "retained       what it retains            path           shortest ways from a root\n"
    "summary [.] [by size|count|retained] [excluding ADDR|type:NAME ...] [without-expensive]\n"
    "               of the whole heap, or with . of what the object here reaches\n"
    "all TYPE       objects of a type          top            who retains the whole heap\n"
    "suspects       what holds much            strings        duplicate strings\n"
    "limit N        rows to show               values on|off  show values\n"
    "json on|off    answers as JSON            quit           leave\n"
    "show, size, retained, path, p and c take an address as well.\n";

Error shell_error(std::string on, std::string detail) {
    return Error::because("do", std::move(on), std::move(detail));
}

Error nowhere() {
    return shell_error("that", "you are at no object: give an address first");
}

std::optional<bool> find_switch(std::string_view word) {
    return word == "on" ? std::optional(true) : word == "off" ? std::optional(false) : std::nullopt;
}

}  // namespace

std::string HeapShell::prompt() const {
    return way_.empty() ? "heap> " : heap::Describer(heap_.graph()).line(way_.back()) + "> ";
}

Result<std::string> HeapShell::go_to(heap::ObjectId id) {
    const auto text = ask_.show(heap_.graph().address(id));
    if (text && (way_.empty() || way_.back() != id)) {
        way_.push_back(id);
    }
    return text;
}

Result<std::string> HeapShell::back() {
    if (way_.size() < 2) {
        way_.clear();
        return std::string();
    }
    auto text = ask_.show(heap_.graph().address(way_[way_.size() - 2]));
    way_.pop_back();
    return text;
}

Result<std::string> HeapShell::pick(std::string_view number) {
    const auto index = find_u64(number);
    if (!index || *index >= list_.size()) {
        return std::unexpected(
            shell_error(fmt::format("[{}]", printable(number)),
                        fmt::format("the list last shown has {} objects", list_.size())));
    }
    return go_to(list_[*index]);
}

// The address behind the word, or that of the object here.
Result<std::uint64_t> HeapShell::address_of(const Words& words) const {
    if (words.size() > 1) {
        const auto address = find_address(std::string(words[1]));
        if (!address) {
            return std::unexpected(shell_error(quoted(words[1]),
                                               "an address is a decimal number, or "
                                               "hexadecimal after 0x"));
        }
        return *address;
    }
    if (way_.empty()) {
        return std::unexpected(nowhere());
    }
    return heap_.graph().address(way_.back());
}

// "p" and "c": a list; "p 3": its fourth; "p ADDR": the list of another object.
Result<std::string> HeapShell::step(const Words& words, bool to_parents) {
    const auto& graph = heap_.graph();
    const auto list_of = [&](heap::ObjectId id) {
        return to_parents ? heap::list_parents(graph, id, SIZE_MAX).shown
                          : heap::list_children(graph, id, SIZE_MAX).shown;
    };
    if (words.size() > 1 && !way_.empty()) {
        const auto list = list_of(way_.back());
        const auto index = find_u64(words[1]);
        if (index && *index < list.size()) {
            remember(list);
            return pick(words[1]);
        }
    }
    const auto address = address_of(words);
    if (!address) {
        return std::unexpected(address.error());
    }
    const auto text = to_parents ? ask_.parents(*address) : ask_.children(*address);
    if (text) {
        remember(list_of(*graph.find(*address)));
    }
    return text;
}

Result<std::string> HeapShell::walk(const Words& words) {
    const auto word = words.front();
    if (word == "..") {
        return back();
    }
    if (word == "p" || word == "parents") {
        return step(words, true);
    }
    if (word == "c" || word == "children") {
        return step(words, false);
    }
    if (word.starts_with("[") && word.ends_with("]")) {
        return pick(word.substr(1, word.size() - 2));
    }
    const auto id = ask_.object_at(find_address(std::string(word)).value_or(0));
    return id ? go_to(*id) : std::unexpected(id.error());
}

Result<std::string> HeapShell::summary(const Words& words) {
    PartOptions part;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const bool has_next = i + 1 < words.size();
        if (words[i] == ".") {
            if (way_.empty()) {
                return std::unexpected(nowhere());
            }
            part.of = std::to_string(heap_.graph().address(way_.back()));
        } else if (words[i] == "without-expensive") {
            part.without_expensive = true;
        } else if (words[i] == "by" && has_next) {
            const auto order = find_order(words[++i]);
            if (!order) {
                return std::unexpected(
                    shell_error(quoted(words[i]), "the order is size, count or retained"));
            }
            part.order = *order;
        } else if (words[i] == "excluding" && has_next) {
            part.excluding.emplace_back(words[++i]);
            if (!is_part(part.excluding.back())) {
                return std::unexpected(
                    shell_error(quoted(words[i]), "give an address, or type: and a type's name"));
            }
        } else {
            return std::unexpected(shell_error(quoted(words[i]), "summary does not know it"));
        }
    }
    return ask_.summary(part);
}

Result<std::string> HeapShell::set(const Words& words) {
    const auto value = words.size() == 2 ? words[1] : std::string_view{};
    if (words.front() == "limit") {
        const auto limit = find_u64(value);
        if (!limit) {
            return std::unexpected(shell_error("limit", "give a number of rows"));
        }
        ask_.options().limit = static_cast<std::size_t>(*limit);
        return std::string();
    }
    const auto on = find_switch(value);
    if (!on) {
        return std::unexpected(shell_error(std::string(words.front()), "say on or off"));
    }
    (words.front() == "json" ? ask_.options().json : ask_.options().show_values) = *on;
    return std::string();
}

Result<std::string> HeapShell::ask(const Words& words) {
    const auto word = words.front();
    if (word == "summary") {
        return summary(words);
    }
    if (word == "suspects") {
        return ask_.suspects();
    }
    if (word == "strings") {
        return ask_.strings();
    }
    if (word == "top") {
        return ask_.retained();
    }
    if (word == "all" && words.size() == 2) {
        const std::string type(words[1]);
        const auto text = ask_.all(type);
        if (text) {
            remember(
                heap::list_type(heap_.graph(), *heap_.graph().find_type(type), ask_.options().limit)
                    .shown);
        }
        return text;
    }
    const auto address = address_of(words);
    if (word == "show" || word == "size" || word == "retained" || word == "path") {
        if (!address) {
            return std::unexpected(address.error());
        }
        return word == "show"       ? ask_.show(*address)
               : word == "size"     ? ask_.size(*address, {})
               : word == "retained" ? ask_.retained(*address)
                                    : ask_.path(*address);
    }
    return std::unexpected(
        shell_error(quoted(word), "not a question that the shell knows; try help"));
}

Result<std::string> HeapShell::run(std::string_view line) {
    const auto words = split_words(line);
    if (words.empty()) {
        return std::string();
    }
    const auto word = words.front();
    if (word == "quit" || word == "exit" || word == "q") {
        quit_ = true;
        return std::string();
    }
    if (word == "help" || word == "?") {
        return std::string(kHelp);
    }
    if (word == "limit" || word == "values" || word == "json") {
        return set(words);
    }
    const bool walks = word == ".." || word == "p" || word == "parents" || word == "c" ||
                       word == "children" || word.starts_with("[") ||
                       find_address(std::string(word)).has_value();
    return walks ? walk(words) : ask(words);
}

int run_heap_shell(const std::string& dump, const HeapLoadOptions& load,
                   const AnswerOptions& answer) {
    ProgressLine progress;
    auto heap = load_heap(dump, load, progress);
    if (!heap) {
        say_error(heap.error().text());
        return kFailed;
    }
    HeapShell shell(*heap, answer);
    const auto input = LineInput::open();
    int status = kOk;
    while (!shell.wants_to_quit() && status == kOk) {
        const auto prompt =
            heap::with_sound_index({&*heap}, [&] { return Result<std::string>(shell.prompt()); });
        const auto line = input->next(prompt.value_or("heap> "));
        if (!line) {
            break;
        }
        progress.restart();
        progress.show("working out the answer", -1);
        const auto text = heap::with_sound_index({&*heap}, [&] { return shell.run(*line); });
        progress.wipe();
        if (text) {
            status = print_result(*text);
        } else {
            say_error(text.error().text());
        }
    }
    progress.restart();
    progress.show("keeping the index", -1);
    const auto warning = heap->save_index();
    progress.wipe();
    if (!warning.empty()) {
        say_warning(warning);
    }
    return status;
}

}  // namespace mapdiag::cli
