#include "mapdiag/report/diag_lines.h"

#include <algorithm>
#include <csignal>
#include <regex>

#include "record/builders.h"
#include "support/catch.h"

using namespace mapdiag;
using namespace mapdiag::record;
using mapdiag::test::kMiB;
using mapdiag::test::RecordBuilder;
using Lines = std::vector<std::string>;

namespace {

const std::string kPrefix = "[diag E] ";

std::size_t topic_rank(const std::string& text) {
    const std::array<const char*, 8> order = {
        "exit:", "time:", "cgroup ", "memory:", "profile:", "cause:", "advice:", "warning:"};
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (text.starts_with(order[i])) {
            return i;
        }
    }
    return text.starts_with("  ") ? 2 : order.size();
}

// The lines without the prefix, after a look at what holds for all of them.
Lines lines_of(const RunRecord& record) {
    Lines texts;
    std::size_t last = 0;
    for (const auto& line : report::diag_lines(record, diagnose::diagnose(record))) {
        INFO(line);
        REQUIRE(line.starts_with(kPrefix));
        REQUIRE(line.find('\n') == std::string::npos);
        texts.push_back(line.substr(kPrefix.size()));
        const auto rank = topic_rank(texts.back());
        REQUIRE(rank < 8);
        REQUIRE(rank >= last);
        last = rank;
    }
    return texts;
}

bool has(const Lines& lines, const std::string& line) {
    return std::ranges::find(lines, line) != lines.end();
}

Lines with_topic(const Lines& lines, const std::string& topic) {
    Lines found;
    for (const auto& line : lines) {
        if (line.starts_with(topic)) {
            found.push_back(line);
        }
    }
    return found;
}

// As existing readers look for it: the first number behind the word.
std::string first_peak(const Lines& lines) {
    std::string all;
    for (const auto& line : lines) {
        all += kPrefix + line + '\n';
    }
    std::smatch match;
    const std::regex pattern("peak[^\\d\\n]*([\\d.,]+)\\s*([KMGT]?i?B?)", std::regex::icase);
    return std::regex_search(all, match, pattern) ? match[1].str() + ' ' + match[2].str() : "none";
}

}  // namespace

TEST_CASE("a run at its time limit, and the stacks that were written down") {
    const auto record =
        RecordBuilder::v2()
            .killed(SIGTERM)
            .with([](RunRecord& r) {
                r.timed_out = true;
                r.stack_dumps = {{9.5, "last gasp", "logs/E.last-gasp.stacks", 1, ""},
                                 {10, "time limit", "logs/E.time-limit.stacks", 2, "too slow"},
                                 {10, "time limit", "", 0, "no py-spy was found"},
                                 {10, "time limit", "", 0, ""}};
            })
            .build();
    const auto lines = lines_of(record);
    CHECK(has(lines,
              "exit: killed by SIGTERM (signal 15), status 143; mapdiag leaves with 124, "
              "since its time limit was reached"));
    CHECK(has(lines,
              "profile: stacks at the last gasp, after 9.50 s, of 1 process: "
              "logs/E.last-gasp.stacks"));
    CHECK(has(lines,
              "profile: stacks at the time limit, after 10.0 s, of 2 processes: "
              "logs/E.time-limit.stacks; not of all: too slow"));
    CHECK(has(lines,
              "profile: stacks at the time limit, after 10.0 s: not available, because no "
              "py-spy was found"));
    CHECK(has(lines,
              "profile: stacks at the time limit, after 10.0 s: not available, because the "
              "job ended before they were read"));
}

TEST_CASE("a run that ended well, on v2") {
    const auto record = RecordBuilder::v2()
                            .with_peak(110 * kMiB)
                            .with_split({100 * kMiB, 3 * kMiB, 0, 2 * kMiB, 0, 0})
                            .with_limit(400 * kMiB, "/sys/fs/cgroup/a")
                            .with([](RunRecord& r) {
                                r.swap_peak = Reading<std::uint64_t>::of(0, "memory.swap.peak");
                            })
                            .build();
    const auto lines = lines_of(record);
    CHECK(
        lines ==
        Lines{"exit: exited with 0",
              "time: 10.0 s wall clock, 9.00 s CPU (8.00 s user, 1.00 s system; 90.0 % of one "
              "core), cpu.stat of the job's own cgroup",
              "cgroup memory.peak bytes: 115343360", "cgroup memory.events:", "  low 0", "  high 0",
              "  max 0", "  oom 0", "  oom_kill 0", "  oom_group_kill 0",
              "memory: peak 110.0 MiB of 400.0 MiB (27.5 %), own cgroup (v2): memory.peak of the "
              "job's own cgroup",
              "memory: at the highest sample (108.9 MiB after 0.30 s): anon 100.0 MiB, file cache "
              "3.00 MiB (the kernel can give most of it back), shmem 0 B, kernel 2.00 MiB",
              "memory: limit: 400.0 MiB (419430400 bytes), set by /sys/fs/cgroup/a, carried over "
              "to the job's own cgroup",
              "memory: swap: 0 B at its highest (memory.swap.peak)",
              "memory: largest process: 100.0 MiB resident (ru_maxrss)",
              "advice: a memory limit of 144.0 MiB would fit this run with a quarter of headroom; "
              "2 such runs fit at once in the limit in force of 400.0 MiB"});
    CHECK(first_peak(lines) == "115343360 ");
}

