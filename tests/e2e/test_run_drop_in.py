"""A recipe that starts its step through `py-spy record`, with `mapdiag run --` put in front."""

import sys

from harness import MapdiagTest

ON = {"DM_MAP_PROFILE": "true"}

# Stands in for py-spy: writes down how it was called, and one stack as its samples, as soon as it
# is told to end.
FAKE = """#!/bin/sh
echo "$@" >>"$0.calls"
[ "$1" != --version ] || exit 0
while [ "$1" != --output ]; do shift; done
finish() { echo "main (step.py:1) 7" >"$out"; exit 0; }
out=$2
trap finish INT
while :; do sleep 0.05; done
"""


class DropIn(MapdiagTest):
    def setUp(self):
        super().setUp()
        self.tools = self.folder / "tools"
        self.tools.mkdir()
        self.py_spy = self.tools / "py-spy"
        self.py_spy.write_text(FAKE)
        self.py_spy.chmod(0o755)
        self.env = {"PATH": f"{self.tools}:/usr/bin:/bin"}

    def calls(self):
        path = self.tools / "py-spy.calls"
        return path.read_text().splitlines() if path.exists() else []

    def recipe(self, *options, job, run=(), env=None):
        return self.mapdiag("run", *run, "--", "env", "py-spy", "record", *options, "--",
                            sys.executable, "-c", job, "--entity", "E",
                            env={**self.env, **ON, **(env or {})})

    def wait_for_the_fake(self):
        """What a job does until it is sampled: then it is neither too short nor longer than need be."""
        calls = str(self.tools / "py-spy.calls")
        return ("import os, sys, time\n"
                f"while not os.path.exists({calls!r}): time.sleep(0.01)\n")

    def test_the_status_is_the_jobs_and_the_profile_where_the_recipe_wants_it(self):
        outcome = self.recipe("-r50", "--format", "raw", "-s", "--output", "logs/E.folded",
                              job=self.wait_for_the_fake() + "print('out'); sys.exit(9)")
        self.assertEqual(outcome.status, 9, outcome)
        self.assertEqual(outcome.out, b"out\n")
        self.assertIn("[diag E] exit: exited with 9", outcome.talk)
        record = [call for call in self.calls() if call.startswith("record ")][0]
        self.assertIn(" --rate 50 ", record)
        self.assertNotIn("--idle", record)
        self.assertIn("--pid", record)
        self.assertTrue((self.folder / "logs/E.folded").read_text().endswith("main (step.py:1) 7\n"))
        # The log stays the recipe's, which makes it from the output.
        self.assertEqual(sorted(p.name for p in (self.folder / "logs").iterdir()),
                         ["E.diag.jsonl", "E.folded"])

    def test_what_is_given_to_mapdiag_wins(self):
        self.recipe("-r50", "--format", "raw", "-o", "a/E.folded", run=["--rate", "20", "--idle"],
                    job=self.wait_for_the_fake())
        record = [call for call in self.calls() if call.startswith("record ")][0]
        self.assertIn(" --rate 20 ", record)
        self.assertIn("--idle", record)

    def test_what_cannot_be_taken_over_stays_and_is_said_once(self):
        self.py_spy.write_text('#!/bin/sh\necho "own call: $*"\nexit 0\n')
        outcome = self.recipe("--threads", "--format", "raw", "-o", "x", job="raise SystemExit(9)")
        self.assertEqual(outcome.status, 0)
        self.assertTrue(outcome.out.startswith(b"own call: record --threads --format raw -o x -- "))
        self.assertEqual(outcome.talk.count("the command's own py-spy record stays as it is, since "
                                            "mapdiag has nothing for --threads: "), 1)
        self.assertNotIn("profile:", outcome.talk)

    def test_off_leaves_the_command_as_it_is(self):
        self.py_spy.write_text('#!/bin/sh\necho "own call: $*"\nexit 3\n')
        outcome = self.recipe("-r50", "-f", "raw", "-o", "x", job="1", env={"DM_MAP_PROFILE": None})
        self.assertEqual(outcome.status, 3)
        self.assertTrue(outcome.out.startswith(b"own call: record -r50 -f raw -o x -- "))
        self.assertEqual(outcome.err, b"")
        self.assertEqual([p.name for p in self.folder.iterdir()], ["tools"])
