#!/usr/bin/env python3
"""How long a profile is blind at first: blind.py --mapdiag FILE --tools FOLDER [--rounds N]

A step of a hundred functions, one after the other for 3 ms each, is profiled at 1,000 samples a second
below each kind of launcher. The first function with a sample tells how long after its first line py-spy saw
it for the first time. Before that line the interpreter runs its site module: the time that this takes here
is added, less a millisecond for each sample in it. Wanted: no more than 30 ms after the first bytecode.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

SLICE_MS = 3
COUNT = 100


def write_step(path):
    """Function f007 runs from the 21st to the 24th millisecond after the first line."""
    lines = ["import time", "begin = time.monotonic_ns()"]
    for number in range(COUNT):
        end = (number + 1) * SLICE_MS * 1_000_000
        lines += [f"def f{number:03}():",
                  f"    while time.monotonic_ns() - begin < {end}: pass"]
    # Long enough to be profiled at all where py-spy is slow.
    lines += [f"f{number:03}()" for number in range(COUNT)] + ["time.sleep(0.3)"]
    path.write_text("\n".join(lines) + "\n")


def site_ms(python):
    """What the interpreter's site module takes before a script's first line."""
    took = []
    for _ in range(9):
        told = subprocess.run([python, "-X", "importtime", "-c", "pass"], capture_output=True, text=True,
                              check=True).stderr
        took.append(int(re.search(r"\|\s*(\d+) \| site$", told, re.M).group(1)) / 1000)
    return statistics.median(took)


def executable(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def launchers(folder, python):
    """{name: the command's words in front of the script}."""
    subprocess.run([python, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    executable(folder / "shims/python",
               f'#!/usr/bin/env bash\nset -e\nexec "{folder}/libexec/pyenv" exec "${{0##*/}}" "$@"\n')
    executable(folder / "libexec/pyenv",
               f'#!/usr/bin/env bash\nset -e\nshift\nshift\nwhereis true >/dev/null\nexec "{python}" "$@"\n')
    (folder / "pyproject.toml").write_text(
        '[project]\nname = "step"\nversion = "0"\nrequires-python = ">=3.11"\n')
    return {"directly": [python], "sh -c": ["sh", "-c", '"$@"; exit $?', "sh", python],
            "venv": [folder / "venv/bin/python"], "pyenv shim": [folder / "shims/python"],
            "uv run": ["uv", "run", "--offline", "--quiet", "--python", python, "python"]}


def blind_ms(folder, words, mapdiag, before):
    """Milliseconds from the first bytecode to the first sample; None: no sample at all."""
    subprocess.run([mapdiag, "run", "--profile", "--quiet", "--rate", "1000", "--entity", "blind",
                    "--log-dir", folder / "logs", "--", *words, folder / "step.py"], cwd=folder, check=True)
    profile = folder / "logs/blind.folded"
    stacks = profile.read_text().splitlines() if profile.exists() else []
    seen = [int(number) for line in stacks for number in re.findall(r";f(\d\d\d) \(", line)]
    early = sum(int(line.rsplit(" ", 1)[1]) for line in stacks if "step.py" not in line)
    return max(0, before - early + (min(seen) * SLICE_MS if not early else 0)) if seen else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mapdiag", required=True, type=pathlib.Path)
    parser.add_argument("--tools", required=True, help="folder with py-spy and uv")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    options.mapdiag = options.mapdiag.resolve()
    os.environ["PATH"] = f"{options.tools}:{os.environ['PATH']}"
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="mapdiag-bench.") as name:
        folder = pathlib.Path(name)
        os.environ["HOME"] = name
        write_step(folder / "step.py")
        before = site_ms(sys.executable)
        print(f"blind: ms from the first bytecode, {before:.1f} ms before the first line, to the first sample")
        for launcher, words in launchers(folder, sys.executable).items():
            seen = [blind_ms(folder, words, options.mapdiag, before)
                    for _ in range(options.rounds + 1)][1:]
            never = seen.count(None)
            times = sorted(ms for ms in seen if ms is not None)
            print(f"  {launcher:<12} median {statistics.median(times):5.1f}, highest {times[-1]:5.1f}"
                  f"{f', never seen {never} times' if never else ''}", flush=True)


if __name__ == "__main__":
    main()