TEST_CASE("v1 leaves out the counters that it does not have, and says where the lines come from") {
    const auto lines =
        lines_of(RecordBuilder::v1().with_events({{}, {}, 51, {}, 0, {}, {}}).build());
    CHECK(has(lines, "  max 51"));
    CHECK(has(lines, "  oom_kill 0"));
    CHECK(with_topic(lines, "  ").size() == 2);
    CHECK(with_topic(lines, "memory: ").front() ==
          "memory: those come from cgroup v1: memory.max_usage_in_bytes as memory.peak, "
          "memory.failcnt as max, oom_kill of memory.oom_control; v1 counts nothing else of them");
    CHECK(has(lines, "memory: swap: not accounted") ==
          !RecordBuilder::v1().build().peak_sample->split.swap);
}

TEST_CASE("swap that is not accounted") {
    const auto record = RecordBuilder::v1().with_split({50 * kMiB, 0, 0, {}, {}, {}}).build();
    CHECK(has(lines_of(record), "memory: swap: not accounted"));
    const auto sampled = RecordBuilder::v1()
                             .with_split({50 * kMiB, 0, 0, {}, 5 * kMiB, {}})
                             .with([](RunRecord& r) {
                                 r.swap_peak = Reading<std::uint64_t>::unavailable("no such file");
                             })
                             .build();
    CHECK(has(lines_of(sampled),
              "memory: swap: 5.00 MiB at the highest sample; its own highest is not available, "
              "because no such file"));
}

TEST_CASE("a sampled figure says so, and is the first peak that a reader finds") {
    const auto record =
        RecordBuilder::process_tree("can't make the cgroup /a/b: Read-only file system").build();
    const auto lines = lines_of(record);
    CHECK(has(lines, "cgroup memory.peak bytes: n/a (the job had no cgroup of its own)"));
    CHECK(has(lines, "cgroup memory.events: n/a (the job had no cgroup of its own)"));
    CHECK(has(lines,
              "memory: peak at least 105.0 MiB, process tree, sampled every 10 ms: resident set of "
              "the job's processes (110100480 bytes)"));
    CHECK(has(lines,
              "memory: own cgroup (v1) could not be had: can't make the cgroup /a/b: "
              "Read-only file system"));
    CHECK(has(lines, "memory: swap: not available, because the job had no cgroup of its own"));
    CHECK(first_peak(lines) == "105.0 MiB");

    auto seldom = record;
    seldom.sampling_interval_s = 5.01;
    CHECK(has(lines_of(seldom),
              "memory: peak at least 105.0 MiB, process tree, sampled every 5.01 s: resident set "
              "of the job's processes (110100480 bytes)"));
}

TEST_CASE("v2 before memory.peak: the highest sample, and no number before it") {
    const auto record =
        RecordBuilder::v2()
            .with([](RunRecord& r) {
                r.sampling_interval_s = 0.1;
                r.peak = Reading<std::uint64_t>::of(
                    105 * kMiB,
                    "highest sample of memory.current; this kernel has no memory.peak "
                    "(5.19 and newer do)");
                r.peak_sample = Reading<PeakSample>::of({105 * kMiB, 1, {}}, "the highest sample");
            })
            .build();
    const auto lines = lines_of(record);
    CHECK(has(lines, "cgroup memory.peak bytes: n/a (this kernel keeps no such figure)"));
    CHECK(first_peak(lines) == "105.0 MiB");
    CHECK(has(lines,
              "memory: the split of that figure is not available, because only processes "
              "could be looked at, and they do not tell it") == true);
}

TEST_CASE("figures that could not be had say why and never 0") {
    const auto record =
        RecordBuilder::v2()
            .with([](RunRecord& r) {
                r.peak =
                    Reading<std::uint64_t>::unavailable("the run ended before the first sample");
                r.peak_sample = Reading<PeakSample>::unavailable("no sample was taken");
                r.largest_process = Reading<std::uint64_t>::unavailable("nobody told it");
                r.user_s = Reading<double>::unavailable("no cpu controller");
                r.events = Reading<MemoryEvents>::unavailable("can't open memory.events");
            })
            .build();
    const auto lines = lines_of(record);
    CHECK(has(lines, "cgroup memory.peak bytes: n/a (it could not be read)"));
    CHECK(has(lines, "cgroup memory.events: n/a (can't open memory.events)"));
    CHECK(has(lines,
              "memory: not available, because the run ended before the first sample: the peak"));
    CHECK(has(lines,
              "memory: the split of that figure is not available, because no sample was "
              "taken"));
    CHECK(has(lines, "memory: limit: not available, because no limit is set"));
    CHECK(has(lines, "memory: largest process: not available, because nobody told it"));
    CHECK(has(lines, "time: 10.0 s wall clock; CPU not available, because no cpu controller"));
    CHECK(first_peak(lines) == "none");
}

