#include "heap_session.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "app.h"
#include "mapdiag/support/units.h"
#include "talk.h"

namespace mapdiag::cli {
namespace {

// By the XDG base directory specification; "" where there is no home.
std::string cache_folder() {
    if (const char* const cache = std::getenv("XDG_CACHE_HOME");
        cache != nullptr && *cache == '/') {
        return std::string(cache) + "/mapdiag";
    }
    if (const char* const home = std::getenv("HOME"); home != nullptr && *home == '/') {
        return std::string(home) + "/.cache/mapdiag";
    }
    return {};
}

std::string check_size(const std::string& text) {
    const auto size = parse_size(text);
    if (!size) {
        return size.error().text();
    }
    return *size == 0 ? "can't read the size \"0\": nothing can be read then" : std::string();
}

}  // namespace

void add_load_options(CLI::App& command, HeapLoadOptions& options) {
    command.add_flag(
        "--raw", options.raw,
        "Keep instance dicts apart from their owners: the objects as they were dumped");
    command.add_flag("--no-index", options.no_index,
                     "Read the dump itself, and keep no index beside it or in the cache folder");
    command
        .add_option("--max-size", options.max_size,
                    "What a compressed dump may open to, for example 20G; else 64 times its size, "
                    "at least 256M")
        ->type_name("SIZE")
        ->check(check_size, "");
}

void add_answer_options(CLI::App& command, AnswerOptions& options, bool may_show_values) {
    command.add_flag("--json", options.json, "The answer as JSON");
    command
        .add_option("--limit", options.limit,
                    "How many rows; the rest is added up in a row [N others]")
        ->type_name("N")
        ->capture_default_str();
    if (may_show_values) {
        command.add_flag("--show-values", options.show_values,
                         "Show the values of strings and numbers. They may be protected data");
    }
}

Result<heap::Heap> load_heap(const std::string& dump, const HeapLoadOptions& options,
                             ProgressLine& progress) {
    heap::LoadOptions load;
    load.raw = options.raw;
    load.use_index = !options.no_index;
    load.cache_folder = cache_folder();
    load.limits.text = options.max_size.empty() ? 0 : parse_size(options.max_size).value_or(0);
    load.progress = [&progress](std::string_view what, double share) {
        progress.show(what, share);
    };
    auto heap = heap::Heap::load(dump, load);
    progress.wipe();
    if (heap) {
        for (const auto& warning : heap->warnings()) {
            say_warning(warning);
        }
    }
    return heap;
}

int print_result(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
        std::fflush(stdout) != 0) {
        say_error(Error::from_errno("write", "the result to stdout").text());
        return kFailed;
    }
    return kOk;
}

int answer(const std::string& dump, const HeapLoadOptions& options,
           const std::function<Result<std::string>(heap::Heap&)>& ask) {
    ProgressLine progress;
    auto heap = load_heap(dump, options, progress);
    if (!heap) {
        say_error(heap.error().text());
        return kFailed;
    }
    progress.show("working out the answer", -1);
    const auto text = heap::with_sound_index({&*heap}, [&] { return ask(*heap); });
    progress.wipe();
    if (!text) {
        say_error(text.error().text());
    }
    const int status = text ? print_result(*text) : kFailed;
    progress.show("keeping the index", -1);
    const auto warning = heap->save_index();
    progress.wipe();
    if (!warning.empty()) {
        say_warning(warning);
    }
    return status;
}

}  // namespace mapdiag::cli
