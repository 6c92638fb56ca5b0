#!/usr/bin/env python3
"""Folded profiles as py-spy writes them, for bench/folded.py: the same arguments give the same bytes.

folded_gen.py deep|wide BYTES OUT [--after]

deep: stacks of 20 to 120 frames, lines of about 3 kB, each going on from a part of the one before.
wide: lines of about 250 bytes, of 2 to 9 frames, nearly all different.
Two lines in a hundred repeat a stack, the order is shuffled, counts are from 1 to 100000 with small ones
frequent. --after: the same stacks with other counts and one in a hundred gone, to compare with.
"""

import argparse
import math
import random

FILES = [f"{package}/{name}.py" for package in ("linkml_map/transformer", "linkml_map/utils", "linkml_runtime/utils",
                                                "pydantic", "yaml", "click", "json", "pandas/core", "duckdb")
         for name in ("engine", "main", "core", "schema", "emitter", "loader")] + [
             "<frozen importlib._bootstrap>", "functools.py", "größe/prüfen.py"]
WORDS = ("map object derive slot class load index emit node scalar eval expr join write chunk cache resolve enum "
         "convert transform represent serialize lookup closure").split()
NAMES = ("<module>", "<lambda>", "<listcomp>", "__init__", "operator() const", "größe_prüfen", "変換")


def pool_of_frames(draw, size):
    below = lambda n: int(draw() * n)
    frames = []
    while len(frames) < size:
        name = (NAMES[below(len(NAMES))] if draw() < 0.1
                else "_".join(WORDS[below(len(WORDS))] for _ in range(1 + below(3))))
        frames.append(f"{name} ({FILES[below(len(FILES))]}:{1 + below(2000)})")
    return frames


def deep_stacks(draw, pool, size):
    below = lambda n: int(draw() * n)
    stack = []
    while size > 0:
        wanted = 20 + below(101)
        del stack[1 + below(len(stack)) if stack else 0:]
        del stack[wanted:]
        stack += (pool[below(len(pool))] for _ in range(wanted - len(stack)))
        text = ";".join(stack)
        yield text
        size -= len(text.encode()) + 5


def wide_stacks(draw, pool, size):
    below = lambda n: int(draw() * n)
    while size > 0:
        text = ";".join([pool[below(40)]] + [pool[below(len(pool))] for _ in range(1 + below(8))])
        yield text
        size -= len(text.encode()) + 5


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kind", choices=["deep", "wide"])
    parser.add_argument("bytes", type=float)
    parser.add_argument("out")
    parser.add_argument("--after", action="store_true")
    options = parser.parse_args()
    # Only random.random(), whose numbers are the same on every Python; counts have numbers of their own.
    draw = random.Random(1).random
    counts = random.Random(3 if options.after else 2).random
    pool = pool_of_frames(draw, 20000 if options.bytes > 5e6 else 4000)
    lines = []
    for text in (deep_stacks if options.kind == "deep" else wide_stacks)(draw, pool, options.bytes):
        for _ in range(1 + (draw() < 0.02)):
            lines.append(f"{text} {int(math.exp(counts() * math.log(100000))) or 1}")
    if options.after:
        lines = [line for line in lines if counts() >= 0.01]
    for i in range(len(lines) - 1, 0, -1):
        j = int(draw() * (i + 1))
        lines[i], lines[j] = lines[j], lines[i]
    with open(options.out, "w", encoding="utf-8", newline="\n") as out:
        out.writelines(line + "\n" for line in lines)


if __name__ == "__main__":
    main()
