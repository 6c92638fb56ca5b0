#!/usr/bin/env python3
"""Folded profiles: mapdiag beside inferno-flamegraph, flamegraph.pl and wc -l on the same files.

folded.py --mapdiag BIN [--inferno BIN] [--perl FLAMEGRAPH.PL] [--megabytes 1 50 500] [--rounds 5]
          [--perl-rounds 1] [--keep FOLDER]

What is compared runs in turns, so that a busy machine slows all sides of a round alike; each round gives
one ratio, and the median of the ratios is printed with its quartiles; the ratio of CPU times beside it is
steady where others work on the machine. Memory is the largest resident set; less than the 16 MiB of the
Python that starts the tools is not seen.
Tools that are not at hand are left out, with a line that says so. The inputs are made by folded_gen.py.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

TARGETS = "targets at 50 and 500 MB: inferno x 4, flamegraph.pl x 60, memory 0.5 of inferno's; " \
          "top and diff of 50 MB within x 15 of wc -l"


class Run:
    def __init__(self, command):
        begin = time.monotonic()
        process = subprocess.Popen([os.fspath(word) for word in command], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}: ended with {process.returncode}")
        self.wall = time.monotonic() - begin
        self.cpu = used.ru_utime + used.ru_stime
        self.peak = used.ru_maxrss / 1024


def in_turns(sides, rounds, few):
    """Runs each side once a round, in an order that turns; those in `few` only so often."""
    runs = {name: [] for name in sides}
    names = list(sides)
    for number in range(rounds):
        for name in names[number % len(names):] + names[:number % len(names)]:
            if number < few.get(name, rounds):
                runs[name].append(Run(sides[name]))
    return runs


def show(runs, base):
    """One line a side: time, CPU, memory, and the ratio to `base`."""
    for name, taken in runs.items():
        line = (f"  {name:<22} {statistics.median(r.wall for r in taken):8.3f} s "
                f"{statistics.median(r.cpu for r in taken):8.3f} s CPU {max(r.peak for r in taken):8.0f} MiB")
        if name != base:
            ratios = sorted(a.wall / b.wall for a, b in zip(taken, runs[base]))
            low, middle, high = (statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3)
            cpu = statistics.median(a.cpu / max(b.cpu, 1e-4) for a, b in zip(taken, runs[base]))
            memory = max(r.peak for r in runs[base]) / max(r.peak for r in taken)
            line += (f"   x {middle:.2f} of {base} (quartiles {low:.2f} to {high:.2f}; CPU x {cpu:.2f}), "
                     f"which takes {memory:.2f} of its memory")
        print(line, flush=True)


def make(kind, size, path, *more):
    if not path.exists():
        generator = pathlib.Path(__file__).with_name("folded_gen.py")
        subprocess.run([sys.executable, "-B", generator, kind, str(size * 1e6), path, *more], check=True)
    with path.open("rb") as file:  # into the cache
        while file.read(1 << 24):
            pass


def measure(options, kind, size, folder):
    path = folder / f"{kind}{size}.folded"
    make(kind, size, path)
    print(f"{kind}, {path.stat().st_size / 1e6:.0f} MB; load {os.getloadavg()[0]:.1f}", flush=True)
    sides = {"mapdiag flamegraph": [options.mapdiag, "flamegraph", path, "-o", "/dev/null"]}
    if options.inferno:
        sides["inferno-flamegraph"] = [options.inferno, "-q", path]
    if options.perl:
        sides["flamegraph.pl"] = ["perl", options.perl, path]
    show(in_turns(sides, options.rounds, {"flamegraph.pl": options.perl_rounds}), "mapdiag flamegraph")
    after = folder / f"{kind}{size}.after.folded"
    if size <= 50:
        make(kind, size, after, "--after")
    sides = {"wc -l": ["wc", "-l", path], "mapdiag top": [options.mapdiag, "top", path]}
    if size <= 50:
        sides["mapdiag diff"] = [options.mapdiag, "diff", path, after]
    for name, taken in (runs := in_turns(sides, options.rounds, {})).items():
        ratio = statistics.median(a.wall / b.wall for a, b in zip(taken, runs["wc -l"]))
        print(f"  {name:<22} {statistics.median(r.wall for r in taken):8.3f} s "
              f"{statistics.median(r.cpu for r in taken):8.3f} s CPU "
              f"{max(r.peak for r in taken):8.0f} MiB   x {ratio:.2f} of wc -l", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mapdiag", required=True)
    parser.add_argument("--inferno", default=shutil.which("inferno-flamegraph"))
    parser.add_argument("--perl", default=shutil.which("flamegraph.pl"), help="the path of flamegraph.pl")
    parser.add_argument("--megabytes", type=int, nargs="+", default=[1, 50, 500])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--perl-rounds", type=int, default=1, help="it takes a minute for 500 MB")
    parser.add_argument("--keep", help="a folder for the inputs, which are made once")
    options = parser.parse_args()
    for name, tool in (("inferno-flamegraph (cargo install inferno)", options.inferno),
                       ("flamegraph.pl (Brendan Gregg's FlameGraph)", options.perl)):
        if not tool:
            print(f"not at hand, left out: {name}")
    print(TARGETS)
    with tempfile.TemporaryDirectory(prefix="mapdiag-bench.") as temporary:
        folder = pathlib.Path(options.keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for size in options.megabytes:
            for kind in ("deep", "wide"):
                measure(options, kind, size, folder)


if __name__ == "__main__":
    main()
