#!/usr/bin/env python3
"""Runs clang-tidy over the project's own sources: tidy.py BUILD_FOLDER CACHE_FOLDER [CLANG_TIDY]

A source that was clean is not checked again while it, the headers of the project that it includes,
the checks, the compiler's arguments and clang-tidy stay the same: clang-tidy takes longer than the
compiler. Ends with "N passed, N failed, 0 skipped", where N counts sources.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
OURS = ("src", "tests", "bench", "fuzz")
INCLUDE = re.compile(rb'(?m)^\s*#\s*include\s*"([^"]+)"')


def our_sources(build):
    """(file, arguments) of each of our sources that the build folder compiles."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        inside = path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in OURS
        if inside and path.suffix == ".cc":
            found[path] = entry.get("command", "") + entry.get("directory", "")
    return sorted(found.items())


class Contents:
    """The project's files and what they include, each read once."""

    def __init__(self):
        self._read = {}

    def _of(self, path):
        if path not in self._read:
            data = path.read_bytes()
            self._read[path] = data, [name.decode() for name in INCLUDE.findall(data)]
        return self._read[path]

    def with_headers(self, source):
        """The source and every header of the project below it, in a fixed order."""
        todo, seen = [source], set()
        while todo:
            path = todo.pop()
            if path in seen:
                continue
            seen.add(path)
            for name in self._of(path)[1]:
                for folder in (path.parent, ROOT / "include", ROOT / "tests", ROOT / "src"):
                    if (folder / name).is_file():
                        todo.append((folder / name).resolve())
                        break
        return [(path, self._of(path)[0]) for path in sorted(seen)]


def key_of(source, command, contents, fixed):
    digest = hashlib.sha256(fixed)
    # The place of the clone must not matter: CI works in a new one each time.
    digest.update(command.replace(str(ROOT), "").encode())
    for path, data in contents.with_headers(source):
        digest.update(f"\n{path.relative_to(ROOT)} {len(data)}\n".encode())
        digest.update(data)
    return digest.hexdigest()


def fixed_part(tidy):
    """What is the same for all sources: the checks, the tool, the libraries' versions."""
    version = subprocess.run([tidy, "--version"], capture_output=True, check=True).stdout
    libraries = subprocess.run(
        ["dpkg-query", "-W", "lib*-dev", "nlohmann-json3-dev", "catch2"],
        capture_output=True, check=False).stdout if os.path.exists("/usr/bin/dpkg-query") else b""
    checks = b"".join(path.read_bytes() for path in
                      [ROOT / ".clang-tidy", *sorted(ROOT.glob("*/.clang-tidy"))])
    return checks + version + libraries


def check(source, key, build, cache, tidy):
    """True where the source is clean; what clang-tidy says is printed otherwise."""
    if (cache / key).exists():
        return True
    done = subprocess.run([tidy, "--quiet", "-p", build, source], capture_output=True, text=True)
    if done.returncode == 0:
        (cache / key).touch()
        return True
    print(f"{source.relative_to(ROOT)}:\n{done.stdout}{done.stderr}", flush=True)
    return False


def main():
    build, cache = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    tidy = sys.argv[3] if len(sys.argv) > 3 else "clang-tidy-19"
    cache.mkdir(parents=True, exist_ok=True)
    contents, fixed = Contents(), fixed_part(tidy)
    sources = our_sources(build)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        clean = list(pool.map(
            lambda item: check(item[0], key_of(*item, contents, fixed), build, cache, tidy),
            sources))
    print(f"{sum(clean)} passed, {len(clean) - sum(clean)} failed, 0 skipped")
    sys.exit(0 if clean and all(clean) else 1)


if __name__ == "__main__":
    main()
