"""The commands on folded profiles, as a person uses them."""

import gzip
import json
import xml.dom.minidom

from harness import MapdiagTest, not_for_slow_machines
from terminal import Terminal


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

    def said(self, status, *words, **how):
        """What a command that ends with this status says on stderr, and that it prints nothing."""
        outcome = self.mapdiag(*words, **how)
        self.assertEqual((outcome.status, outcome.out), (status, b""), outcome.talk)
        return outcome.talk

    def test_wrong_uses_are_told_from_failures(self):
        name = self.folded("j.folded", b"m;a 3\nm;b 4\n")
        self.assertEqual(self.said(2, "top", "--hide", "(", name),
                         'mapdiag: can\'t read the regular expression "(": Unmatched ( or \\(\n')
        self.assertEqual(self.said(2, "diff", "-", "-"),
                         "mapdiag: only one of the two profiles can be standard input\n")
        self.assertEqual(self.said(2, "flamegraph", "--text", "--diff", name, name),
                         "mapdiag: --diff draws an SVG, not --text; mapdiag diff compares in the terminal\n")
        self.assertEqual(self.said(1, "top", "--include", "nowhere", name),
                         "mapdiag: --include left out 7 samples in 2 stacks\n"
                         "mapdiag: can't show a profile: the filters leave no samples of it\n")
        self.assertIn("pprof", self.said(2, "export", "--to", "nothing", name))

    def test_the_gate_names_the_frame_and_its_growth(self):
        before = self.folded("k.folded", b"m;a 50\nm;b 50\n")
        after = self.folded("l.folded", b"m;a 50\n")
        for words in ([], ["--counts"]):
            outcome = self.mapdiag("diff", *words, "--fail-above", "10", before, after)
            self.assertEqual(outcome.status, 3)
            self.assertEqual(outcome.talk, "mapdiag: the self share of a grew by 50.00 points, more than 10 "
                                           "(--fail-above)\n")
            self.assertIn("before: 100 samples in k.folded", outcome.text)

    def test_what_filters_did_is_stated_in_counts(self):
        name = self.folded("m.folded", b"m;a 3\nm;b 4\n")
        words = ["--exclude", "^b$"]
        line = "--exclude left out 4 samples in 1 stack"
        self.assertIn(line, self.mapdiag("top", *words, name).text)
        self.assertIn(f"before: {line}\nafter: {line}\n", self.mapdiag("diff", *words, name, name).text)
        self.assertIn(line, self.mapdiag("flamegraph", "--text", *words, name).text)
        self.assertIn(f"before: {line}", self.mapdiag("flamegraph", *words, "--diff", name, name).text)
        for words in (["flamegraph", *words], ["export", "--to", "folded", *words]):
            self.assertEqual(self.mapdiag(*words, name).talk, f"mapdiag: warning: {line}\n")

    def test_standard_input_and_packed_files_are_read(self):
        self.folded("n.folded.gz", gzip.compress(b"m;a 3\n"))
        self.folded("o.folded", b"m;a 4\n")
        with open(self.folder / "o.folded", "rb") as given:
            outcome = self.mapdiag("export", "--to", "folded", "n.folded.gz", "-", stdin=given)
        self.assertEqual(outcome.out, b"m;a 7\n")
        self.folded("bad", b"junk\n")
        with open(self.folder / "bad", "rb") as given:
            self.assertEqual(self.said(1, "top", "-", stdin=given),
                             "mapdiag: can't read standard input: none of its lines (1) is a folded stack with a "
                             "count; line 1: there is no count at its end\n")

    def test_a_picture_or_packed_file_is_refused_on_a_terminal(self):
        name = self.folded("q.folded", b"m;a 3\n")
        for words, said in ((["flamegraph"], "an SVG is not for a terminal: use -o FILE, a pipe, or --text"),
                            (["export", "--to", "pprof"],
                             "a pprof file is not for a terminal: use -o FILE or a pipe")):
            terminal = Terminal([self.mapdiag_path, *words, name], self.folder, self.environment(None),
                                self.own_group(), 60)
            self.addCleanup(terminal.close)
            terminal.expect(said)
            self.assertEqual(terminal.wait(), 2)

    def test_a_failed_output_leaves_no_file_and_fails(self):
        name = self.folded("r.folded", b"m;a 3\n")
        self.assertIn("can't write ", self.said(1, "flamegraph", name, "-o", "none/x.svg"))
        outcome = self.mapdiag("flamegraph", name, "-o", "/dev/full")
        self.assertEqual(outcome.status, 1)
        self.assertIn("No space left on device", outcome.talk)

    @not_for_slow_machines
    def test_packed_repetition_and_long_lines_take_bounded_memory(self):
        # 10 million lines in 120 kB, a line of 64 MB, and one of 3 million frames.
        pack = gzip.compress(b"main;work 1\n" * 200_000, 6)
        self.folded("bomb.gz", pack * 50)
        self.folded("long", b"a;" + b"x" * 64_000_000 + b" 3\na;c 4\n")
        self.folded("many", b"a;" + b"fr;" * 3_000_000 + b" 3\na;c 4\n")
        for name, total in (("bomb.gz", 10_000_000), ("long", 7), ("many", 7)):
            outcome = self.run_command("prlimit", f"--as={400 << 20}", self.mapdiag_path, "top", name, "--json")
            self.assertEqual((outcome.status, outcome.talk), (0, ""), name)
            self.assertEqual(json.loads(outcome.text)["total"], total)
