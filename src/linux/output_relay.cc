#include "mapdiag/linux/output_relay.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "mapdiag/linux/exec.h"
#include "mapdiag/support/text.h"

namespace mapdiag::linux_os {
namespace {

constexpr std::size_t kBlock = 256U << 10;
constexpr int kPipeSize = 1 << 20;  // what a user may ask for by default, pipe(7)
constexpr std::size_t kTail = 500;
/// How long a thread may take to pass on the block that it has in hand.
constexpr auto kHandOver = std::chrono::milliseconds(100);

using Clock = std::chrono::steady_clock;

std::int64_t now_ns() {
    return Clock::now().time_since_epoch().count();
}

void signal_event(int event) {
    const std::uint64_t one = 1;
    (void)!::write(event, &one, sizeof one);
}

void wait_writable(int fd) {
    pollfd polled = {.fd = fd, .events = POLLOUT, .revents = 0};
    ::poll(&polled, 1, -1);
}

enum class WhenFull { wait, fail };

// Writes everything. Where somebody set the descriptor non-blocking, a full pipe is waited for or
// is a failure. Gives 0 or the errno.
int write_whole(int fd, std::string_view bytes, WhenFull when_full, std::uint64_t& written) {
    while (!bytes.empty()) {
        const auto put = ::write(fd, bytes.data(), bytes.size());
        if (put >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(put));
            written += static_cast<std::uint64_t>(put);
        } else if (errno == EAGAIN && when_full == WhenFull::wait) {
            wait_writable(fd);
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

}  // namespace

// ---------------------------------------------------------------------------------------------
// EntityLog

Result<std::unique_ptr<EntityLog>> EntityLog::create(const std::string& path) {
    if (auto made = make_folder(std::filesystem::path(path).parent_path().string()); !made) {
        return std::unexpected(made.error());
    }
    // Non-blocking: a FIFO of that name must not hold the job up.
    auto fd = open_file(path, O_WRONLY | O_CREAT | O_APPEND | O_TRUNC | O_NONBLOCK | O_NOCTTY);
    if (!fd) {
        return std::unexpected(Error("write the log", path, fd.error().errno_value()));
    }
    return std::unique_ptr<EntityLog>(new EntityLog(path, std::move(*fd)));
}

void EntityLog::append(std::string_view bytes) {
    if (bytes.empty()) {
        return;
    }
    const std::lock_guard lock(mutex_);
    if (!failure_.empty()) {
        lost_bytes_ += bytes.size();
        return;
    }
    std::uint64_t written = 0;
    // A log that is a FIFO whose reader sleeps must not hold the job up.
    if (const int failed = write_whole(fd_.get(), bytes, WhenFull::fail, written)) {
        failure_ = errno_text(failed);
        lost_bytes_ += bytes.size() - written;
        bytes = bytes.substr(0, written);
    }
    if (!bytes.empty()) {
        at_line_start_ = bytes.back() == '\n';
    }
}

void EntityLog::end_line() {
    bool needed = false;
    {
        const std::lock_guard lock(mutex_);
        needed = !at_line_start_;
    }
    if (needed) {
        append("\n");
    }
}

void EntityLog::find_line_start() {
    const std::lock_guard lock(mutex_);
    struct stat status = {};
    if (::fstat(fd_.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        return;
    }
    const Fd reader(
        ::open(("/proc/self/fd/" + std::to_string(fd_.get())).c_str(), O_RDONLY | O_CLOEXEC));
    char last = '\n';
    if (status.st_size > 0 && ::pread(reader.get(), &last, 1, status.st_size - 1) != 1) {
        last = ' ';  // not known: a line end too many does less harm than one too few
    }
    at_line_start_ = last == '\n';
}

std::uint64_t EntityLog::lost_bytes() const {
    const std::lock_guard lock(mutex_);
    return lost_bytes_;
}

std::string EntityLog::failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
}

// ---------------------------------------------------------------------------------------------
// Pipes

Result<OutputPipe> make_output_pipe() {
    std::array<int, 2> ends = {};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return std::unexpected(Error::from_errno("make", "a pipe"));
    }
    ::fcntl(ends[0], F_SETPIPE_SZ, kPipeSize);
    return OutputPipe{Fd(ends[0]), Fd(ends[1])};
}

bool same_open_file(int a, int b) {
    const auto self = ::getpid();
    const auto compared = ::syscall(SYS_kcmp, self, self, KCMP_FILE, a, b);
    if (compared >= 0) {
        return compared == 0;
    }
    // kcmp may be left out of the kernel or refused by seccomp: two descriptors of one pipe or
    // device are as good as one open file here.
    struct stat first = {};
    struct stat second = {};
    return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino && !S_ISREG(first.st_mode);
}

// ---------------------------------------------------------------------------------------------
// OutputRelay

struct OutputRelay::Side {
    RelaySide ends;
    std::atomic<bool> ended = false;
    std::atomic<bool> idle = false;
    std::atomic<std::uint64_t> read = 0;
    std::atomic<std::uint64_t> passed_on = 0;
    std::uint64_t mark = 0;          ///< bytes that were there when the job ended
    std::atomic<bool> left = false;  ///< the thread has nothing more to do
    std::atomic<std::int64_t> last_active_ns = 0;
    mutable std::mutex mutex;
    SideOutcome outcome;
    std::string tail;
};

OutputRelay::OutputRelay(EntityLog& log)
    : log_(log), stop_(::eventfd(0, EFD_CLOEXEC)), side_ended_(::eventfd(0, EFD_CLOEXEC)) {}

Result<std::unique_ptr<OutputRelay>> OutputRelay::start(std::vector<RelaySide>& sides,
                                                        EntityLog& log) {
    std::unique_ptr<OutputRelay> relay(new OutputRelay(log));
    if (!relay->stop_ || !relay->side_ended_) {
        return std::unexpected(Error::from_errno("make", "an event descriptor"));
    }
    for (auto& ends : sides) {
        auto side = std::make_shared<Side>();
        side->ends = std::move(ends);
        side->last_active_ns = now_ns();
        relay->sides_.push_back(side);
    }
    try {
        for (const auto& side : relay->sides_) {
            relay->threads_.emplace_back([self = relay.get(), side] { self->run(*side); });
        }
    } catch (const std::system_error& failure) {
        (void)relay->stop();
        for (std::size_t i = 0; i < sides.size(); ++i) {
            sides[i] = std::move(relay->sides_[i]->ends);
        }
        return std::unexpected(
            Error("start", "a thread for the job's output", failure.code().value()));
    }
    return relay;
}

OutputRelay::~OutputRelay() {
    (void)stop();
    for (auto& thread : threads_) {
        if (thread.joinable()) {
            thread.detach();
        }
    }
}

void OutputRelay::run(Side& side) {
    const auto block = std::make_unique_for_overwrite<char[]>(kBlock);
    while (!stopping_) {
        std::array<pollfd, 2> polled = {
            {{.fd = side.ends.from.get(), .events = POLLIN, .revents = 0},
             {.fd = stop_.get(), .events = POLLIN, .revents = 0}}};
        side.idle = true;
        if (::poll(polled.data(), polled.size(), -1) < 0 || polled[0].revents == 0) {
            continue;
        }
        side.idle = false;
        side.last_active_ns = now_ns();
        const auto got = ::read(side.ends.from.get(), block.get(), kBlock);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got > 0) {
            side.read += static_cast<std::uint64_t>(got);
        }
        if (got <= 0 ||
            !pass_on(side, std::string_view(block.get(), static_cast<std::size_t>(got)))) {
            end_side(side);
            break;
        }
        side.passed_on += static_cast<std::uint64_t>(got);
    }
    side.left = true;
}

void OutputRelay::end_side(Side& side) {
    side.ends.from.reset();
    if (side.ends.to == STDOUT_FILENO) {
        // Whoever reads it sees the end now, as without mapdiag. The number stays taken, so that no
        // file of ours gets it.
        let_go_of_standard_descriptor(STDOUT_FILENO);
    }
    side.ended = true;
    signal_event(side_ended_.get());
}

bool OutputRelay::pass_on(Side& side, std::string_view bytes) {
    std::uint64_t written = 0;
    const int failed = write_whole(side.ends.to, bytes, WhenFull::wait, written);
    log_.append(bytes);
    const std::lock_guard lock(side.mutex);
    side.outcome.bytes += bytes.size();
    side.tail = side.tail.append(bytes.substr(bytes.size() - std::min(bytes.size(), kTail)));
    if (side.tail.size() > kTail) {
        side.tail.erase(0, side.tail.size() - kTail);
    }
    if (failed != 0) {
        side.outcome.failure = errno_text(failed);
        side.outcome.lost_bytes += bytes.size() - written;
    }
    return failed == 0;
}

bool OutputRelay::finished() const {
    return std::ranges::all_of(sides_, [](const auto& side) { return side->ended.load(); });
}

bool OutputRelay::quiet_for(std::chrono::milliseconds time) const {
    const auto since = now_ns() - std::chrono::nanoseconds(time).count();
    return std::ranges::all_of(sides_, [&](const auto& side) {
        int waiting = 0;
        return side->ended ||
               (side->idle && side->last_active_ns < since &&
                ::ioctl(side->ends.from.get(), FIONREAD, &waiting) == 0 && waiting == 0);
    });
}

void OutputRelay::mark_end() {
    for (const auto& side : sides_) {
        if (side->ended) {
            continue;
        }
        int waiting = 0;
        std::uint64_t read = 0;
        do {  // until no block was read in between
            read = side->read;
            waiting = 0;
            (void)::ioctl(side->ends.from.get(), FIONREAD, &waiting);
        } while (read != side->read);
        side->mark = read + static_cast<std::uint64_t>(waiting);
    }
}

bool OutputRelay::passed_on_to_mark() const {
    return std::ranges::all_of(
        sides_, [](const auto& side) { return side->ended || side->passed_on >= side->mark; });
}

std::vector<RelaySide> OutputRelay::stop() {
    stopping_ = true;
    signal_event(stop_.get());
    std::vector<RelaySide> open;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
        auto& side = *sides_[i];
        // A thread that waits for a reader of its side can't be joined.
        const auto until = Clock::now() + kHandOver;
        while (!side.left && Clock::now() < until) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        if (side.left && threads_[i].joinable()) {
            threads_[i].join();
            if (!side.ended) {
                open.push_back(std::move(side.ends));
            }
        }
    }
    return open;
}

SideOutcome OutputRelay::outcome(bool is_stderr) const {
    for (const auto& side : sides_) {
        if (side->ends.is_stderr == is_stderr) {
            const std::lock_guard lock(side->mutex);
            return side->outcome;
        }
    }
    return {};
}

std::string OutputRelay::last_stderr_line() const {
    // The last side is stderr, or both together.
    const auto& side = *sides_.back();
    const std::lock_guard lock(side.mutex);
    const auto text = trim(side.tail);
    const auto start = text.find_last_of("\r\n");
    return std::string(start == std::string_view::npos ? text : text.substr(start + 1));
}

bool OutputRelay::at_line_start(bool is_stderr) const {
    for (const auto& side : sides_) {
        if (side->ends.is_stderr == is_stderr || sides_.size() == 1) {
            const std::lock_guard lock(side->mutex);
            return side->tail.empty() || side->tail.back() == '\n';
        }
    }
    return true;
}

}  // namespace mapdiag::linux_os
