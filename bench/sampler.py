#!/usr/bin/env python3
"""What measuring costs while a job runs: sampler.py --mapdiag FILE [--seconds N]

Jobs that sleep, of one and of ten processes, measured in a control group and as a process tree, and a
busy Python with a profiler (a py-spy of its own is not counted). Printed as the share of one core that
mapdiag's own threads take, in its first two seconds and after them. Wanted: under 0.5 % of a core.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

SLEEP = ["sleep", "1000"]
TEN = ["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do sleep 1000 & done; exec sleep 1000"]
BUSY = [sys.executable, "-c", "while True: sum(range(1000))"]


def cpu_s(pid):
    """CPU time of all threads of a process, from the scheduler's own account."""
    return sum(int(path.read_text().split()[0])
               for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def shares(command, seconds):
    """(share of a core in the first two seconds, share in the `seconds` after them)."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    begin = time.monotonic()
    time.sleep(2)
    first, middle = cpu_s(process.pid), time.monotonic()
    time.sleep(seconds)
    last, end = cpu_s(process.pid), time.monotonic()
    process.terminate()
    process.wait()
    return first / (middle - begin), (last - first) / (end - middle)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mapdiag", required=True)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="mapdiag-bench.") as folder:
        run = [options.mapdiag, "run", "--profile", "--quiet", "--entity", "bench", "--log-dir", folder]
        none = ["--profiler", "none"]
        sides = {"group, 1 process": [*run, *none, "--", *SLEEP],
                 "group, 10 processes": [*run, *none, "--", *TEN],
                 "tree, 1 process": [*run, *none, "--placement", "tree", "--", *SLEEP],
                 "tree, 10 processes": [*run, *none, "--placement", "tree", "--", *TEN]}
        if shutil.which("py-spy"):
            sides["group, a profiled Python"] = [*run, "--", *BUSY]
        else:
            print("with a profiler: not measured, py-spy is not in PATH")
        print("sampler: share of one core, first 2 s and after them")
        for name, command in sides.items():
            first, later = shares(command, options.seconds)
            print(f"  {name:<26} {100 * first:6.2f} %  {100 * later:6.2f} %", flush=True)


if __name__ == "__main__":
    main()
