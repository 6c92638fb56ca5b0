#!/usr/bin/env python3
"""Heap dumps: mapdiag beside Meliae and beside simdjson's bare parse of the same file.

heap.py --mapdiag BIN --gen BIN [--parse BIN] [--meliae PYTHON] [--objects 1e6 3.58e6 1e7] [--rounds 3]

PYTHON is an interpreter that can import meliae (Python 2.7 or 3.6 to 3.8). What is compared runs in turns
on the same file, so that a busy machine slows both; the smallest time of each counts. Times are seconds on
the clock, CPU seconds stand in brackets, memory is the largest resident set.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

MELIAE = """
import sys
from meliae import loader
# On Python 3 the release can't sort its own table.
loader._ObjSummary.by_size = lambda s: setattr(s, "summaries", sorted(
    s.type_summaries.values(), key=lambda t: (t.total_size, t.count), reverse=True))
print(repr(loader.load(sys.argv[1], show_prog=False).summarize()).split("\\n")[0])
"""


class Run:
    def __init__(self, command):
        before = os.times()
        start = before.elapsed
        process = subprocess.Popen([os.fspath(word) for word in command], stdout=subprocess.PIPE)
        self.out = process.stdout.read().decode()
        _, status, used = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(f"{command[0]} ended with status {status}")
        self.wall = os.times().elapsed - start
        self.cpu = used.ru_utime + used.ru_stime
        self.peak = used.ru_maxrss * 1024


def best(runs):
    return min(runs, key=lambda run: run.wall)


def show(name, run, note=""):
    print(f"  {name:<44} {run.wall:8.2f} s ({run.cpu:7.2f} s CPU) {run.peak / 2**20:8.0f} MiB {note}",
          flush=True)


def measure(options, objects, folder):
    dump = folder / f"{objects}.dump"
    subprocess.run([options.gen, objects, dump], check=True)
    size = dump.stat().st_size
    count = int(float(objects))
    print(f"{count} objects, {size / 2**20:.0f} MiB")
    heap = [options.mapdiag, "heap"]
    kinds = {"load": [*heap, "summary", dump, "--no-index"],
             "retained": [*heap, "retained", dump, "--no-index"]}
    if options.parse:
        kinds["parse"] = [options.parse, dump]
    if options.meliae:
        kinds["meliae"] = [options.meliae, "-c", MELIAE, dump]
    runs = {kind: [] for kind in kinds}
    for turn in range(options.rounds):
        for kind, command in kinds.items():
            # Meliae takes minutes: once is enough for a factor of 40.
            if kind != "meliae" or turn == 0 or count < 2e6:
                runs[kind].append(Run(command))
    load, retained = best(runs["load"]), best(runs["retained"])
    # 2.3 references an object: 80 bytes an object and 10 a reference.
    show("mapdiag heap summary, first load", load, f"{load.peak / count:.0f} B an object (goal: 103)")
    show("mapdiag heap retained, first load", retained,
         f"{retained.peak / count:.0f} B an object; {retained.wall / load.wall:.2f} times the summary (goal: 2)")
    if options.parse:
        parse = best(runs["parse"])
        show("simdjson, bare parse", parse)
        print(f"    load / bare parse: {load.wall / parse.wall:.2f} (CPU {load.cpu / parse.cpu:.2f}; "
              "goal: 3)")
    if options.meliae:
        meliae = best(runs["meliae"])
        show("Meliae load() + summarize()", meliae)
        print(f"    Meliae / load: {meliae.wall / load.wall:.1f} (CPU {meliae.cpu / load.cpu:.1f}; "
              f"goal: 40); memory {load.peak / meliae.peak:.2f} of Meliae's (goal: 0.5)")
    else:
        print("    Meliae not at hand; measured elsewhere (its own figures): 10.6, 38.6 and 107 CPU "
              "seconds for 1e6, 3.58e6 and 1e7 objects")
    show("first load that keeps the index", Run([*heap, "retained", dump]))
    for question in (("summary",), ("retained",), ("parents", "0x7f2000000000"), ("suspects",),
                     ("strings",), ("path", "0x7f2000000000"), ("all", "list"), ("all", "str"),
                     ("show", "0x7f2000000000"), ("children", "0x7f2000000000"),
                     ("retained", "0x7f2000000000")):
        again = best([Run([*heap, question[0], dump, *question[1:]]) for _ in range(3)])
        show("from the index: " + " ".join(question), again, "(goal: 0.2 s)")
    for path in folder.iterdir():
        path.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mapdiag", required=True)
    parser.add_argument("--gen", required=True)
    parser.add_argument("--parse")
    parser.add_argument("--meliae", help="a Python that can import meliae")
    parser.add_argument("--objects", nargs="+", default=["1e6", "3.58e6", "1e7"])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    for objects in options.objects:
        with tempfile.TemporaryDirectory(prefix="mapdiag-bench.") as folder:
            measure(options, objects, pathlib.Path(folder))


if __name__ == "__main__":
    main()
