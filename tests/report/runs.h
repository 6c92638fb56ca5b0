#pragma once

#include <string>
#include <utility>

#include "mapdiag/report/run_report.h"
#include "record/builders.h"

namespace mapdiag::test {

inline report::ReportedRun judged(record::RunRecord record) {
    record::Journal journal;
    journal.has_end = !std::holds_alternative<std::monostate>(record.ending);
    auto path = "logs/" + record.entity + ".diag.jsonl";
    journal.record = std::move(record);
    return report::judge_journal(std::move(path), std::move(journal));
}

inline report::ReportedRun judged(RecordBuilder builder, const std::string& entity) {
    return judged(builder.with([&](record::RunRecord& r) { r.entity = entity; }).build());
}

inline report::ReportedRun unreadable(const std::string& path) {
    report::ReportedRun run;
    run.path = path;
    run.unreadable = "can't read " + path + ": not a journal of mapdiag";
    return run;
}

inline RecordBuilder memory_killed() {
    auto builder = RecordBuilder::v2();
    builder.killed(9).with_limit(90 * kMiB, "/a").with_peak(90 * kMiB).with_machine_kills(1);
    return builder.with_events({0, 0, 35, 1, 1, 0, {}});
}

}  // namespace mapdiag::test
