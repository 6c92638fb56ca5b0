#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mapdiag::run {

/// The last part of a path, without the " (deleted)" that the kernel puts behind a removed file.
std::string_view file_name(std::string_view path);

/// Whether the executable is a Python interpreter, by its name: python, python3.11, python3.13t,
/// python3.11d, pythonw, python3-dbg, and the .python3-wrapped of Nix; not python3-config.
bool is_python(std::string_view executable);
/// "3.11" from python3.11d; empty where the name does not say.
std::string python_version_in(std::string_view executable);
/// uv and uvx.
bool is_uv(std::string_view executable);
/// Whether uv asks an interpreter what it is, before it runs the command.
bool is_uv_probe(const std::vector<std::string>& arguments);

/// The name of a Python process's program, for a person and for a frame: "linkml-map", "mapper.py",
/// "json.tool" (-m), "python -c". No other argument is in it, and no ';' or control character.
std::string shown_program(const std::vector<std::string>& arguments, std::string_view executable);

}  // namespace mapdiag::run
