"""`mapdiag timeline`: the journal of a real run, drawn."""

import json
import xml.dom.minidom

from harness import ON, MapdiagTest


class TimeLine(MapdiagTest):
    def setUp(self):
        super().setUp()
        self.assertEqual(self.mapdiag(*ON, *self.hog(40, 0.3)).status, 0)
        self.journal = "logs/E.diag.jsonl"

    def test_in_the_terminal(self):
        outcome = self.mapdiag("timeline", self.journal, "--width", "70")
        self.assertEqual((outcome.status, outcome.err), (0, b""))
        self.assertTrue(outcome.text.startswith("E: highest sample "), outcome.text)
        self.assertIn("█", outcome.text)
        self.assertIn("exited with 0", outcome.text)
        for line in outcome.text.splitlines()[1:13]:
            self.assertLessEqual(len(line), 70)

    def test_as_json(self):
        outcome = self.mapdiag("timeline", self.journal, "--json")
        drawn = json.loads(outcome.text)
        self.assertEqual(drawn["format"], "mapdiag-timeline")
        self.assertGreaterEqual(drawn["highest_bytes"], 39 << 20)
        self.assertEqual(drawn["highest_bytes"], max(s["memory"] or 0 for s in drawn["samples"]))

    def test_as_a_picture(self):
        outcome = self.mapdiag("timeline", self.journal, "--svg", "-o", "E.svg")
        self.assertEqual(outcome, (0, b"", b""))
        picture = xml.dom.minidom.parse(str(self.folder / "E.svg"))
        self.assertEqual(picture.documentElement.tagName, "svg")

    def test_what_can_not_be_drawn_is_said(self):
        self.mapdiag(*ON, "--placement", "none", "true")
        for words, status in (([self.journal], 1), (["nowhere.jsonl"], 1),
                              ([self.journal, "--svg", "--json"], 2),
                              ([self.journal, "--width", "3"], 2)):
            with self.subTest(words=words):
                outcome = self.mapdiag("timeline", *words)
                self.assertEqual((outcome.status, outcome.out), (status, b""))
                self.assertTrue(outcome.talk)

    def test_a_file_that_can_not_be_written_fails(self):
        outcome = self.mapdiag("timeline", self.journal, "-o", "nowhere/x.txt")
        self.assertEqual(outcome.status, 1)
        self.assertIn("nowhere/x.txt", outcome.talk)
