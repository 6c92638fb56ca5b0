#!/usr/bin/env python3
"""What standing in front of a command costs: wrapper.py PART --mapdiag FILE [options]

off         `mapdiag run` without diagnosis against `env`; wanted: at most 1.3 times
on          with diagnosis, without profiler, against `env`, GNU time and runexec; wanted: under
            3 ms more than `env`
throughput  a job that writes as fast as it can, against `tee`
profile     a real mapping step with mapdiag's profile against one with a bare `py-spy record --pid`;
            wanted: less than 1 % more
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import paired

# A command with an argument: mapdiag takes a lone word for a forgotten --entity.
TRUE = ["/usr/bin/true", "x"]


def on(options, folder, *more):
    return [options.mapdiag, "run", "--profile", "--quiet", "--entity", "bench",
            "--log-dir", folder, *more]


def off_part(options, _):
    prefix = [options.mapdiag, "run", "--entity", "bench", "--"]
    print("off: /usr/bin/true")
    paired.show(paired.compare(
        options.rounds,
        env=lambda: paired.wall_of(["env", *TRUE], repeat=50),
        mapdiag_off=lambda: paired.wall_of([*prefix, *TRUE], repeat=50)), "env")


def on_part(options, folder):
    command = [*on(options, folder, "--profiler", "none"), "--", *TRUE]
    sides = {"env": lambda: paired.wall_of(["env", *TRUE], repeat=20),
             "mapdiag_on": lambda: paired.wall_of(command, repeat=20)}
    if shutil.which("time"):
        gnu_time = [shutil.which("time"), "-o", "/dev/null", *TRUE]
        sides["gnu_time"] = lambda: paired.wall_of(gnu_time, repeat=20)
    else:
        print("GNU time: not compared, not installed")
    if options.runexec:
        runexec = [options.runexec, "--no-container", "--output", "/dev/null", "--", *TRUE]
        sides["runexec"] = lambda: paired.wall_of(runexec)
    else:
        print("runexec: not compared (--runexec FILE)")
    print("on, without profiler: /usr/bin/true")
    paired.show(paired.compare(options.rounds, **sides), "env")


def throughput_part(options, folder):
    size = options.mib << 20
    produce = ["head", "-c", str(size), "/dev/zero"]
    command = [*on(options, folder, "--profiler", "none"), "--", *produce]
    tee = ["sh", "-c", f"head -c {size} /dev/zero | tee '{folder}/tee.log'"]

    print(f"throughput: {options.mib} MiB to stdout (a pipe into cat) and to a log in {folder}")

    def piped(words):
        """The whole pipeline's time, its end a cat that throws away."""
        for log in pathlib.Path(folder).glob("*.log"):
            log.unlink()
        begin = time.monotonic()
        first = subprocess.Popen(words, stdout=subprocess.PIPE)
        second = subprocess.run(["cat"], stdin=first.stdout, stdout=subprocess.DEVNULL, check=True)
        first.stdout.close()
        if first.wait() or second.returncode:
            raise SystemExit(f"{words} failed")
        return time.monotonic() - begin

    times = paired.compare(options.rounds, tee=lambda: piped(tee), mapdiag=lambda: piped(command))
    paired.show(times, "tee")
    print(f"  mapdiag: {options.mib / 1024 / min(times['mapdiag']):.2f} GiB/s at best")


def bare_py_spy(command, folder, rate):
    """The command with nothing but py-spy attached to it."""
    begin = time.monotonic()
    job = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.03)
    profiler = subprocess.Popen(
        ["py-spy", "record", "--pid", str(job.pid), "--rate", str(rate), "--idle", "--format", "raw",
         "--output", f"{folder}/bare.folded"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if job.wait() or profiler.wait():
        raise SystemExit("the bare py-spy run failed")
    return time.monotonic() - begin


def profile_part(options, folder):
    demo = pathlib.Path(__file__).resolve().parents[1] / "demo"
    subprocess.run(["/usr/bin/env", "python3", demo / "make_data.py", "--rows", str(options.rows),
                    "--out", f"{folder}/data"], check=True)
    step = ["linkml-map", "map-data", "-T", f"{demo}/specs/", "--entity", "Reading",
            "-s", f"{demo}/source.yaml", "--target-schema", f"{demo}/target.yaml",
            "-o", f"{folder}/Reading.jsonl", "-f", "jsonl", "--chunk-size", "10000",
            f"{folder}/data/"]
    rate = str(options.rate)
    print(f"profile: linkml-map, {options.rows} readings, {rate} samples a second")
    times = paired.compare(
        options.rounds,
        bare_command=lambda: paired.wall_of(step),
        bare_py_spy=lambda: bare_py_spy(step, folder, rate),
        mapdiag_no_profiler=lambda: paired.wall_of(
            [*on(options, folder, "--profiler", "none"), "--", *step]),
        mapdiag_profile=lambda: paired.wall_of([*on(options, folder, "--rate", rate), "--", *step]))
    paired.show(times, "bare_command")
    pair = {name: times[name] for name in ("bare_py_spy", "mapdiag_profile")}
    paired.show(pair, "bare_py_spy")


PARTS = {"off": (off_part, 21), "on": (on_part, 15), "throughput": (throughput_part, 9),
         "profile": (profile_part, 7)}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--mapdiag", required=True)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--runexec", help="runexec of BenchExec")
    parser.add_argument("--mib", type=int, default=2048, help="size for throughput")
    parser.add_argument("--rows", type=int, default=1000, help="rows for profile")
    parser.add_argument("--rate", type=int, default=120, help="samples a second for profile")
    options = parser.parse_args()
    run, rounds = PARTS[options.part]
    options.rounds = options.rounds or rounds
    for name in ("DM_MAP_PROFILE", "MAPDIAG_ENTITY", "MAPDIAG_LOG_DIR"):
        os.environ.pop(name, None)
    # In memory, so that no disk is measured.
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="mapdiag-bench.") as folder:
        run(options, folder)


if __name__ == "__main__":
    main()
