#include "profiler/python_programs.h"

#include "support/catch.h"

using mapdiag::run::is_python;
using mapdiag::run::is_uv;
using mapdiag::run::is_uv_probe;
using mapdiag::run::python_version_in;
using mapdiag::run::shown_program;

TEST_CASE("a Python is known by its executable") {
    for (const auto* python :
         {"/usr/bin/python", "/usr/bin/python3", "/x/python3.11", "/x/python3.11d", "python3.13t",
          "python3.13td", "/x/pythonw3.12", "/usr/bin/python3.11 (deleted)", "python2.7",
          "/nix/.python3.12-wrapped", "/usr/bin/python3-dbg", "/x/python3.7m"}) {
        INFO(python);
        CHECK(is_python(python));
    }
    for (const auto* other :
         {"", "/usr/bin/bash", "/x/uv", "/x/python3-config", "/python3/bin/sh", "/x/pythonic",
          "/x/ipython3", "/x/python-build", "/x/bpython", "/x/pypy3"}) {
        INFO(other);
        CHECK_FALSE(is_python(other));
    }
    CHECK(is_uv("/root/.local/bin/uv"));
    CHECK(is_uv("/x/uvx (deleted)"));
    CHECK_FALSE(is_uv("/x/uvicorn"));
}

TEST_CASE("the version stands in the executable's name") {
    CHECK(python_version_in("/x/python3.11d") == "3.11");
    CHECK(python_version_in("/x/.python3.12-wrapped") == "3.12");
    CHECK(python_version_in("/usr/bin/python3").empty());
    CHECK(python_version_in("/bin/sh").empty());
}

TEST_CASE("a program is shown without its arguments") {
    struct Row {
        std::vector<std::string> arguments;
        const char* shown;
    };
    const std::vector<Row> rows = {
        {{"/v/bin/python", "/v/bin/linkml-map", "map-data", "secret"}, "linkml-map"},
        {{"python", "-u", "-X", "dev", "-W", "error", "map.py", "secret"}, "map.py"},
        {{"python", "-m", "json.tool", "secret"}, "json.tool"},
        {{"python", "-mjson.tool", "secret"}, "json.tool"},
        {{"python", "-c", "print('secret')"}, "python3.11 -c"},
        {{"python", "-Ic", "print('secret')"}, "python3.11 -c"},
        {{"python", "-"}, "python3.11"},
        {{"python"}, "python3.11"},
        {{}, "python3.11"},
        {{"python", "-m"}, "-m"},
        {{"python", "a;b\nc.py"}, "a,b\\nc.py"},
    };
    for (const auto& row : rows) {
        CHECK(shown_program(row.arguments, "/usr/bin/python3.11") == row.shown);
    }
    CHECK(shown_program({"python", std::string(500, 'x')}, "/usr/bin/python3.11").size() == 80);
}

TEST_CASE("uv's question to an interpreter is told from a command") {
    CHECK(is_uv_probe({"python", "-I", "-B", "-c",
                       "import sys; from python.get_interpreter_info import main; main()"}));
    CHECK_FALSE(is_uv_probe({"python", "-c", "pass"}));
    CHECK_FALSE(is_uv_probe({"python", "get_interpreter_info"}));
    CHECK_FALSE(is_uv_probe({}));
}
