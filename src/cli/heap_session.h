#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

#include "heap_questions.h"
#include "progress_line.h"

namespace mapdiag::cli {

/// How a dump is to be loaded, as given on the command line.
struct HeapLoadOptions {
    bool raw = false;
    bool no_index = false;
    std::string max_size;
};

void add_load_options(CLI::App& command, HeapLoadOptions& options);
void add_answer_options(CLI::App& command, AnswerOptions& options, bool may_show_values);

/// Loads a dump, with progress on a terminal, and says what there is to say about it.
Result<heap::Heap> load_heap(const std::string& dump, const HeapLoadOptions& options,
                             ProgressLine& progress);

/// Loads, asks, prints the answer, and keeps the index for the next time. Gives the exit status.
int answer(const std::string& dump, const HeapLoadOptions& options,
           const std::function<Result<std::string>(heap::Heap&)>& ask);

/// Writes a result to stdout; gives the exit status, kFailed where it can't be written.
int print_result(std::string_view text);

}  // namespace mapdiag::cli
