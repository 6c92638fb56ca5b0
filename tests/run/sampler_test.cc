#include "../../src/run/sampler.h"

#include <vector>

#include "mapdiag/linux/clocks.h"
#include "support/catch.h"

using namespace mapdiag;
using namespace mapdiag::run;
using namespace std::chrono_literals;

namespace {

// Runs a sampler over `length` of fake time and gives the samples that reached the journal.
std::vector<record::Sample> journal_of(Clock::duration length, const Measure& measure,
                                       Sampler::Pace pace = {}) {
    std::vector<record::Sample> journal;
    const auto start = Clock::time_point(1h);
    Sampler sampler(measure, [&](const record::Sample& s) { journal.push_back(s); }, pace, start);
    for (auto now = start; now < start + length; now += sampler.until_next(now)) {
        sampler.poll(now);
        REQUIRE(sampler.until_next(now) > 0ns);
    }
    return journal;
}

}  // namespace

TEST_CASE("the time line thins itself") {
    const auto quiet = [] { return record::Sample{}; };
    const auto second = journal_of(1s, quiet);
    CHECK(second.size() >= 9);
    CHECK(second.size() <= 12);
    CHECK(journal_of(1h, quiet).size() < 1400);
    CHECK(journal_of(10h, quiet).size() < 2000);
    CHECK(journal_of(10h, quiet).size() > 1500);
}

TEST_CASE("frequent measuring does not lengthen the time line") {
    int measured = 0;
    const auto journal = journal_of(10s,
                                    [&] {
                                        ++measured;
                                        return record::Sample{};
                                    },
                                    {.shortest = 10ms, .cost_share = 1});
    CHECK(measured > 500);
    CHECK(journal.size() < 110);
}

TEST_CASE("measuring is frequent at first, and then as seldom as its share of a core allows") {
    int measured = 0;
    // Time that another clock says was not measuring: below 0, so each one takes 1 ms more.
    const Sampler::Pace pace = {.shortest = 10ms, .cost_share = 0.01, .credit = 20ms, .apart = [&] {
                                    return -measured * 1ms;
                                }};
    const auto count = [&] {
        ++measured;
        return record::Sample{};
    };
    (void)journal_of(200ms, count, pace);
    CHECK(measured >= 15);
    measured = 0;
    (void)journal_of(20s, count, pace);
    CHECK(measured >= 100);
    CHECK(measured <= 240);
}

TEST_CASE("however much a measurement costs, one is taken each second") {
    int measured = 0;
    // Each takes a whole minute by the other clock.
    const Sampler::Pace pace = {.shortest = 10ms, .cost_share = 0.01, .credit = 0ms, .apart = [&] {
                                    return -measured * 1min;
                                }};
    (void)journal_of(
        20s,
        [&] {
            ++measured;
            return record::Sample{};
        },
        pace);
    CHECK(measured >= 20);
    CHECK(measured <= 22);
}

TEST_CASE("what has a budget of its own does not make measuring seldom") {
    int measured = 0;
    const auto slow = [&] {
        ++measured;
        const auto end = linux_os::thread_cpu_time() + 1ms;
        while (linux_os::thread_cpu_time() < end) {
        }
        return record::Sample{};
    };
    const auto apart = [&] { return measured * 1ms; };
    (void)journal_of(2s, slow,
                     {.shortest = 10ms, .cost_share = 0.1, .credit = 1ms, .apart = apart});
    CHECK(measured > 190);
}

TEST_CASE("the highest sample is kept with its split and time") {
    const auto start = Clock::time_point(0s);
    std::uint64_t memory = 10;
    Sampler sampler(
        [&] {
            record::Sample sample;
            sample.memory = memory;
            sample.split.anon = memory / 2;
            return sample;
        },
        [](const record::Sample&) {}, {}, start);
    CHECK(!sampler.highest());
    sampler.measure_now(start + 1s);
    memory = 40;
    sampler.measure_now(start + 2s);
    memory = 20;
    sampler.measure_now(start + 3s);
    REQUIRE(sampler.highest());
    CHECK(sampler.highest()->memory == 40);
    CHECK(sampler.highest()->split.anon == 20U);
    CHECK(sampler.highest()->at_s == 2);
    CHECK(sampler.mean_interval_s() == 1);
}

TEST_CASE("stuck means under_oom for a whole second up to the last sample") {
    const auto start = Clock::time_point(0s);
    bool under_oom = true;
    Sampler sampler(
        [&] {
            record::Sample sample;
            sample.under_oom = under_oom;
            return sample;
        },
        [](const record::Sample&) {}, {}, start);
    sampler.measure_now(start + 1s);
    sampler.measure_now(start + 1900ms);
    CHECK_FALSE(sampler.stuck());
    sampler.measure_now(start + 2s);
    CHECK(sampler.stuck());
    // It may be seen once more, on its way out.
    under_oom = false;
    sampler.measure_now(start + 2500ms);
    CHECK(sampler.stuck());
    sampler.measure_now(start + 3001ms);
    CHECK_FALSE(sampler.stuck());
}

TEST_CASE("a short wait for memory is forgotten at once") {
    const auto start = Clock::time_point(0s);
    bool under_oom = true;
    Sampler sampler(
        [&] {
            record::Sample sample;
            sample.under_oom = under_oom;
            return sample;
        },
        [](const record::Sample&) {}, {}, start);
    for (int second = 1; second < 10; ++second) {
        under_oom = second % 2 == 0;
        sampler.measure_now(start + std::chrono::seconds(second));
        CHECK_FALSE(sampler.stuck());
    }
}
