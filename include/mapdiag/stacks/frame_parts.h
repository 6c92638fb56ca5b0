#pragma once

#include <string>
#include <string_view>

namespace mapdiag::stacks {

/// A frame's text taken apart. Empty where the text has no such part.
struct FrameParts {
    std::string_view function;
    std::string_view file;
    std::string_view line;
};

/// Reads `name (file:line)`, `name (file)` (py-spy), `file:name:line` (austin) and bare names; a
/// suffix
/// `_[k]`, `_[j]`, `_[i]` or `_[w]` (kernel, compiled, inlined, waker) is no part of the function.
FrameParts frame_parts(std::string_view frame);

/// What a suffix says: "kernel", "compiled just in time", "inlined", "waker"; else "".
std::string_view frame_kind(std::string_view frame);

/// `process 12:"..."`, `process 12 (python)`, `process (python)`, austin's `P12`.
bool is_process_frame(std::string_view frame);
/// `thread (12)`, `thread (12): name`, `thread: name`, austin's `T0:12`.
bool is_thread_frame(std::string_view frame);

/// The package that a frame's file belongs to: the first folder of a relative path or of one below
/// site-packages, a file's name without its ending otherwise; "" where the frame has no file.
std::string frame_module(std::string_view frame);

/// Frames that only bring a program up: console scripts, runpy, importlib, the bootstrap of
/// threads, and the plumbing of click.
bool is_startup_frame(std::string_view frame);

}  // namespace mapdiag::stacks
