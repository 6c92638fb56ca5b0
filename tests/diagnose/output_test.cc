#include <csignal>

#include "judge.h"

using namespace mapdiag;
using namespace mapdiag::record;
using mapdiag::test::RecordBuilder;
using mapdiag::test::says;
using mapdiag::test::text_of;

namespace {

RunRecord with_file(OutputFileState file, int status = 0) {
    auto builder = RecordBuilder::v2();
    builder.exited(status).with([&](RunRecord& r) { r.output_file = file; });
    return builder.build();
}

}  // namespace

TEST_CASE("the output of a run that was cut short must not be used") {
    CHECK(text_of(RecordBuilder::v2().killed(SIGKILL).build(), "output-incomplete") ==
          "the output is incomplete and must not be used: the run was cut short");
    CHECK(says(RecordBuilder::v2().exited(137).build(), "output-incomplete"));
    CHECK(says(RecordBuilder::v2().with([](RunRecord& r) { r.ending = WrapperKilled{}; }).build(),
               "output-incomplete"));
    CHECK(says(RecordBuilder::v2().with([](RunRecord& r) { r.ending = {}; }).build(),
               "output-incomplete"));
    CHECK_FALSE(says(RecordBuilder::v2().exited(0).build(), "output-incomplete"));
    CHECK_FALSE(says(RecordBuilder::v2().exited(7).build(), "output-incomplete"));
    CHECK_FALSE(says(
        RecordBuilder::v2().with([](RunRecord& r) { r.ending = NotStarted{127, "x"}; }).build(),
        "output-incomplete"));
    SECTION("a worker that was killed makes it doubtful") {
        auto builder = RecordBuilder::v2();
        builder.with_machine_kills(1).with_events({0, 0, 0, 1, 1, 0, {}});
        CHECK(text_of(builder.build(), "output-incomplete") ==
              "the output may be incomplete and must not be used without a check: a worker was "
              "killed, though the job exited with 0");
    }
}

TEST_CASE("the known output file is looked at") {
    CHECK(text_of(with_file({"/x", false, 0, false, false}), "output-missing") ==
          "the output file is missing, though the job exited with 0");
    CHECK(text_of(with_file({"/x", false, 0, false, false}, 1), "output-missing") ==
          "the output file is missing");
    CHECK(text_of(with_file({"/x", true, 0, false, false}), "output-empty") ==
          "the output file is empty (0 bytes): it is incomplete and must not be used");
    CHECK(text_of(with_file({"/x", true, 5, true, false}), "output-old") ==
          "the output file is older than the start of the run: this run did not write it");
    CHECK(text_of(with_file({"/x", true, 5, false, true}), "output-temporary") ==
          "a .tmp file was left beside the output file: the output is incomplete and must not be "
          "used");
    const auto good = test::judge(with_file({"/x", true, 5, false, false}));
    for (const auto* id : {"output-missing", "output-empty", "output-old", "output-temporary"}) {
        CHECK(text_of(good, id).empty());
    }
}

TEST_CASE("log and streams") {
    auto builder = RecordBuilder::v2();
    CHECK_FALSE(says(builder.build(), "log-incomplete"));
    CHECK_FALSE(says(builder.build(), "output-lost"));
    builder.with([](RunRecord& r) {
        r.log.failure = "can't write logs/E.log: No space left on device";
        r.log.lost_bytes = 2048;
        r.out = {100, 50, "Broken pipe"};
    });
    CHECK(text_of(builder.build(), "log-incomplete") ==
          "the log is incomplete (2.00 KiB are missing): can't write logs/E.log: No space left on "
          "device");
    CHECK(text_of(builder.build(), "output-lost") ==
          "50 B of stdout could not be passed on: Broken pipe");
}

TEST_CASE("what the job left running is named") {
    auto builder = RecordBuilder::v2();
    CHECK_FALSE(says(builder.build(), "left-running"));
    builder.with([](RunRecord& r) { r.leftovers = {{77, "sleep", false, true}}; });
    CHECK(text_of(builder.build(), "left-running") ==
          "the job left 1 process running, not killed by mapdiag: 77 (sleep, stopped)");
    builder.with([](RunRecord& r) {
        r.leftovers.assign(7, {1, "a", false, false});
        r.leftovers[0].holds_output = true;
    });
    CHECK(
        text_of(builder.build(), "left-running") ==
        "the job left 7 processes running, not killed by mapdiag: 1 (a, holds the output open), 1 "
        "(a), 1 (a), 1 (a), 1 (a) and 2 more; what they still write to the job's output is not in "
        "the log");
}

TEST_CASE("trouble of mapdiag's own is told") {
    auto builder = RecordBuilder::v2();
    builder.with([](RunRecord& r) { r.troubles = {"can't a", "can't b"}; });
    CHECK(text_of(builder.build(), "trouble") ==
          "mapdiag's own work had trouble: can't a; can't b");
}
