"""A step that is known in a profile by its functions: step.py WORD..., each word one thing done.

busy N     works for N seconds
wait N     sleeps N seconds
other N    works in another function
start W..  starts this script once more with the rest of the words, and waits for it
pack N     compresses for N seconds, most of the time in zlib's own code
say TEXT   prints it
"""

import subprocess
import sys
import time
import zlib


def busy_part(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(500))


def other_part(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(500))


def waiting_part(seconds):
    time.sleep(seconds)


def packing_part(seconds):
    end = time.monotonic() + seconds
    data = bytes(range(256)) * 8000
    while time.monotonic() < end:
        zlib.compress(data, 9)


def main(words):
    while words:
        word = words.pop(0)
        if word == "start":
            subprocess.run([sys.executable, __file__, *words], check=True)
            return
        value = words.pop(0)
        if word == "say":
            print(value, flush=True)
        else:
            {"busy": busy_part, "other": other_part, "wait": waiting_part,
             "pack": packing_part}[word](float(value))


main(sys.argv[1:])