TEST_CASE("how it ended") {
    CHECK(lines_of(RecordBuilder::v2().exited(7).build()).front() == "exit: exited with 7");
    CHECK(lines_of(RecordBuilder::v2().killed(SIGKILL).build()).front() ==
          "exit: killed by SIGKILL (signal 9), status 137");
    CHECK(lines_of(RecordBuilder::v2().killed(SIGSEGV, true).build()).front() ==
          "exit: killed by SIGSEGV (signal 11), status 139, core dumped");
    const auto never = RecordBuilder::v2().with(
        [](RunRecord& r) { r.ending = NotStarted{127, "can't run x: No such file or directory"}; });
    CHECK(lines_of(RecordBuilder(never).build()) ==
          Lines{"exit: never started, status 127: can't run x: No such file or directory"});
    CHECK(report::wrapper_killed_line("E") ==
          "[diag E] exit: mapdiag itself was killed and its watcher ended the job; the output is "
          "incomplete and must not be used");
}

TEST_CASE("a memory kill: one cause with signal, kills, peak and limit") {
    auto builder = RecordBuilder::v2();
    builder.killed(SIGKILL).with_limit(90 * kMiB, "/a").with_peak(90 * kMiB).with_machine_kills(1);
    builder.with_events({0, 0, 35, 1, 1, 0, {}});
    const auto lines = lines_of(builder.build());
    CHECK(with_topic(lines, "cause:") ==
          Lines{"cause: killed by the kernel's memory killer (SIGKILL, 1 memory kill) at the limit "
                "of 90.0 MiB that /a sets (peak 90.0 MiB)"});
    CHECK(with_topic(lines, "warning:") ==
          Lines{"warning: the output is incomplete and must not be used: the run was cut short"});
    CHECK(with_topic(lines, "advice:").size() == 1);
}

TEST_CASE("a plain end has no cause line") {
    CHECK(with_topic(lines_of(RecordBuilder::v2().exited(7).build()), "cause:").empty());
}

TEST_CASE("profile lines stand between memory and cause, its warnings last") {
    auto builder = RecordBuilder::v2();
    builder.killed(SIGTERM).with([](RunRecord& r) {
        r.profile.state = ProfileState::not_found;
        r.profile.looked_at = {{ProfilerSource::search_path, "/bin", ""}};
    });
    const auto lines = lines_of(builder.build());
    CHECK(with_topic(lines, "profile:").size() + with_topic(lines, "warning:").size() >= 2);
}

TEST_CASE("a shared group gives an upper bound") {
    auto builder = RecordBuilder::process_tree("no");
    builder.with([](RunRecord& r) {
        r.placement = Placement::shared_cgroup;
        r.peak_sample = Reading<PeakSample>::unavailable("no sample was taken");
        r.sampling_interval_s.reset();
    });
    CHECK(has(lines_of(builder.build()),
              "memory: peak at most 105.0 MiB, shared cgroup, an upper bound, since others are in "
              "it: resident set of the job's processes"));
}

TEST_CASE("whatever a text holds, a line stays one line") {
    auto builder = RecordBuilder::v2();
    builder.with([](RunRecord& r) { r.troubles = {"a\nb\x1b[31m"}; });
    CHECK(
        has(lines_of(builder.build()), "warning: mapdiag's own work had trouble: a\\nb\\x1b[31m"));
}

TEST_CASE("a shared cgroup gives an upper bound beside what was seen of the job's processes") {
    const auto record = RecordBuilder::process_tree("no")
                            .with([](RunRecord& r) {
                                r.placement = Placement::shared_cgroup;
                                r.peak = Reading<std::uint64_t>::of(
                                    130 * kMiB, "memory.peak of /a, which rose during the run");
                                r.peak_sample = Reading<PeakSample>::of({100 * kMiB, 0.5, {}},
                                                                        "the highest sample");
                            })
                            .with_limit(140 * kMiB, "/a", false)
                            .build();
    const auto lines = lines_of(record);
    CHECK(
        has(lines,
            "memory: peak at most 130.0 MiB of 140.0 MiB (92.9 %), shared cgroup, an upper bound, "
            "since others are in it: memory.peak of /a, which rose during the run"));
    CHECK(has(lines,
              "memory: the job's own processes: 100.0 MiB resident in sum at the highest sample "
              "(0.50 s after the start, sampled every 10 ms; pages that they share count once for "
              "each)"));
    // A bound shows neither a need nor a narrow escape.
    CHECK(with_topic(lines, "advice: ").empty());
}
