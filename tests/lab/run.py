"""Stages every scenario of the laboratory and prints what mapdiag had to say of it against what it said.

    tests/lab/run.py --mapdiag FILE --hog FILE [WORD...]      (words choose scenarios by their names)

One wrong claim, and it fails.
"""

import argparse
import os
import pathlib
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
for folder in (HERE, HERE.parent / "e2e", HERE / "e2e"):
    sys.path.insert(0, os.fspath(folder))

import cgroups
import harness
import lab
import deaths_by_signal
import ends_by_itself
import memory_deaths
import slow_runs


class Table(unittest.TestResult):
    """One line for each scenario, as it comes."""

    def __init__(self):
        super().__init__()
        self.right = 0
        self._begin = 0.0

    def startTest(self, test):
        super().startTest(test)
        self._begin = time.monotonic()
        self._wrong = False

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._wrong = True

    def addError(self, test, err):
        super().addError(test, err)
        self._wrong = True

    def stopTest(self, test):
        super().stopTest(test)
        self.right += not self._wrong
        expected = test.scenario.own if test.kind == lab.OWN else test.scenario.tree
        print(f"{'WRONG' if self._wrong else 'right':5}  {test.kind:4}  {test.scenario.name:58}  "
              f"{' or '.join(expected):44}  {test.said:28}  {time.monotonic() - self._begin:5.2f} s",
              flush=True)


def read_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mapdiag", required=True, type=pathlib.Path)
    parser.add_argument("--hog", required=True, type=pathlib.Path)
    parser.add_argument("--placement", choices=cgroups.ALL_PLACEMENTS)
    parser.add_argument("words", nargs="*", metavar="WORD")
    return parser.parse_args()


def scenarios_for(placement, words):
    """(kind, scenario): with a group of the job's own, and by its processes on an ordinary machine."""
    for scenario in lab.SCENARIOS:
        if placement not in scenario.placements:
            continue
        if words and not any(word in scenario.name for word in words):
            continue
        if harness.SLOW_MACHINE and not scenario.light:
            continue
        if scenario.own and placement != cgroups.PLAIN:
            yield lab.OWN, scenario
        # What the process tree says does not depend on the hierarchy.
        if scenario.tree and placement in (cgroups.PLAIN, cgroups.V1_ROOT):
            yield lab.TREE, scenario


def make_tests(placement, words):
    for kind, scenario in scenarios_for(placement, words):
        test = lab.Bench()
        test.scenario, test.kind = scenario, kind
        yield test


def main():
    arguments = read_arguments()
    base = cgroups.Base()
    placement = base.hierarchy.placement()
    if arguments.placement and placement != arguments.placement:
        sys.exit(f"run.py: this place is {placement}, not {arguments.placement}")
    tests = list(make_tests(placement, arguments.words))
    print(f"laboratory, placement {placement}: {len(tests)} stagings of {len(lab.SCENARIOS)} "
          "scenarios; expected against said", flush=True)
    if not tests:
        sys.exit("run.py: nothing to stage")
    table = Table()
    with base:
        lab.Bench.base = base
        lab.Bench.placement = placement
        lab.Bench.mapdiag_path = arguments.mapdiag.resolve()
        lab.Bench.hog_path = arguments.hog.resolve()
        lab.Bench.probe_path = arguments.hog.resolve().with_name("probe")
        unittest.TestSuite(tests).run(table)
    for test, text in table.failures + table.errors:
        print(f"\n{test.kind} {test.scenario.name}\n{text}")
    wrong = len(tests) - table.right
    print(f"{table.right} passed, {wrong} failed, 0 skipped")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
