"""docs/folded.md: its commands exist, with the options that it names, and do what it shows."""

import pathlib
import re
import shlex

from harness import MapdiagTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/folded.md").read_text(encoding="utf-8")
COMMANDS = ("top", "diff", "flamegraph", "export")


class FoldedDoc(MapdiagTest):
    def test_every_option_that_it_names_exists_and_the_other_way_round(self):
        known = set()
        for command in COMMANDS:
            outcome = self.mapdiag(command, "--help")
            self.assertEqual(outcome.status, 0, outcome.talk)
            known |= set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", outcome.text))
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", TEXT))
        self.assertEqual(named - known, set())
        # Every filter is explained.
        filters = {"--include", "--exclude", "--root", "--hide", "--hide-startup", "--merge-processes",
                   "--collapse-recursion"}
        self.assertEqual(filters - named, set())
        self.assertEqual(filters - known, set())

    def test_its_commands_run_as_they_stand(self):
        lines = re.findall(r"(?m)^(?:\$ )?(mapdiag (?:top|diff|flamegraph|export) .*)$", TEXT)
        self.assertGreaterEqual(len(lines), 8)
        for name in ("Reading.folded", "Reading.before.folded", "Probe.folded", "a.folded", "b.folded"):
            (self.folder / name).write_text("main (job.py:1);load (job.py:2) 5\nmain (job.py:1) 3\n")
        for line in lines:
            outcome = self.mapdiag(*shlex.split(line)[1:])
            self.assertEqual((outcome.status, outcome.talk), (0, ""), line)
