#include "mapdiag/linux/proc.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <unordered_set>

#include "mapdiag/support/fd.h"
#include "mapdiag/support/text.h"

namespace mapdiag::linux_os {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSmall = 1U << 16;
// An environment may be as large as the whole argument space: 6 MiB with the usual stack limit.
constexpr std::size_t kEnvironment = 8U << 20;

// At most `limit` bytes from the start of a file; nothing where it can't be read at all. A process
// that ends in between gives ESRCH, which counts as not there.
std::optional<std::string> read_start(const std::string& path, std::size_t limit = kSmall) {
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (!fd) {
        return std::nullopt;
    }
    std::string bytes;
    std::array<char, 8192> chunk;
    while (bytes.size() < limit) {
        const auto wanted = std::min(chunk.size(), limit - bytes.size());
        const auto got = ::read(fd.get(), chunk.data(), wanted);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return std::nullopt;
        }
        if (got == 0) {
            break;
        }
        bytes.append(chunk.data(), static_cast<std::size_t>(got));
    }
    return bytes;
}

std::optional<std::string> read_link(const std::string& path) {
    std::array<char, 4096> target;
    const auto size = ::readlink(path.c_str(), target.data(), target.size());
    if (size <= 0) {
        return std::nullopt;
    }
    return std::string(target.data(), static_cast<std::size_t>(size));
}

std::optional<std::int32_t> find_pid(std::string_view text) {
    const auto number = find_u64(text);
    if (!number || *number == 0 || *number > 0x7fffffff) {
        return std::nullopt;
    }
    return static_cast<std::int32_t>(*number);
}

// The names in a folder that are process or thread numbers, ascending.
std::vector<std::int32_t> numbered_entries(const std::string& folder) {
    std::vector<std::int32_t> numbers;
    std::error_code failed;
    for (auto entry = fs::directory_iterator(folder, failed);
         !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
        if (const auto number = find_pid(entry->path().filename().native())) {
            numbers.push_back(*number);
        }
    }
    std::ranges::sort(numbers);
    return numbers;
}

template <class T>
T number_or_zero(std::string_view text) {
    T value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

// The text after "Key:" of a line in /proc/PID/status, without the blanks around it.
std::optional<std::string_view> status_value(std::string_view file, std::string_view key) {
    for (const auto line : split(file, '\n')) {
        if (line.starts_with(key) && line.substr(key.size()).starts_with(':')) {
            return trim(line.substr(key.size() + 1));
        }
    }
    return std::nullopt;
}

std::optional<std::uint64_t> status_number(std::string_view file, std::string_view key,
                                           int base = 10) {
    const auto text = status_value(file, key);
    if (!text) {
        return std::nullopt;
    }
    std::uint64_t value = 0;
    const auto [end, failed] =
        std::from_chars(text->data(), text->data() + text->size(), value, base);
    if (failed != std::errc() || end == text->data()) {
        return std::nullopt;
    }
    return value;
}

std::optional<std::uint64_t> kibibytes(std::string_view file, std::string_view key) {
    const auto value = status_number(file, key);
    return value ? std::optional(*value * 1024) : std::nullopt;
}

template <class T>
std::optional<T> narrowed(std::optional<std::uint64_t> value) {
    return value ? std::optional(static_cast<T>(*value)) : std::nullopt;
}

}  // namespace

std::string ProcFs::path(std::int32_t pid, std::string_view file) const {
    std::string joined = root_;
    joined += '/';
    joined += std::to_string(pid);
    joined += '/';
    joined += file;
    return joined;
}

std::vector<std::int32_t> ProcFs::pids() const {
    return numbered_entries(root_);
}

std::vector<std::int32_t> ProcFs::children(std::int32_t pid) const {
    std::vector<std::int32_t> found;
    bool told = false;
    for (const auto thread : numbered_entries(path(pid, "task"))) {
        const auto list = read_start(path(pid, "task/" + std::to_string(thread) + "/children"));
        if (!list) {
            continue;
        }
        told = true;
        for (const auto word : split_words(*list)) {
            if (const auto child = find_pid(word)) {
                found.push_back(*child);
            }
        }
    }
    if (!told) {
        return children_by_parent(pid);
    }
    std::ranges::sort(found);
    return found;
}

std::vector<std::int32_t> ProcFs::children_by_parent(std::int32_t pid) const {
    std::vector<std::int32_t> found;
    if (!stat(pid)) {
        return found;
    }
    for (const auto other : pids()) {
        const auto that = stat(other);
        if (that && that->parent == pid) {
            found.push_back(other);
        }
    }
    return found;
}

std::vector<std::int32_t> ProcFs::descendants(std::int32_t pid, std::size_t at_most) const {
    std::vector<std::int32_t> found;
    std::unordered_set<std::int32_t> seen = {pid};
    // The list is its own queue; a pid used again in between can't make it loop.
    for (std::size_t next = 0; next <= found.size() && found.size() < at_most; ++next) {
        for (const auto child : children(next == 0 ? pid : found[next - 1])) {
            if (found.size() < at_most && seen.insert(child).second) {
                found.push_back(child);
            }
        }
    }
    return found;
}

