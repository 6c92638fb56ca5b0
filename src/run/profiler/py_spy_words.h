#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mapdiag::run {

/// What py-spy complained of, as far as its words are known.
enum class PySpyComplaint : std::uint8_t {
    none,
    denied,              ///< the kernel refused to let it look into the process
    unsupported_python,  ///< a version that this py-spy does not know
    no_interpreter,      ///< it saw no Python in the process (yet)
    process_gone,        ///< the process has ended
    no_child,            ///< its own clean-up failed after a good recording
    not_there,           ///< a shim found no py-spy behind it
    other,               ///< words that are not known
};

/// py-spy's talk, understood. Prose is its only interface: all recognition of its words is here.
struct PySpyTalk {
    PySpyComplaint complaint = PySpyComplaint::none;
    std::string python_version;              ///< the one that is not supported
    std::optional<std::uint64_t> samplings;  ///< "Samples: N"
    std::optional<std::uint64_t> errors;     ///< "Errors: N"
    double behind_s = 0;                     ///< the most that was said
    std::string message;  ///< its complaint in its own words, one printable line, 200 bytes at most
};

PySpyTalk understand_py_spy(std::string_view output);

/// "0.4.3" from "py-spy 0.4.3", as --version prints it.
std::optional<std::string> find_py_spy_version(std::string_view output);

}  // namespace mapdiag::run
