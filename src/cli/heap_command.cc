#include "heap_command.h"

#include <memory>

#include "heap_convert_command.h"
#include "heap_session.h"
#include "heap_shell.h"
#include "mapdiag/heap/diff.h"
#include "talk.h"

namespace mapdiag::cli {
namespace {

// The values of one heap subcommand's options.
struct HeapCommand {
    std::string dump;
    std::string other_dump;
    std::string address;
    std::string type;
    HeapLoadOptions load;
    AnswerOptions answer;
    PartOptions part;
};

using Values = std::shared_ptr<HeapCommand>;

std::string check_address(const std::string& text) {
    return find_address(text) ? std::string()
                              : "an address is a decimal number, or hexadecimal after 0x";
}

std::string check_excluded(const std::string& text) {
    return is_part(text) ? std::string() : "give an address, or type: and the name of a type";
}

struct Subcommand {
    CLI::App* app;
    Values values;
};

Subcommand add_subcommand(CLI::App& heap, const std::string& name, const std::string& help,
                          bool may_show_values) {
    auto values = std::make_shared<HeapCommand>();
    auto* const command = heap.add_subcommand(name, help);
    command->add_option("DUMP", values->dump, "The dump: plain, .gz or .zst")
        ->type_name("")
        ->required();
    add_answer_options(*command, values->answer, may_show_values);
    add_load_options(*command, values->load);
    return {command, std::move(values)};
}

CLI::Option* add_address(const Subcommand& subcommand) {
    return subcommand.app
        ->add_option("ADDR", subcommand.values->address, "Its address: decimal or 0x...")
        ->type_name("")
        ->check(check_address, "");
}

void add_part_options(const Subcommand& subcommand) {
    auto& part = subcommand.values->part;
    subcommand.app
        ->add_option("--excluding", part.excluding,
                     "Leave this object, or all objects of this type, out, and do not walk through "
                     "them; may be repeated")
        ->type_name("ADDR|type:NAME")
        ->allow_extra_args(false)
        ->check(check_excluded, "");
    subcommand.app->add_flag("--without-expensive", part.without_expensive,
                             "Do not follow references to modules, types and frames, nor a "
                             "function's globals (Meliae's remove_expensive_references)");
}

using Ask = std::function<Result<std::string>(const HeapQuestions&, const HeapCommand&)>;

void on_call(const Subcommand& subcommand, Action& chosen, Ask ask) {
    subcommand.app->callback([&chosen, values = subcommand.values, ask = std::move(ask)] {
        chosen = [values, ask] {
            return answer(values->dump, values->load, [&](heap::Heap& heap) {
                return ask(HeapQuestions(heap, values->answer), *values);
            });
        };
    });
}

std::uint64_t address_of(const HeapCommand& values) {
    return find_address(values.address).value_or(0);
}

void add_summary(CLI::App& heap, Action& chosen) {
    const auto command =
        add_subcommand(heap, "summary", "What there is of each type: count, size, largest", false);
    auto& part = command.values->part;
    command.app
        ->add_option_function<std::string>(
            "--by",
            [values = command.values](const std::string& word) {
                values->part.order = find_order(word).value_or(heap::SummaryOrder::kSize);
            },
            "Order of the rows: size, count or retained")
        ->type_name("size|count|retained")
        ->check(CLI::IsMember({"size", "count", "retained"}), "");
    command.app->add_option("--of", part.of, "Only what this object reaches")
        ->type_name("ADDR")
        ->check(check_address, "");
    add_part_options(command);
    on_call(command, chosen, [](const HeapQuestions& ask, const HeapCommand& values) {
        return ask.summary(values.part);
    });
}

void add_retained(CLI::App& heap, Action& chosen) {
    const auto command = add_subcommand(
        heap, "retained", "Who retains the heap, by object and type; or what one object retains",
        true);
    add_address(command);
    on_call(command, chosen, [](const HeapQuestions& ask, const HeapCommand& values) {
        return values.address.empty() ? ask.retained() : ask.retained(address_of(values));
    });
}

void add_size(CLI::App& heap, Action& chosen) {
    const auto command = add_subcommand(
        heap, "size", "How much an object reaches (Meliae's compute_total_size)", true);
    add_address(command)->required();
    add_part_options(command);
    on_call(command, chosen, [](const HeapQuestions& ask, const HeapCommand& values) {
        return ask.size(address_of(values), values.part);
    });
}

using AskAddress = Result<std::string> (HeapQuestions::*)(std::uint64_t) const;

void add_of_address(CLI::App& heap, Action& chosen, const std::string& name,
                    const std::string& help, AskAddress ask_it) {
    const auto command = add_subcommand(heap, name, help, true);
    add_address(command)->required();
    on_call(command, chosen, [ask_it](const HeapQuestions& ask, const HeapCommand& values) {
        return (ask.*ask_it)(address_of(values));
    });
}

void add_all(CLI::App& heap, Action& chosen) {
    const auto command = add_subcommand(
        heap, "all", "The objects of a type, largest first (Meliae's get_all)", true);
    command.app->add_option("TYPE", command.values->type, "Its name, as in the summary")
        ->type_name("")
        ->required();
    on_call(command, chosen, [](const HeapQuestions& ask, const HeapCommand& values) {
        return ask.all(values.type);
    });
}

void add_suspects(CLI::App& heap, Action& chosen) {
    const auto command = add_subcommand(
        heap, "suspects", "What holds more than a fifth of the heap, and where it piles up", false);
    on_call(command, chosen,
            [](const HeapQuestions& ask, const HeapCommand&) { return ask.suspects(); });
}

void add_strings(CLI::App& heap, Action& chosen) {
    const auto command =
        add_subcommand(heap, "strings", "Duplicate strings and the bytes they waste", true);
    on_call(command, chosen,
            [](const HeapQuestions& ask, const HeapCommand&) { return ask.strings(); });
}

Result<std::string> diff_of(heap::Heap& before, const HeapCommand& values) {
    ProgressLine progress;
    auto after = load_heap(values.other_dump, values.load, progress);
    if (!after) {
        return std::unexpected(after.error());
    }
    const auto diff = heap::with_sound_index({&before, &*after},
                                             [&] { return heap::compare_heaps(before, *after); });
    if (const auto warning = after->save_index(); !warning.empty()) {
        say_warning(warning);
    }
    if (!diff) {
        return std::unexpected(diff.error());
    }
    return values.answer.json ? heap::diff_json(*diff, values.answer.limit)
                              : heap::diff_text(*diff, values.answer.limit);
}

void add_diff(CLI::App& heap, Action& chosen) {
    auto values = std::make_shared<HeapCommand>();
    auto* const command = heap.add_subcommand(
        "diff", "What changed from one dump to another: by type, never by address");
    command->add_option("OLD", values->dump, "The earlier dump")->type_name("")->required();
    command->add_option("NEW", values->other_dump, "The later dump")->type_name("")->required();
    add_answer_options(*command, values->answer, false);
    add_load_options(*command, values->load);
    command->callback([&chosen, values] {
        chosen = [values] {
            return answer(values->dump, values->load,
                          [&](heap::Heap& before) { return diff_of(before, *values); });
        };
    });
}

void add_shell(CLI::App& heap, Action& chosen) {
    const auto command = add_subcommand(
        heap, "shell", "All these questions about one loaded dump, interactively", true);
    command.app->callback([&chosen, values = command.values] {
        chosen = [values] { return run_heap_shell(values->dump, values->load, values->answer); };
    });
}

}  // namespace

void add_heap_command(CLI::App& app, Action& chosen) {
    auto* const heap = app.add_subcommand(
        "heap", "Which objects held the memory: questions about heap dumps in Meliae's format");
    heap->require_subcommand(1);
    add_summary(*heap, chosen);
    add_retained(*heap, chosen);
    add_of_address(*heap, chosen, "parents", "What refers to an object", &HeapQuestions::parents);
    add_of_address(*heap, chosen, "children", "What an object refers to, in order",
                   &HeapQuestions::children);
    add_of_address(*heap, chosen, "show", "An object and its attributes", &HeapQuestions::show);
    add_all(*heap, chosen);
    add_size(*heap, chosen);
    add_of_address(*heap, chosen, "path", "The shortest ways from a root to an object",
                   &HeapQuestions::path);
    add_suspects(*heap, chosen);
    add_strings(*heap, chosen);
    add_diff(*heap, chosen);
    add_shell(*heap, chosen);
    add_convert_command(*heap, chosen);
}

}  // namespace mapdiag::cli
