#include "heap_convert_command.h"

#include <memory>

#include "heap_session.h"
#include "mapdiag/heap/convert.h"

namespace mapdiag::cli {
namespace {

struct ConvertCommand {
    std::string dump;
    std::string output;
    std::string to = "dump";
    bool collapse = false;
    bool json = false;
    HeapLoadOptions load;
    heap::ConvertOptions convert;
};

Result<std::string> convert(heap::Heap& heap, const ConvertCommand& values) {
    const auto written = values.to == "sqlite"
                             ? heap::convert_to_sqlite(heap, values.convert, values.output)
                             : heap::convert_to_dump(heap, values.convert, values.output);
    if (!written) {
        return std::unexpected(written.error());
    }
    return values.json ? heap::converted_json(values.output, *written)
                       : heap::converted_text(values.output, *written);
}

}  // namespace

void add_convert_command(CLI::App& heap, Action& chosen) {
    auto values = std::make_shared<ConvertCommand>();
    auto* const command = heap.add_subcommand(
        "convert", "Writes a dump anew without repeated and bad lines, or as an SQLite database");
    command->add_option("DUMP", values->dump, "The dump: plain, .gz or .zst")
        ->type_name("")
        ->required();
    command
        ->add_option("-o,--output", values->output,
                     "The file to write; .gz and .zst are packed. For its owner alone (0600)")
        ->type_name("FILE")
        ->required();
    command->add_option("--to", values->to, "dump or sqlite")
        ->type_name("dump|sqlite")
        ->check(CLI::IsMember({"dump", "sqlite"}), "")
        ->capture_default_str();
    command->add_flag("--without-expensive", values->convert.without_expensive,
                      "Leave out references to modules, types and frames and functions' globals");
    command->add_flag("--collapse", values->collapse,
                      "Merge instance dicts into their owners, as all other commands do");
    command->add_flag("--show-values", values->convert.show_values,
                      "With --to sqlite: a column with values. They may be protected data. A dump "
                      "keeps its values");
    command->add_flag("--json", values->json, "What was written, as JSON");
    add_load_options(*command, values->load);
    command->callback([&chosen, values] {
        chosen = [values] {
            auto load = values->load;
            // What is written is a dump again: objects as they were, unless asked otherwise.
            load.raw = !values->collapse;
            return answer(values->dump, load,
                          [&](heap::Heap& loaded) { return convert(loaded, *values); });
        };
    });
}

}  // namespace mapdiag::cli
