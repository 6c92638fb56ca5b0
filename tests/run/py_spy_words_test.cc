#include "profiler/py_spy_words.h"

#include "support/catch.h"

using mapdiag::run::find_py_spy_version;
using mapdiag::run::PySpyComplaint;
using mapdiag::run::understand_py_spy;

TEST_CASE("what py-spy says of a good recording is understood") {
    const auto talk = understand_py_spy(
        "py-spy> Sampling process 100 times a second. Press Control-C to exit.\n\n"
        "py-spy> 1.20s behind in sampling, results may be inaccurate. Try reducing the sampling "
        "rate\npy-spy> 0.50s behind in sampling, results may be inaccurate.\n"
        "py-spy> Stopped sampling because process exited\n"
        "py-spy> Wrote raw flamegraph data to 'o.raw'. Samples: 114 Errors: 3\n");
    CHECK(talk.complaint == PySpyComplaint::none);
    CHECK(talk.message.empty());
    CHECK(talk.samplings == 114U);
    CHECK(talk.errors == 3U);
    CHECK(talk.behind_s == Approx(1.2));
}

TEST_CASE("complaints of py-spy are told apart") {
    struct Row {
        const char* output;
        PySpyComplaint complaint;
        const char* message;
    };
    // As py-spy 0.4.3 printed them; the last two as pyenv and an unknown py-spy would.
    const std::vector<Row> rows = {
        {"Error: Failed to find python version from target process\n\nStack backtrace:\n"
         "   0: EPERM of a frame\n",
         PySpyComplaint::no_interpreter,
         "Error: Failed to find python version from target process"},
        {"Permission Denied: Try running again with elevated permissions by going 'sudo env'\n",
         PySpyComplaint::denied,
         "Permission Denied: Try running again with elevated permissions by going 'sudo env'"},
        {"Error: Failed to get process executable name. Check that the process is running.\n\n"
         "Caused by:\n    0: Permission denied (os error 13)\n    1: Permission denied (os error "
         "13)\n",
         PySpyComplaint::denied,
         "Error: Failed to get process executable name. Check that the process is running. 0: "
         "Permission denied (os error 13)"},
        {"Error: Failed to get process executable name. Check that the process is running.\n\n"
         "Caused by:\n    0: No such file or directory (os error 2)\n",
         PySpyComplaint::process_gone,
         "Error: Failed to get process executable name. Check that the process is running."},
        {"Error: No python processes found in process 7 or any of its subprocesses\n",
         PySpyComplaint::no_interpreter,
         "Error: No python processes found in process 7 or any of its subprocesses"},
        {"Error: Unsupported version of Python: 3.99.0\n", PySpyComplaint::unsupported_python,
         "Error: Unsupported version of Python: 3.99.0"},
        {"Error: No child process (os error 10)\n", PySpyComplaint::no_child,
         "Error: No child process (os error 10)"},
        {"pyenv: py-spy: command not found\n", PySpyComplaint::not_there,
         "pyenv: py-spy: command not found"},
        {"warming up\nError: out of \x1b[31mink\n", PySpyComplaint::other,
         "Error: out of \\x1b[31mink"},
    };
    for (const auto& row : rows) {
        const auto talk = understand_py_spy(row.output);
        INFO(row.output);
        CHECK(talk.complaint == row.complaint);
        CHECK(talk.message == row.message);
    }
    CHECK(understand_py_spy("Error: Unsupported version of Python: 3.99.0\n").python_version ==
          "3.99.0");
    CHECK(understand_py_spy("").complaint == PySpyComplaint::none);
}

TEST_CASE("a long complaint is cut") {
    const auto talk = understand_py_spy("Error: " + std::string(5000, 'x'));
    CHECK(talk.message.size() == 203);
    CHECK(talk.message.ends_with("..."));
}

TEST_CASE("the version is what stands behind py-spy's name") {
    CHECK(find_py_spy_version("py-spy 0.4.3\n") == "0.4.3");
    CHECK_FALSE(find_py_spy_version("py-spy: command not found\n"));
    CHECK_FALSE(find_py_spy_version(""));
}
