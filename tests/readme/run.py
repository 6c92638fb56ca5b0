#!/usr/bin/env python3
"""Runs the commands of README.md: every line of a ```sh block, in order, in the project's folder.

A block holds commands only, no output, so that a person can paste it and this can run it. The one
command that is not run again here is scripts/test, which is what runs this. Ends with
"N passed, N failed, 0 skipped", where N counts commands.
"""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def commands_of(text):
    """The lines of the ```sh blocks, continued lines joined."""
    for block in re.findall(r"(?ms)^```sh\n(.*?)^```$", text):
        for line in block.replace("\\\n", " ").splitlines():
            if line.strip() and not line.lstrip().startswith("#"):
                yield line


def run(command, env):
    if command.split() == ["scripts/test"]:
        return os.access(ROOT / "scripts/test", os.X_OK)
    print(f"$ {command}", flush=True)
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, env=env, stdin=subprocess.DEVNULL,
                          check=False)
    return done.returncode == 0


def missing_names(text):
    """Files and options that the README names and the project does not have."""
    for name in re.findall(r"`((?:docs|scripts|bench|demo|tests)/[\w./-]+)`", text):
        if not (ROOT / name).exists():
            yield f"README.md names {name}, which is not there"
    for name in re.findall(r"\]\(([\w./-]+)\)", text):
        if not (ROOT / name).exists():
            yield f"README.md links to {name}, which is not there"


def main():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    env = dict(os.environ)
    # The README's reader has mapdiag on PATH by its own install command or not at all.
    env["PATH"] = f"{ROOT / 'build/release/src/cli'}:{env['PATH']}"
    passed = failed = 0
    for complaint in missing_names(text):
        failed += 1
        print(complaint)
    for command in commands_of(text):
        good = run(command, env)
        passed, failed = passed + good, failed + (not good)
        if not good:
            print(f"FAILED: {command}")
    if not passed:
        failed += 1
        print("README.md has no command that could be run")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
