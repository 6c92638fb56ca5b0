"""The commands on folded profiles, as a person uses them."""

import json
import xml.dom.minidom

from harness import MapdiagTest


class Profiles(MapdiagTest):
    def folded(self, name, text):
        (self.folder / name).write_bytes(text)
        return name

    def test_top_ranks_frames_and_keeps_the_total(self):
        name = self.folded("a.folded", b"m;a 3\nm;b 4\nm;a 5\n")
        outcome = self.mapdiag("top", "--json", name)
        self.assertEqual((outcome.status, outcome.talk), (0, ""))
        rows = json.loads(outcome.text)
        self.assertIn("12", json.dumps(rows))
        text = self.mapdiag("top", name).text
        self.assertRegex(text, r"\ba\b")

    def test_bad_lines_are_counted_and_never_shown(self):
        name = self.folded("b.folded", b"a;b 3\nSECRET-without-count\na;b 2\n")
        outcome = self.mapdiag("top", name)
        self.assertEqual(outcome.status, 0)
        self.assertIn("2", outcome.talk)
        self.assertNotIn("SECRET", outcome.talk + outcome.text)
        self.assertNotEqual(self.mapdiag("top", "--strict", name).status, 0)

    def test_nothing_usable_is_an_error_without_output(self):
        name = self.folded("c.folded", b"junk\n")
        outcome = self.mapdiag("flamegraph", name, "-o", "c.svg")
        self.assertNotEqual(outcome.status, 0)
        self.assertNotEqual(outcome.talk, "")
        self.assertFalse((self.folder / "c.svg").exists())

    def test_the_flame_graph_is_well_formed_and_the_same_each_time(self):
        name = self.folded("d.folded", b"m;a<b>&\"c 3\nm;\xff 4\n")
        first = self.mapdiag("flamegraph", name)
        self.assertEqual(first.status, 0)
        xml.dom.minidom.parseString(first.out)
        self.assertEqual(first.out, self.mapdiag("flamegraph", name).out)

    def test_equal_shapes_of_different_length_show_no_change(self):
        before = self.folded("e.folded", b"m;a 50\nm;b 50\n")
        after = self.folded("f.folded", b"m;a 100\nm;b 100\n")
        outcome = self.mapdiag("diff", "--fail-above", "1", before, after)
        self.assertEqual(outcome.status, 0)
        grown = self.folded("g.folded", b"m;a 150\nm;b 50\n")
        self.assertEqual(self.mapdiag("diff", "--fail-above", "10", before, grown).status, 3)

    def test_a_merged_export_is_sorted_and_conserves_the_total(self):
        one = self.folded("h.folded", b"m;b 4\nm;a 3\n")
        two = self.folded("i.folded", b"m;a 5\n")
        outcome = self.mapdiag("export", one, two, "--to", "folded")
        self.assertEqual(outcome.out, b"m;a 8\nm;b 4\n")