// 1234 (a name) with (brackets) S 1 1234 1200 34816 1234 4194304 ... (22) 815309 ...
// The name is whatever the program chose: only the last ") " ends it.
std::optional<ProcessStat> ProcFs::stat(std::int32_t pid) const {
    const auto text = read_start(path(pid, "stat"));
    if (!text) {
        return std::nullopt;
    }
    const auto open = text->find('(');
    const auto close = text->rfind(')');
    if (open == std::string::npos || close == std::string::npos || close < open) {
        return std::nullopt;
    }
    const auto fields = split_words(std::string_view(*text).substr(close + 1));
    // fields[0] is field 3 of the manual page.
    if (fields.size() < 20 || fields[0].size() != 1) {
        return std::nullopt;
    }
    const auto start = find_u64(fields[19]);
    if (!start) {
        return std::nullopt;
    }
    ProcessStat stat;
    stat.id = {.pid = pid, .start_ticks = *start};
    stat.name = text->substr(open + 1, close - open - 1);
    stat.state = fields[0][0];
    stat.parent = number_or_zero<std::int32_t>(fields[1]);
    stat.process_group = number_or_zero<std::int32_t>(fields[2]);
    stat.session = number_or_zero<std::int32_t>(fields[3]);
    stat.user_ticks = number_or_zero<std::uint64_t>(fields[11]);
    stat.system_ticks = number_or_zero<std::uint64_t>(fields[12]);
    stat.stack_start = fields.size() > 25 ? number_or_zero<std::uint64_t>(fields[25]) : 0;
    return stat;
}

std::optional<ProcessId> ProcFs::id(std::int32_t pid) const {
    const auto found = stat(pid);
    return found ? std::optional(found->id) : std::nullopt;
}

bool ProcFs::alive(const ProcessId& id) const {
    const auto now = stat(id.pid);
    return now && now->id == id && now->state != 'Z' && now->state != 'X';
}

std::optional<ProcessStatus> ProcFs::status(std::int32_t pid) const {
    const auto text = read_start(path(pid, "status"));
    if (!text) {
        return std::nullopt;
    }
    ProcessStatus status;
    status.peak_resident_bytes = kibibytes(*text, "VmHWM");
    if (const auto users = status_value(*text, "Uid")) {
        const auto words = split_words(*users);
        if (words.size() >= 2) {
            status.real_user = narrowed<std::uint32_t>(find_u64(words[0]));
            status.effective_user = narrowed<std::uint32_t>(find_u64(words[1]));
        }
    }
    status.effective_capabilities = status_number(*text, "CapEff", 16);
    status.seccomp_mode = narrowed<std::uint32_t>(status_number(*text, "Seccomp"));
    if (const auto flag = status_number(*text, "NoNewPrivs")) {
        status.no_new_privileges = *flag != 0;
    }
    status.tracer = narrowed<std::int32_t>(status_number(*text, "TracerPid"));
    return status;
}

std::optional<std::string> ProcFs::executable(std::int32_t pid) const {
    return read_link(path(pid, "exe"));
}

std::vector<std::string> ProcFs::arguments(std::int32_t pid) const {
    std::vector<std::string> words;
    auto text = read_start(path(pid, "cmdline")).value_or(std::string());
    // A trailing NUL ends the last word; a title set by setproctitle may have none.
    if (text.ends_with('\0')) {
        text.pop_back();
    } else if (text.empty()) {
        return words;
    }
    for (const auto word : split(text, '\0')) {
        words.emplace_back(word);
    }
    return words;
}

std::optional<std::string> ProcFs::environment_value(std::int32_t pid,
                                                     std::string_view name) const {
    const auto text = read_start(path(pid, "environ"), kEnvironment);
    if (!text) {
        return std::nullopt;
    }
    for (const auto entry : split(*text, '\0')) {
        if (entry.starts_with(name) && entry.substr(name.size()).starts_with('=')) {
            return std::string(entry.substr(name.size() + 1));
        }
    }
    return std::nullopt;
}

std::optional<std::string> ProcFs::working_folder(std::int32_t pid) const {
    return read_link(path(pid, "cwd"));
}

std::optional<std::uint64_t> ProcFs::resident_bytes(std::int32_t pid) const {
    const auto text = read_start(path(pid, "statm"));
    if (!text) {
        return std::nullopt;
    }
    const auto words = split_words(*text);
    const auto pages = words.size() > 1 ? find_u64(words[1]) : std::nullopt;
    if (!pages) {
        return std::nullopt;
    }
    return *pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::optional<std::uint64_t> ProcFs::proportional_bytes(std::int32_t pid) const {
    const auto text = read_start(path(pid, "smaps_rollup"));
    return text ? kibibytes(*text, "Pss") : std::nullopt;
}

bool ProcFs::holds_pipe(std::int32_t pid, std::uint64_t inode) const {
    const auto wanted = "pipe:[" + std::to_string(inode) + "]";
    std::error_code failed;
    for (auto entry = fs::directory_iterator(path(pid, "fd"), failed);
         !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
        if (read_link(entry->path().native()) == wanted) {
            return true;
        }
    }
    return false;
}

std::vector<std::int32_t> ProcFs::pipe_holders(std::uint64_t inode) const {
    std::vector<std::int32_t> holders;
    for (const auto pid : pids()) {
        if (holds_pipe(pid, inode)) {
            holders.push_back(pid);
        }
    }
    return holders;
}

std::optional<std::string> ProcFs::read(const std::string& name) const {
    return read_start(root_ + '/' + name);
}

double seconds_since_start(const ProcessId& id) {
    timespec now = {};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    const auto uptime = static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
    const auto ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
    return std::max(0.0, uptime - static_cast<double>(id.start_ticks) / ticks_per_second);
}

bool may_read_memory(std::int32_t pid) {
    const auto path = "/proc/" + std::to_string(pid) + "/mem";
    return static_cast<bool>(Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)));
}

void send_signal(const ProcessId& id, int signal) {
    // The pidfd holds the process while its start time is looked at, so the pid can't be used again
    // in between.
    const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, id.pid, 0)));
    if (pidfd && ProcFs().id(id.pid) == id) {
        ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0);
    }
}

bool is_executable_file(const std::string& path) {
    struct stat status = {};
    return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
           ::access(path.c_str(), X_OK) == 0;
}

}  // namespace mapdiag::linux_os
