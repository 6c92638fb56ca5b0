#include "py_spy_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <vector>

#include "mapdiag/support/text.h"

namespace mapdiag::run {
namespace {

struct Words {
    std::string_view text;
    PySpyComplaint meaning;
};

// Looked for in this order in each line. "From" is where py-spy 0.4.3 has the text; those marked
// "seen" were printed by it.
constexpr std::array kWords = {
    // From src/python_spy.rs (seen with newer Pythons).
    Words{"Unsupported version of Python", PySpyComplaint::unsupported_python},
    // From src/main.rs, when an error in the chain is io::ErrorKind::PermissionDenied (seen).
    Words{"Permission Denied", PySpyComplaint::denied},
    // Rust's and nix's words for EPERM and EACCES below "Caused by:" (seen: EACCES of /proc/PID/exe
    // where the process has capabilities that py-spy has not).
    Words{"Permission denied (os error", PySpyComplaint::denied},
    Words{"Operation not permitted", PySpyComplaint::denied},
    Words{"EPERM", PySpyComplaint::denied},
    // From src/python_process_info.rs (seen: sleep, or a Python that had not begun).
    Words{"Failed to find python version", PySpyComplaint::no_interpreter},
    Words{"Failed to find a python interpreter", PySpyComplaint::no_interpreter},
    // From src/sampler.rs, with --subprocesses only (seen).
    Words{"No python processes found", PySpyComplaint::no_interpreter},
    // Rust's words for ENOENT of /proc/PID/... and ESRCH (seen: a process that is gone).
    Words{"No such process", PySpyComplaint::process_gone},
    Words{"ESRCH", PySpyComplaint::process_gone},
    // ECHILD after a good run, from src/main.rs: its ptrace wait took the child's status.
    Words{"No child process", PySpyComplaint::no_child},
    // pyenv's shim, libexec/pyenv-exec (seen).
    Words{"command not found", PySpyComplaint::not_there},
    // From src/python_process_info.rs; the cause may stand below (seen).
    Words{"Failed to get process executable name", PySpyComplaint::process_gone},
};

constexpr std::string_view kError = "Error: ";
constexpr std::string_view kBacktrace = "Stack backtrace:";
constexpr std::size_t kLongestMessage = 200;

PySpyComplaint complaint_in(std::string_view line) {
    for (const auto& words : kWords) {
        if (line.find(words.text) != std::string_view::npos) {
            return words.meaning;
        }
    }
    return PySpyComplaint::none;
}

// A cause that stands below says more than "can't get the executable's name".
bool says_more(PySpyComplaint then, PySpyComplaint now) {
    return now != PySpyComplaint::none &&
           (then == PySpyComplaint::none || then == PySpyComplaint::other ||
            (then == PySpyComplaint::process_gone && now != then));
}

std::optional<std::uint64_t> number_behind(std::string_view line, std::string_view key) {
    const auto at = line.find(key);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    const auto rest = line.substr(at + key.size());
    std::uint64_t value = 0;
    const auto [end, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    return failed == std::errc() ? std::optional(value) : std::nullopt;
}

// "py-spy> 1.20s behind in sampling, results may be inaccurate. ..." (src/main.rs)
double seconds_behind(std::string_view line) {
    const auto at = line.find("s behind in sampling");
    if (at == std::string_view::npos) {
        return 0;
    }
    const auto before = line.substr(0, at);
    const auto start = before.find_last_not_of("0123456789.");
    const auto number = before.substr(start == std::string_view::npos ? 0 : start + 1);
    double value = 0;
    std::from_chars(number.data(), number.data() + number.size(), value);
    return value;
}

// "Error: Unsupported version of Python: 3.99.0"
std::string version_in(std::string_view line) {
    const auto at = line.rfind(": ");
    const auto rest = line.substr(at == std::string_view::npos ? line.size() : at + 2);
    const auto end = std::ranges::find_if_not(
        rest, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.'; });
    const std::string version(rest.begin(), end);
    return version.find('.') == std::string::npos ? std::string() : version;
}

std::string shortened(std::string_view line) {
    auto text = printable(trim(line));
    if (text.size() > kLongestMessage) {
        text.resize(kLongestMessage);
        text += "...";
        // A character that was cut in two is repaired by printing it again.
        text = printable(text);
    }
    return text;
}

}  // namespace

PySpyTalk understand_py_spy(std::string_view output) {
    PySpyTalk talk;
    for (const auto whole : split(output, '\n')) {
        const auto line = trim(whole);
        if (line == kBacktrace) {
            break;
        }
        const auto complaint = complaint_in(line);
        if (says_more(talk.complaint, complaint)) {
            talk.complaint = complaint;
            if (complaint == PySpyComplaint::unsupported_python) {
                talk.python_version = version_in(line);
            }
            talk.message += (talk.message.empty() ? "" : " ") + shortened(line);
        } else if (line.starts_with(kError) && talk.message.empty()) {
            talk.message = shortened(line);
            talk.complaint = PySpyComplaint::other;
        }
        talk.samplings = number_behind(line, "Samples: ").or_else([&] { return talk.samplings; });
        talk.errors = number_behind(line, "Errors: ").or_else([&] { return talk.errors; });
        talk.behind_s = std::max(talk.behind_s, seconds_behind(line));
    }
    return talk;
}

std::optional<std::string> find_py_spy_version(std::string_view output) {
    constexpr std::string_view kName = "py-spy ";
    for (const auto whole : split(output, '\n')) {
        const auto line = trim(whole);
        if (line.starts_with(kName) && line.size() > kName.size() &&
            std::isdigit(static_cast<unsigned char>(line[kName.size()])) != 0) {
            return printable(line.substr(kName.size(), 20));
        }
    }
    return std::nullopt;
}

}  // namespace mapdiag::run
