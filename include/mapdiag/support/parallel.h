#pragma once

#include <cstddef>
#include <functional>

namespace mapdiag {

/// How many threads heavy work is spread over: one for each processor that this process may use.
std::size_t worker_count();

/// Calls work(0), work(1) ... work(parts - 1), spread over at most worker_count() threads, each
/// part once, and returns when all are done. Parts must not depend on each other. What `work`
/// throws is thrown on when all threads have stopped; parts that had not begun are left out then.
void in_parallel(std::size_t parts, const std::function<void(std::size_t)>& work);

/// A half-open range of indices.
struct IndexRange {
    std::size_t begin;
    std::size_t end;
};

/// The `part`th of `parts` nearly equal ranges of [0, size).
inline IndexRange part_of(std::size_t size, std::size_t part, std::size_t parts) {
    const auto step = size / parts;
    const auto rest = size % parts;
    const auto begin = step * part + (part < rest ? part : rest);
    return {begin, begin + step + (part < rest ? 1 : 0)};
}

}  // namespace mapdiag
