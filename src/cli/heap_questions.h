#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mapdiag/heap/load.h"
#include "mapdiag/heap/objects.h"
#include "mapdiag/heap/summary.h"

namespace mapdiag::cli {

/// What all questions about a heap share.
struct AnswerOptions {
    bool json = false;
    bool show_values = false;
    std::size_t limit = 20;
};

/// Which part of the heap a summary or a size is about, as given: ADDR, and ADDR or type:NAME.
struct PartOptions {
    std::string of;
    std::vector<std::string> excluding;
    bool without_expensive = false;
    heap::SummaryOrder order = heap::SummaryOrder::kSize;
};

/// Decimal, or hexadecimal with 0x; nothing for anything else.
std::optional<std::uint64_t> find_address(const std::string& text);

/// "size", "count" or "retained".
std::optional<heap::SummaryOrder> find_order(std::string_view word);
/// Whether it is what `excluding` takes: an address, or type: and a name.
bool is_part(const std::string& text);

/// The questions, one function each, asked by the commands and by the shell. Each gives the text
/// that goes to stdout.
class HeapQuestions {
  public:
    HeapQuestions(heap::Heap& heap, AnswerOptions options) : heap_(heap), options_(options) {}

    Result<std::string> summary(const PartOptions& part) const;
    Result<std::string> retained() const;
    Result<std::string> retained(std::uint64_t address) const;
    Result<std::string> parents(std::uint64_t address) const;
    Result<std::string> children(std::uint64_t address) const;
    Result<std::string> show(std::uint64_t address) const;
    Result<std::string> all(const std::string& type) const;
    Result<std::string> size(std::uint64_t address, const PartOptions& part) const;
    Result<std::string> path(std::uint64_t address) const;
    Result<std::string> suspects() const;
    Result<std::string> strings() const;

    /// The object at an address; an error says what is there instead.
    Result<heap::ObjectId> object_at(std::uint64_t address) const;
    AnswerOptions& options() { return options_; }

  private:
    Result<heap::ObjectId> place_at(std::uint64_t address) const;
    Result<heap::WalkOptions> walk_of(const PartOptions& part) const;
    Result<std::string> list(std::string_view heading, const heap::ObjectList& list,
                             std::optional<heap::ObjectId> about) const;

    heap::Heap& heap_;
    AnswerOptions options_;
};

}  // namespace mapdiag::cli
