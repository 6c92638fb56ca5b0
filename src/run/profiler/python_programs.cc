#include "python_programs.h"

#include <algorithm>
#include <cctype>

#include "mapdiag/support/text.h"

namespace mapdiag::run {
namespace {

constexpr std::string_view kDeleted = " (deleted)";
constexpr std::size_t kLongestName = 80;

bool is_digit(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// What stands behind "python" in an executable's name: "3.11d", "w3", "".
std::string_view behind_python(std::string_view executable) {
    auto name = file_name(executable);
    name.remove_prefix(name.starts_with(".python") ? 1 : 0);
    return name.starts_with("python") ? name.substr(6) : std::string_view();
}

// Options of the interpreter that take the next word, when they are not written in one.
bool takes_next_word(std::string_view option) {
    return option == "-W" || option == "-X" || option == "--check-hash-based-pycs";
}

std::string cleaned(std::string_view name) {
    std::string clean = printable(name.substr(0, kLongestName));
    std::ranges::replace(clean, ';', ',');
    return clean;
}

}  // namespace

std::string_view file_name(std::string_view path) {
    if (path.ends_with(kDeleted)) {
        path.remove_suffix(kDeleted.size());
    }
    const auto slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_python(std::string_view executable) {
    auto name = file_name(executable);
    if (!name.starts_with("python") && !name.starts_with(".python")) {
        return false;
    }
    auto rest = behind_python(executable);
    for (const std::string_view ending : {"-wrapped", "-dbg", "-debug", "-intel64", ".exe"}) {
        if (rest.ends_with(ending)) {
            rest.remove_suffix(ending.size());
            break;
        }
    }
    rest.remove_prefix(rest.starts_with('w') ? 1 : 0);
    const auto suffix =
        std::ranges::find_if_not(rest, [](char c) { return is_digit(c) || c == '.'; });
    // d debug, m pymalloc and u wide unicode (before 3.8), t free threading.
    return std::all_of(suffix, rest.end(),
                       [](char c) { return c == 'd' || c == 'm' || c == 'u' || c == 't'; });
}

std::string python_version_in(std::string_view executable) {
    auto rest = behind_python(executable);
    rest.remove_prefix(rest.starts_with('w') ? 1 : 0);
    const auto end = std::ranges::find_if_not(rest, [](char c) { return is_digit(c) || c == '.'; });
    const std::string version(rest.begin(), end);
    // "python3" does not say which 3.
    return version.find('.') == std::string::npos ? std::string() : version;
}

bool is_uv(std::string_view executable) {
    const auto name = file_name(executable);
    return name == "uv" || name == "uvx";
}

// python -I -B -c "import sys; sys.path = [...]; from python.get_interpreter_info import main; ..."
// (crates/uv-python/src/interpreter.rs)
bool is_uv_probe(const std::vector<std::string>& arguments) {
    for (std::size_t i = 1; i + 1 < arguments.size(); ++i) {
        if (arguments[i] == "-c") {
            return arguments[i + 1].find("get_interpreter_info") != std::string::npos;
        }
    }
    return false;
}

std::string shown_program(const std::vector<std::string>& arguments, std::string_view executable) {
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        const std::string_view word = arguments[i];
        if (word == "-" || word == "--" || word.empty()) {
            break;
        }
        if (!word.starts_with('-')) {
            return cleaned(file_name(word));
        }
        if (word.starts_with("-m")) {
            const auto module = word.size() > 2            ? word.substr(2)
                                : i + 1 < arguments.size() ? std::string_view(arguments[i + 1])
                                                           : std::string_view("-m");
            return cleaned(module);
        }
        // Options may stand together: -Ic.
        if (!word.starts_with("--") && word.find('c') != std::string_view::npos &&
            !takes_next_word(word.substr(0, 2))) {
            return cleaned(file_name(executable)) + " -c";
        }
        i += takes_next_word(word) ? 1 : 0;
    }
    return cleaned(file_name(executable));
}

}  // namespace mapdiag::run
