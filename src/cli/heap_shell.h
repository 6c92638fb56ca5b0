#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heap_session.h"

namespace mapdiag::cli {

/// The state of one interactive session: where one is, how one got there, and the list last seen.
class HeapShell {
  public:
    HeapShell(heap::Heap& heap, AnswerOptions options) : heap_(heap), ask_(heap, options) {}

    /// Answers one line. Nothing for an empty one.
    Result<std::string> run(std::string_view line);
    bool wants_to_quit() const { return quit_; }
    std::string prompt() const;

  private:
    using Words = std::vector<std::string_view>;

    Result<std::string> walk(const Words& words);
    Result<std::string> ask(const Words& words);
    Result<std::string> set(const Words& words);
    Result<std::string> summary(const Words& words);
    Result<std::string> go_to(heap::ObjectId id);
    Result<std::string> step(const Words& words, bool to_parents);
    Result<std::string> pick(std::string_view number);
    Result<std::string> back();
    Result<std::uint64_t> address_of(const Words& words) const;
    void remember(std::vector<heap::ObjectId> list) { list_ = std::move(list); }

    heap::Heap& heap_;
    HeapQuestions ask_;
    std::vector<heap::ObjectId> way_;   // the last one is where one is
    std::vector<heap::ObjectId> list_;  // what [N] picks from
    bool quit_ = false;
};

/// Reads questions line by line from stdin, with line editing and history on a terminal, and
/// answers them from one loaded graph. Gives the exit status.
int run_heap_shell(const std::string& dump, const HeapLoadOptions& load,
                   const AnswerOptions& answer);

}  // namespace mapdiag::cli
