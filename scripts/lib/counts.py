#!/usr/bin/env python3
"""Adds up what test programs counted, and prints it as "N passed, N failed, N skipped".

counts.py junit FILE   one run of ctest (--output-junit): a program that closes with counts of its
                       own, as Catch2 and the project's runners do, counts for as many tests
counts.py sum FILE     lines of that form, summed
"""

import re
import sys
import xml.etree.ElementTree

OURS = re.compile(r"(?m)^(\d+) passed, (\d+) failed, (\d+) skipped\r?$")
CATCH_GOOD = re.compile(r"(?m)^All tests passed \(.* in (\d+) test cases?\)")
CATCH_BAD = re.compile(r"(?m)^test cases:.*$")


def counted_by_program(text):
    """(passed, failed, skipped) by the program's own closing line, or None."""
    ours = OURS.findall(text)
    if ours:
        return tuple(map(int, ours[-1]))
    good = CATCH_GOOD.findall(text)
    if good:
        return int(good[-1]), 0, 0
    bad = CATCH_BAD.findall(text)
    if bad:
        return tuple(int((re.search(rf"(\d+) {word}", bad[-1]) or [0, 0])[1])
                     for word in ("passed", "failed", "skipped"))
    return None


def of_testcase(case):
    status = case.get("status")
    if status in ("notrun", "disabled"):
        return 0, 0, 1
    passed, failed, skipped = counted_by_program(case.findtext("system-out") or "") or (
        int(status == "run"), 0, 0)
    # A program that died, or ran out of time, after tests of its own that passed.
    if status != "run" and failed == 0:
        failed = 1
    return passed, failed, skipped


def main():
    kind, path = sys.argv[1:]
    if kind == "junit":
        counts = [of_testcase(case) for case in
                  xml.etree.ElementTree.parse(path).getroot().iter("testcase")]
    else:
        with open(path, encoding="utf-8", errors="replace") as file:
            counts = [tuple(map(int, found)) for found in OURS.findall(file.read())]
    passed, failed, skipped = (sum(column) for column in zip(*counts or [(0, 0, 0)]))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")


if __name__ == "__main__":
    main()
