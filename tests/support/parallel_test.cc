#include "mapdiag/support/parallel.h"

#include <sched.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "catch.h"

using namespace mapdiag;

TEST_CASE("every part is done once and all are done at the end") {
    for (const std::size_t parts : {std::size_t{0}, std::size_t{1}, std::size_t{1000}}) {
        std::vector<std::atomic<int>> done(parts);
        in_parallel(parts, [&](std::size_t part) { ++done[part]; });
        for (const auto& times : done) {
            CHECK(times == 1);
        }
    }
}

TEST_CASE("no more threads work than processors are allowed") {
    cpu_set_t before;
    REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
        if (CPU_ISSET(cpu, &before)) {
            CPU_SET(cpu, &one);
        }
    }
    REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK(worker_count() == 1);
    std::set<std::thread::id> threads;
    in_parallel(50, [&](std::size_t) { threads.insert(std::this_thread::get_id()); });
    CHECK(threads == std::set{std::this_thread::get_id()});
    REQUIRE(::sched_setaffinity(0, sizeof before, &before) == 0);
    CHECK(worker_count() == static_cast<std::size_t>(CPU_COUNT(&before)));
}

TEST_CASE("what a part throws arrives when all threads have stopped") {
    std::atomic<int> running = 0;
    const auto work = [&](std::size_t part) {
        ++running;
        if (part == 3) {
            --running;
            throw std::runtime_error("part 3");
        }
        --running;
    };
    CHECK_THROWS_WITH(in_parallel(100, work), "part 3");
    CHECK(running == 0);
}

TEST_CASE("ranges of parts are nearly equal and cover everything once") {
    for (const std::size_t size : {0UL, 1UL, 7UL, 1000UL}) {
        for (const std::size_t parts : {1UL, 3UL, 7UL, 16UL}) {
            std::size_t next = 0;
            for (std::size_t part = 0; part < parts; ++part) {
                const auto range = part_of(size, part, parts);
                CHECK(range.begin == next);
                CHECK(range.end - range.begin >= size / parts);
                CHECK(range.end - range.begin <= size / parts + 1);
                next = range.end;
            }
            CHECK(next == size);
        }
    }
}
