#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "mapdiag/support/error.h"
#include "mapdiag/support/fd.h"

namespace mapdiag::linux_os {

/// E.log: takes bytes in arrival order from several threads. After the first failure it takes no
/// more, so that what is in it is a true beginning of the output, and counts what is missing.
class EntityLog {
  public:
    /// Makes the folders of the path too; an earlier file of that name is emptied.
    static Result<std::unique_ptr<EntityLog>> create(const std::string& path);

    void append(std::string_view bytes);
    /// Begins a new line where the last byte was none.
    void end_line();
    /// Looks in the file for how it ends now: for the watcher, whose copy of this object is old.
    void find_line_start();

    const std::string& path() const { return path_; }
    std::uint64_t lost_bytes() const;
    /// Why bytes are missing; empty where none are.
    std::string failure() const;
    /// For the watcher, which closes the log when mapdiag is gone.
    int descriptor() const { return fd_.get(); }

  private:
    EntityLog(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

    std::string path_;
    Fd fd_;
    mutable std::mutex mutex_;
    std::string failure_;
    std::uint64_t lost_bytes_ = 0;
    bool at_line_start_ = true;
};

/// What became of one side of the job's output.
struct SideOutcome {
    std::uint64_t bytes = 0;
    std::uint64_t lost_bytes = 0;
    std::string failure;
};

/// A pipe from the job and the descriptor on which its bytes go on.
struct RelaySide {
    Fd from;
    int to = -1;
    bool is_stderr = false;
};

/// A pipe for one side of the job's output, as large as this user may make it.
struct OutputPipe {
    Fd read_end;
    Fd write_end;
};
Result<OutputPipe> make_output_pipe();

/// Whether two descriptors are the same open file, so that writes through both keep their order.
bool same_open_file(int a, int b);

/// Passes the job's output on, unchanged and at once, and writes a copy into the log, in constant
/// memory. Each side has a thread of its own, so that a reader who does not read stdout does not
/// hold stderr up. When a side can't be passed on any more (its reader is gone), the job's pipe is
/// closed, so that the job learns of it as it would without mapdiag; when the job closes its
/// stdout, so does mapdiag.
class OutputRelay {
  public:
    /// An error where no thread can be made (RLIMIT_NPROC); `sides` are as they were then.
    static Result<std::unique_ptr<OutputRelay>> start(std::vector<RelaySide>& sides,
                                                      EntityLog& log);
    OutputRelay(const OutputRelay&) = delete;
    OutputRelay& operator=(const OutputRelay&) = delete;
    /// Threads that wait for a reader are left behind: the process is about to end.
    ~OutputRelay();

    /// Readable when a side has come to its end.
    int end_descriptor() const { return side_ended_.get(); }
    /// All sides have come to their end.
    bool finished() const;
    /// No side has had anything to do for this long: what is still open is held by a process that
    /// does not write.
    bool quiet_for(std::chrono::milliseconds time) const;
    /// The job has ended: what it wrote is what has been read and what waits in the pipes now.
    void mark_end();
    /// All that was there at mark_end() has been passed on: what comes now is others' output.
    bool passed_on_to_mark() const;
    /// Ends the threads, each after what it is passing on just now; gives the pipes that are still
    /// open. A thread that waits for a reader of its side is left alone.
    std::vector<RelaySide> stop();

    SideOutcome outcome(bool is_stderr) const;
    /// The last whole or partial line that the job wrote to stderr, cut to 500 bytes.
    std::string last_stderr_line() const;
    bool at_line_start(bool is_stderr) const;

  private:
    struct Side;
    explicit OutputRelay(EntityLog& log);
    void run(Side& side);
    void end_side(Side& side);
    bool pass_on(Side& side, std::string_view bytes);

    EntityLog& log_;
    Fd stop_;
    Fd side_ended_;
    std::atomic<bool> stopping_ = false;
    std::vector<std::shared_ptr<Side>> sides_;
    std::vector<std::thread> threads_;
};

/// Starts a process that reads what leftovers of the job still write, so that they are not killed
/// by a closed pipe when mapdiag leaves. Their output goes on to files and terminals; where
/// mapdiag's own output is a pipe, it is dropped, since the pipe's reader waits for its end. The
/// process ends with the last leftover. Gives its pid.
Result<std::int32_t> keep_reading(const std::vector<RelaySide>& sides);

}  // namespace mapdiag::linux_os
