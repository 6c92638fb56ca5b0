"""Paired measurement: what is compared runs in turns, and each round gives one ratio.

A busy machine slows both sides of a round alike, so the median of the rounds' ratios is steady where
the times themselves are not. Beside it stand the quartiles of the ratios.
"""

import os
import statistics
import time


def wall_of(command, env=None, stdout=None, repeat=1):
    """Seconds of wall clock that one of `repeat` runs of the command takes. Its status must be 0."""
    actions = [(os.POSIX_SPAWN_OPEN, 1, stdout or "/dev/null", os.O_WRONLY | os.O_CREAT, 0o600)]
    begin = time.monotonic()
    for _ in range(repeat):
        pid = os.posix_spawnp(command[0], command, os.environ if env is None else env,
                              file_actions=actions)
        _, status = os.waitpid(pid, 0)
        if status != 0:
            raise SystemExit(f"{' '.join(command)}: ended with wait status {status}")
    return (time.monotonic() - begin) / repeat


def compare(rounds, **sides):
    """Calls every side once a round and gives the times: {name: [seconds, ...]}.

    The order turns from round to round, so that no side always runs on a warm cache.
    """
    names = list(sides)
    times = {name: [] for name in names}
    for side in sides.values():
        side()  # caches, not counted
    for number in range(rounds):
        for name in names[number % len(names):] + names[:number % len(names)]:
            times[name].append(sides[name]())
    return times


def show(times, base):
    """Prints one line a side: its median time and, against `base`, ratio and difference."""
    for name, taken in times.items():
        line = f"  {name:<28} {1e3 * statistics.median(taken):10.3f} ms"
        if name != base:
            ratios = [a / b for a, b in zip(taken, times[base])]
            low, middle, high = statistics.quantiles(ratios, n=4)
            more = statistics.median(a - b for a, b in zip(taken, times[base]))
            line += (f"   x {middle:.3f} of {base} (quartiles {low:.3f} to {high:.3f}),"
                     f" {1e3 * more:+.3f} ms")
        print(line, flush=True)
