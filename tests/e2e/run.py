#!/usr/bin/env python3
"""Runs the end-to-end tests: run.py --mapdiag FILE --hog FILE [--placement P] [WORD...]

The program `probe` is expected beside hog. Runs those tests that make sense where it is started
(see cgroups.py), or only those of them whose name holds one of the words. With --placement it is an error to be started anywhere else. Ends with
"N passed, N failed, N skipped"; a skipped test is a failure where MAPDIAG_COMPULSORY=1.
"""

import argparse
import os
import pathlib
import signal
import sys
import time
import unittest

import cgroups
import harness


class Result(unittest.TestResult):
    """Prints one line a test, and the whole story at once where one fails."""

    def __init__(self):
        super().__init__()
        self.passed = 0

    def startTest(self, test):
        super().startTest(test)
        self._begin = time.monotonic()
        self._wrong = False

    def _line(self, word, test, story=""):
        took = time.monotonic() - self._begin
        print(f"{word:7} {test.id()} ({took:.2f} s){story and chr(10) + story.rstrip()}", flush=True)

    def _story(self, word, test, error):
        self._wrong = True
        self._line(word, test, self._exc_info_to_string(error, test))

    def addSuccess(self, test):
        super().addSuccess(test)
        self._line("ok", test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._story("FAILED", test, err)

    def addError(self, test, err):
        super().addError(test, err)
        self._story("FAILED", test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._story("FAILED", subtest, err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._line("skipped", test, reason)

    def stopTest(self, test):
        super().stopTest(test)
        skipped = bool(self.skipped) and self.skipped[-1][0] is test
        self.passed += not self._wrong and not skipped


def flatten(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from flatten(item)
        else:
            yield item


def load_tests(folder, words):
    """Every test of the folder whose name holds one of the words."""
    loader = unittest.TestLoader()
    tests = list(flatten(loader.discover(folder, pattern="test_*.py", top_level_dir=folder)))
    if loader.errors:
        sys.exit("\n".join(loader.errors))
    return [t for t in tests if not words or any(word in t.id() for word in words)]


def read_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mapdiag", required=True, type=pathlib.Path)
    parser.add_argument("--hog", required=True, type=pathlib.Path)
    parser.add_argument("--placement", choices=cgroups.ALL_PLACEMENTS)
    parser.add_argument("--tests", type=pathlib.Path, default=pathlib.Path(__file__).parent,
                        help="folder of the tests, if not this one")
    parser.add_argument("words", nargs="*", metavar="WORD")
    return parser.parse_args()


def take_keyboard_signals():
    """A background command of a script is born with these ignored, and so would be every job."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)


def main():
    take_keyboard_signals()
    arguments = read_arguments()
    base = cgroups.Base()
    placement = base.hierarchy.placement()
    if arguments.placement and placement != arguments.placement:
        sys.exit(f"run.py: this place is {placement}, not {arguments.placement}")

    tests = load_tests(os.fspath(arguments.tests.resolve()), arguments.words)
    here = [t for t in tests if harness.is_meant_for(t, placement)]
    print(f"end-to-end tests, placement {placement}: {len(here)} of {len(tests)}"
          " (the others belong to other placements or machines)", flush=True)
    if not here:
        sys.exit("run.py: no test to run")

    result = Result()
    with base:
        harness.MapdiagTest.base = base
        harness.MapdiagTest.placement = placement
        harness.MapdiagTest.mapdiag_path = arguments.mapdiag.resolve()
        harness.MapdiagTest.hog_path = arguments.hog.resolve()
        harness.MapdiagTest.probe_path = arguments.hog.resolve().with_name("probe")
        unittest.TestSuite(here).run(result)

    failed = result.testsRun - result.passed - len(result.skipped)
    print(f"{result.passed} passed, {failed} failed, {len(result.skipped)} skipped")
    compulsory = os.environ.get("MAPDIAG_COMPULSORY") == "1"
    sys.exit(bool(failed or (compulsory and result.skipped)))


if __name__ == "__main__":
    main()
