#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "json_tools.h"
#include "mapdiag/record/journal.h"
#include "mapdiag/support/text.h"

namespace mapdiag::record {
namespace {

// Ten hours make about 600 KiB. What is larger than this was not written by mapdiag.
constexpr std::size_t kLargestJournal = std::size_t{64} << 20;
constexpr std::size_t kLongestLine = std::size_t{4} << 20;
constexpr std::size_t kMostSamples = 200'000;
constexpr std::size_t kMostEvents = 100'000;
constexpr std::size_t kMostNotes = 20;
constexpr int kDeepest = 16;

// How deep brackets nest outside of strings. Guards what walks over the parsed tree afterwards.
bool too_deep(std::string_view line) {
    int depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (in_string) {
            i += c == '\\' ? 1 : 0;
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            if (++depth > kDeepest) {
                return true;
            }
        } else if (c == '}' || c == ']') {
            --depth;
        }
    }
    return false;
}

std::optional<Json> find_object(std::string_view line) {
    if (line.size() > kLongestLine || too_deep(line)) {
        return std::nullopt;
    }
    auto json = Json::parse(line.begin(), line.end(), nullptr, false);
    return json.is_object() ? std::optional(std::move(json)) : std::nullopt;
}

class Reader {
  public:
    explicit Reader(std::string shown) : shown_(std::move(shown)) {}

    Result<void> take_line(std::string_view line, std::size_t number, bool is_last);
    Result<Journal> finish();

  private:
    Result<void> take_header(const Json& object);
    void take_sample(const Json& object);
    void note(std::string text);
    void fill_gaps();

    std::string shown_;
    Journal journal_;
    bool has_header_ = false;
    std::size_t left_out_ = 0;
};

Result<void> Reader::take_header(const Json& object) {
    const Members members(object);
    const auto version = members.integer("version");
    if (members.text("type") != "header" || members.text("format") != "mapdiag-journal" ||
        !version) {
        return std::unexpected(Error::because(
            "read", shown_, "not a journal of mapdiag: its first line is no header"));
    }
    if (*version > kJournalVersion) {
        return std::unexpected(Error::because(
            "read", shown_,
            fmt::format("its format version is {}, this mapdiag reads {} at most: use a newer "
                        "mapdiag",
                        *version, kJournalVersion)));
    }
    has_header_ = true;
    members.take("mapdiag", journal_.mapdiag_version);
    read_record(object, journal_.record);
    return {};
}

void Reader::take_sample(const Json& object) {
    if (journal_.samples.size() < kMostSamples) {
        journal_.samples.push_back(read_sample(object));
    } else {
        ++left_out_;
    }
}

Result<void> Reader::take_line(std::string_view line, std::size_t number, bool is_last) {
    if (trim(line).empty()) {
        return {};
    }
    const auto object = find_object(line);
    if (!object) {
        if (!has_header_) {
            return std::unexpected(Error::because(
                "read", shown_,
                is_last ? "it was cut within its first line: mapdiag was killed as the run began"
                        : "not a journal of mapdiag: its first line is no header"));
        }
        note(is_last ? fmt::format("line {} (the last one) is cut and was left out", number)
                     : fmt::format("line {} is damaged and was left out", number));
        return {};
    }
    if (!has_header_) {
        return take_header(*object);
    }
    const auto type = Members(*object).text("type").value_or("");
    if (type == "sample") {
        take_sample(*object);
    } else if (type == "event") {
        if (journal_.events.size() < kMostEvents) {
            journal_.events.push_back(read_event(*object));
        } else {
            ++left_out_;
        }
    } else if (type == "start") {
        read_record(*object, journal_.record);
    } else if (type == "end" && !journal_.has_end) {
        journal_.has_end = true;
        read_record(*object, journal_.record);
    }
    return {};
}

void Reader::note(std::string text) {
    if (journal_.notes.size() < kMostNotes) {
        journal_.notes.push_back(std::move(text));
    }
}

// Without an end line that mapdiag itself wrote, the samples are all that there is of memory.
void Reader::fill_gaps() {
    auto& record = journal_.record;
    const bool measured_to_the_end = journal_.has_end &&
                                     !std::holds_alternative<WrapperKilled>(record.ending) &&
                                     !std::holds_alternative<std::monostate>(record.ending);
    if (measured_to_the_end) {
        return;
    }
    const std::string reason = "mapdiag ended before it could be read";
    record.peak = Reading<std::uint64_t>::unavailable(reason);
    record.events = Reading<MemoryEvents>::unavailable(reason);
    record.own_events = Reading<MemoryEvents>::unavailable(reason);
    record.machine_oom_kills = Reading<std::uint64_t>::unavailable(reason);
    record.swap_peak = Reading<std::uint64_t>::unavailable(reason);
    record.user_s = Reading<double>::unavailable(reason);
    record.system_s = Reading<double>::unavailable(reason);
    record.largest_process = Reading<std::uint64_t>::unavailable(reason);
    const auto highest = std::ranges::max_element(
        journal_.samples, {}, [](const Sample& sample) { return sample.memory.value_or(0); });
    if (highest != journal_.samples.end() && highest->memory) {
        record.peak_sample = Reading<PeakSample>::of(
            {*highest->memory, highest->at_s, highest->split}, "the highest sample");
    } else {
        record.peak_sample = Reading<PeakSample>::unavailable("no sample was taken");
    }
    for (const auto& sample : journal_.samples) {
        record.wall_s = std::max(record.wall_s, sample.at_s);
    }
    for (const auto& event : journal_.events) {
        record.wall_s = std::max(record.wall_s, event.at_s);
    }
}

Result<Journal> Reader::finish() {
    if (!has_header_) {
        return std::unexpected(Error::because(
            "read", shown_, "it is empty: mapdiag was killed as the run began, or never ran"));
    }
    if (left_out_ > 0) {
        note(fmt::format("{} samples or events too many were left out", left_out_));
    }
    fill_gaps();
    return std::move(journal_);
}

}  // namespace

Result<Journal> parse_journal(std::string_view bytes, const std::string& shown) {
    Reader reader(shown);
    std::size_t number = 0;
    while (!bytes.empty()) {
        const auto end = bytes.find('\n');
        const bool is_last = end == std::string_view::npos;
        const auto line = bytes.substr(0, end);
        bytes.remove_prefix(is_last ? bytes.size() : end + 1);
        if (auto taken = reader.take_line(line, ++number, is_last); !taken) {
            return std::unexpected(std::move(taken.error()));
        }
    }
    return reader.finish();
}

Result<Journal> read_journal(const std::string& path) {
    const auto bytes = read_file(path, kLargestJournal);
    if (!bytes) {
        return std::unexpected(bytes.error());
    }
    return parse_journal(*bytes, path);
}

}  // namespace mapdiag::record
