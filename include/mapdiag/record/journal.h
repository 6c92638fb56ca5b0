#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "mapdiag/record/record.h"
#include "mapdiag/support/error.h"
#include "mapdiag/support/fd.h"

namespace mapdiag::record {

/// The version of the journal's format, apart from the program's version. Raised only when an older
/// reader would misread a newer journal; a new key alone does not raise it.
inline constexpr int kJournalVersion = 1;

/// One named value of an event. Never a value or an argument of the job.
struct EventField {
    std::string name;
    std::variant<bool, std::int64_t, double, std::string> value;
};

/// Something that happened during the run: "signal", "python_found", "limit_near", "last_gasp", ...
struct Event {
    double at_s = 0;  ///< seconds since the job's start
    std::string kind;
    std::vector<EventField> fields;
};

/// Writes E.diag.jsonl: one JSON object a line, each line by one write(2) in append mode, so that a
/// reader never sees two lines mixed and a kill costs the last line at most. Has no state but the
/// descriptor: several threads may call it at the same time. A failed write is the caller's to say;
/// it is not tried again.
class JournalWriter {
  public:
    /// Makes the file (an older journal of the same name is replaced) and writes the header:
    /// entity, program, argument count and start of `known`.
    static Result<JournalWriter> create(const std::string& path, const RunRecord& known,
                                        std::string_view mapdiag_version);

    /// The job runs: placement, steps down, cgroup, limits and groups above of `known`.
    Result<void> started(const RunRecord& known);
    Result<void> sample(const Sample& sample);
    Result<void> event(const Event& event);
    /// All readings. Arguments, output text and the last stderr line are left out.
    Result<void> end(const RunRecord& record);
    /// Makes what was written outlive a crash of the machine (fdatasync).
    Result<void> sync();

    const std::string& path() const { return path_; }
    /// For the watcher's copy of this process, which writes wrapper_killed_end_line() into it.
    int descriptor() const { return fd_.get(); }

  private:
    JournalWriter(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
    Result<void> line(const std::string& text);

    std::string path_;
    Fd fd_;
};

/// The end of a journal whose mapdiag was killed, `at_s` after the job's start, to be written by
/// one write(2). Begins with a line end, since the last line may have been cut by the kill.
std::string wrapper_killed_end_line(double at_s);

/// What a journal holds.
struct Journal {
    std::string mapdiag_version;
    /// From the end line; where there is none, from the header, the start line and the samples: the
    /// peak is not available then, the highest sample is.
    RunRecord record;
    /// False: mapdiag and the job died together, or the run still goes on.
    bool has_end = false;
    std::vector<Sample> samples;
    std::vector<Event> events;
    /// What could not be read, for a person: "line 812 is cut".
    std::vector<std::string> notes;
};

/// Reads a journal up to its last whole line. Unknown keys and line types are ignored; bad lines
/// are left out with a note; text is made printable. An error: not a journal, a newer format
/// version, or more than 64 MiB.
Result<Journal> read_journal(const std::string& path);
/// The same from bytes; `shown` names them in messages.
Result<Journal> parse_journal(std::string_view bytes, const std::string& shown);

}  // namespace mapdiag::record
