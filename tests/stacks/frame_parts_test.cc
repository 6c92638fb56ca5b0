// Frames taken apart: functions, files, lines, modules, processes, threads, start-up.
#include "mapdiag/stacks/frame_parts.h"

#include "stacks_fixture.h"

using namespace mapdiag;
using namespace mapdiag::stacks;

namespace {

void check(std::string_view frame, std::string_view function, std::string_view file,
           std::string_view line) {
    const auto parts = frame_parts(frame);
    INFO(frame);
    CHECK(parts.function == function);
    CHECK(parts.file == file);
    CHECK(parts.line == line);
}

}  // namespace

TEST_CASE("function, file and line of a frame") {
    check("transform (linkml_map/transformer/engine.py:23)", "transform",
          "linkml_map/transformer/engine.py", "23");
    check("f (a.py)", "f", "a.py", "");
    check("f", "f", "", "");
    check("", "", "", "");
    check("operator() const (lib.so)", "operator() const", "lib.so", "");
    check("f (x (old).py:3)", "f", "x (old).py", "3");
    check("f (C:\\a.py:3)", "f", "C:\\a.py", "3");
    check("f (a.py:x)", "f", "a.py:x", "");
    check("f (<frozen importlib._bootstrap>:241)", "f", "<frozen importlib._bootstrap>", "241");
    check("operator()", "operator()", "", "");
    check("(a.py:3)", "(a.py:3)", "", "");
    check("f)", "f)", "", "");
    check("read_[k]", "read", "", "");
    check("f_[j] (a.py:3)", "f", "a.py", "3");
    check("_[k]", "_[k]", "", "");
    check("/a/m.py:main:3", "main", "/a/m.py", "3");
    check("C:\\m.py:main:3", "main", "C:\\m.py", "3");
    check("std::sort", "std::sort", "", "");
    check("a:b", "a:b", "", "");
    check("::3", "::3", "", "");
    check("process 12 (python)", "process 12 (python)", "", "");
    check("thread (12): x (y)", "thread (12): x (y)", "", "");
}

TEST_CASE("what a suffix says") {
    CHECK(frame_kind("a_[k]") == "kernel");
    CHECK(frame_kind("a_[j]") == "compiled just in time");
    CHECK(frame_kind("a_[i]") == "inlined");
    CHECK(frame_kind("a_[w]") == "waker");
    CHECK(frame_kind("a_[x]").empty());
    CHECK(frame_kind("a").empty());
}

TEST_CASE("process and thread frames") {
    for (const auto* const frame : {"process 12:\"python x\"", "process 12 (python)",
                                    "process (python)", "process 12", "P12"}) {
        INFO(frame);
        CHECK(is_process_frame(frame));
        CHECK_FALSE(is_thread_frame(frame));
    }
    for (const auto* const frame : {"process", "process pool", "process x (y.py:3)", "P", "Px",
                                    "process 12x", "processor (a.py:1)", "P1:2"}) {
        INFO(frame);
        CHECK_FALSE(is_process_frame(frame));
    }
    for (const auto* const frame :
         {"thread (12)", "thread (12): worker; one 7", "thread: worker", "thread", "T0:12"}) {
        INFO(frame);
        CHECK(is_thread_frame(frame));
        CHECK_FALSE(is_process_frame(frame));
    }
    for (const auto* const frame :
         {"thread (a.py:3)", "thread (12", "threads", "T", "T:1", "T0", "T0:x", "Thread.run"}) {
        INFO(frame);
        CHECK_FALSE(is_thread_frame(frame));
    }
}

TEST_CASE("the package that a frame's file belongs to") {
    CHECK(frame_module("f (linkml_map/transformer/engine.py:2)") == "linkml_map");
    CHECK(frame_module("f (/v/lib/python3.11/site-packages/yaml/emitter.py:2)") == "yaml");
    CHECK(frame_module("f (/usr/lib/python3/dist-packages/six.py:2)") == "six");
    CHECK(frame_module("f (/usr/lib/python3.11/json/encoder.py:2)") == "json");
    CHECK(frame_module("f (/usr/lib/python3.11/copy.py:2)") == "copy");
    CHECK(frame_module("f (/home/me/job.py:2)") == "job");
    CHECK(frame_module("f (job.py:2)") == "job");
    CHECK(frame_module("f (<frozen importlib._bootstrap>:2)") == "importlib");
    CHECK(frame_module("f (<string>:2)") == "<string>");
    CHECK(frame_module("f (libc.so.6)") == "libc.so.6");
    CHECK(frame_module("f").empty());
}

TEST_CASE("frames that only bring a program up") {
    for (const auto* const frame : {"<module> (linkml-map:8)", "<module> (/venv/bin/linkml-map:8)",
                                    "main (/v/lib/python3.11/site-packages/click/core.py:3)",
                                    "f (runpy.py:3)", "/usr/lib/python3.11/runpy.py:_run_code:86",
                                    "Thread._bootstrap (/usr/lib/python3.11/threading.py:1002)"}) {
        INFO(frame);
        CHECK(is_startup_frame(frame));
    }
    for (const auto* const frame :
         {"<module> (job.py:8)", "<module> (<string>:8)", "main", "main (notclick/core.py:3)",
          "f (myrunpy.py:3)", "Thread.run (threading.py:982)", "f (linkml-map:8)"}) {
        INFO(frame);
        CHECK_FALSE(is_startup_frame(frame));
    }
}
