"""The command line itself: help, version, wrong use."""

import re

from harness import MapdiagTest


class CommandLine(MapdiagTest):
    def test_version_goes_to_stdout(self):
        outcome = self.mapdiag("--version")
        self.assertEqual((outcome.status, outcome.talk), (0, ""))
        self.assertRegex(outcome.text, r"\Amapdiag \d+\.\d+\.\d+\n\Z")

    def test_help_goes_to_stdout(self):
        outcome = self.mapdiag("--help")
        self.assertEqual((outcome.status, outcome.talk), (0, ""))
        self.assertIn("mapping step", outcome.text)

    def test_every_command_has_a_help(self):
        text = self.mapdiag("--help").text
        listed = re.split(r"(?im)^subcommands:\n", text)
        for name in re.findall(r"(?m)^  ([a-z][a-z-]*) ", listed[1]) if len(listed) > 1 else []:
            with self.subTest(command=name):
                outcome = self.mapdiag(name, "--help")
                self.assertEqual((outcome.status, outcome.talk), (0, ""))
                self.assertIn(name, outcome.text)

    def test_wrong_use_is_status_2_on_stderr_and_leaves_no_file(self):
        for wrong in ([], ["no-such-command"], ["--no-such-option"]):
            with self.subTest(arguments=wrong):
                outcome = self.mapdiag(*wrong)
                self.assertEqual((outcome.status, outcome.text), (2, ""))
                self.assertNotEqual(outcome.talk, "")
                self.assertEqual(list(self.folder.iterdir()), [])
