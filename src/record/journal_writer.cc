#include <nlohmann/json.hpp>

#include "mapdiag/record/journal.h"
#include "mapdiag/record/record_json.h"

namespace mapdiag::record {
namespace {

// Every line begins with its type.
std::string typed_line(const char* type, const Json& members) {
    Json line = Json::object({{"type", type}});
    line.update(members);
    return one_line(line) + '\n';
}

}  // namespace

Result<JournalWriter> JournalWriter::create(const std::string& path, const RunRecord& known,
                                            std::string_view mapdiag_version) {
    auto fd = create_for_appending(path);
    if (!fd) {
        return std::unexpected(std::move(fd.error()));
    }
    JournalWriter writer(path, std::move(*fd));
    Json header = {{"format", "mapdiag-journal"},
                   {"version", kJournalVersion},
                   {"mapdiag", std::string(mapdiag_version)}};
    header.update(header_to_json(known));
    if (auto written = writer.line(typed_line("header", header)); !written) {
        return std::unexpected(std::move(written.error()));
    }
    return writer;
}

Result<void> JournalWriter::started(const RunRecord& known) {
    return line(typed_line("start", start_to_json(known)));
}

Result<void> JournalWriter::sample(const Sample& sample) {
    return line(typed_line("sample", sample_to_json(sample)));
}

Result<void> JournalWriter::event(const Event& event) {
    return line(typed_line("event", event_to_json(event)));
}

Result<void> JournalWriter::end(const RunRecord& record) {
    return line(typed_line("end", record_to_json(record)));
}

Result<void> JournalWriter::sync() {
    return sync_data(fd_.get(), path_);
}

Result<void> JournalWriter::line(const std::string& text) {
    return write_all(fd_.get(), text, path_);
}

std::string wrapper_killed_end_line(double at_s) {
    const Json members = {{"wall_s", at_s}, {"ending", ending_to_json(WrapperKilled{})}};
    return '\n' + typed_line("end", members);
}

}  // namespace mapdiag::record
