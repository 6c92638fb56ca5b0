"""mapdiag heap: the commands as a person calls them."""

import gzip
import json
import os
import pathlib
import pty
import re
import subprocess

from cgroups import PLAIN, V1_ROOT
from harness import MapdiagTest, placements

DATA = pathlib.Path(__file__).resolve().parents[1] / "heap" / "data"

DUMP = b"""{"address": 1, "type": "module", "size": 50, "name": "app", "refs": [2]}
{"address": 2, "type": "list", "size": 100, "len": 2, "refs": [3, 4]}
{"address": 3, "type": "str", "size": 60, "len": 11, "value": "SECRETVALUE", "refs": []}
{"address": 4, "type": "str", "size": 60, "len": 11, "value": "SECRETVALUE", "refs": []}
"""

# Two of everything, so that one is left out by --limit 1.
TWOS = b"""{"address": 1, "type": "module", "size": 50, "name": "app", "refs": [2, 3]}
{"address": 2, "type": "list", "size": 100, "len": 2, "refs": [4, 5]}
{"address": 3, "type": "tuple", "size": 90, "len": 2, "refs": [4, 5]}
{"address": 4, "type": "str", "size": 60, "len": 2, "value": "aa", "refs": []}
{"address": 5, "type": "str", "size": 60, "len": 2, "value": "bb", "refs": []}
{"address": 6, "type": "module", "size": 50, "name": "lib", "refs": [7, 8]}
{"address": 7, "type": "str", "size": 60, "len": 2, "value": "aa", "refs": []}
{"address": 8, "type": "str", "size": 60, "len": 2, "value": "bb", "refs": []}
"""

COMMANDS = (
    ("summary",), ("summary", "--by", "retained"), ("summary", "--of", "0x2"),
    ("summary", "--excluding", "type:str"), ("summary", "--without-expensive"), ("retained",),
    ("retained", "2"), ("parents", "3"), ("children", "2"), ("show", "2"), ("show", "3"),
    ("all", "str"), ("size", "2"), ("path", "3"), ("suspects",), ("strings",))


@placements(PLAIN, V1_ROOT)
class Heap(MapdiagTest):
    def setUp(self):
        super().setUp()
        self.dump = self.folder / "app.dump"
        self.dump.write_bytes(DUMP)

    def ask(self, name, *words, **how):
        return self.mapdiag("heap", name, self.dump, *words, **how)

    def test_every_question_is_answered_twice_the_same_and_shows_no_value(self):
        for name, *words in COMMANDS:
            with self.subTest(command=name, words=words):
                first = self.ask(name, *words)
                self.assertEqual((first.status, first.talk), (0, ""))
                self.assertNotIn("SECRET", first.text)
                self.assertEqual(self.ask(name, *words), first)
                self.assertEqual(self.ask(name, *words, "--no-index"), first)
                self.assertNotIn("\r", first.text)

    def test_every_question_has_a_json_answer(self):
        for name, *words in COMMANDS:
            with self.subTest(command=name, words=words):
                outcome = self.ask(name, *words, "--json", "--limit", "1")
                self.assertEqual((outcome.status, outcome.talk), (0, ""))
                json.loads(outcome.text)
                self.assertNotIn("SECRET", outcome.text)

    def test_what_a_limit_leaves_out_is_counted(self):
        self.dump.write_bytes(TWOS)
        for name, *words in (("summary",), ("summary", "--by", "retained"), ("summary", "--of", "1"),
                             ("retained",), ("retained", "1"), ("parents", "4"), ("children", "2"),
                             ("show", "2"), ("all", "str"), ("path", "4"), ("suspects",),
                             ("strings",), ("diff", self.dump)):
            with self.subTest(command=name, words=words):
                cut = self.ask(name, *words, "--limit", "1").text
                self.assertRegex(cut, r"\[\d+ others\]")
                self.assertIn("others", self.ask(name, *words, "--limit", "1", "--json").text)
                whole = self.ask(name, *words, "--limit", "100").text
                self.assertNotIn("others]", whole)
                self.assertEqual(cut.splitlines()[0], whole.splitlines()[0])

    def test_a_small_file_that_opens_to_much_stops_at_max_size(self):
        small = self.folder / "small.gz"
        small.write_bytes(gzip.compress(DUMP * 10000))
        outcome = self.mapdiag("heap", "summary", small, "--max-size", "1M")
        self.assertEqual((outcome.status, outcome.text), (1, ""))
        self.assertIn("it opens to more than 1.00 MiB (1048576 bytes); give --max-size if that is "
                      "meant", outcome.talk)
        self.assertEqual(self.mapdiag("heap", "summary", small, "--max-size", "1G").status, 0)

    def test_a_damaged_index_is_made_anew(self):
        wanted = [self.ask(name, *words) for name, *words in COMMANDS]
        for index in sorted(self.folder.glob("app.dump.mapdiag-*")):
            sound = index.read_bytes()
            for at in (0, len(sound) // 3, len(sound) // 2):
                damaged = bytearray(sound)
                damaged[at:at + 3000] = bytes(len(damaged[at:at + 3000]))
                index.write_bytes(damaged)
                for (name, *words), answer in list(zip(COMMANDS, wanted))[::4]:
                    self.assertEqual(self.ask(name, *words), answer)

    def test_values_are_shown_when_asked_for(self):
        for name, *words in (("show", "2"), ("parents", "3"), ("strings",), ("all", "str")):
            outcome = self.ask(name, *words, "--show-values")
            self.assertIn("'SECRETVALUE'", outcome.text)

    def test_exact_answers(self):
        self.assertEqual(self.ask("show", "2").text,
                         "list(2 100B 2refs 1par)\nrefers to:\n  str(3 60B 1par len 11)\n"
                         "  str(4 60B 1par len 11)\n")
        self.assertEqual(self.ask("parents", "2").text,
                         "parents of list(2 100B 2refs 1par): 1 object, 50 bytes (50 B)\n"
                         "module(1 50B 1refs 'app')\n")
        self.assertEqual(self.ask("all", "str", "--limit", "1").text,
                         "all str: 2 objects, 120 bytes (120 B)\nstr(3 60B 1par len 11)\n"
                         "[1 others] 60 bytes (60 B)\n")

    def test_wrong_use(self):
        for words in (("summary",), ("show", "app.dump"), ("show", "app.dump", "x"),
                      ("summary", "app.dump", "--by", "colour"),
                      ("summary", "app.dump", "--of", "zero"),
                      ("summary", "app.dump", "--excluding", "str"),
                      ("summary", "app.dump", "--max-size", "0"), ("no-such",), ()):
            with self.subTest(words=words):
                outcome = self.mapdiag("heap", *words)
                self.assertEqual((outcome.status, outcome.text), (2, ""))

    def test_what_is_not_there_is_status_1_and_said(self):
        self.dump.write_bytes(DUMP + b'{"address": 9, "type": "t", "size": 1, "refs": [99]}\n')
        for words, said in ((("show", "7"), "has no object there"),
                            (("show", "99"), "only references from 1 object"),
                            (("all", "nope"), "has no object of it"),
                            (("summary", "--excluding", "type:nope"), "has no object of it")):
            outcome = self.ask(words[0], *words[1:])
            self.assertEqual((outcome.status, outcome.text), (1, ""))
            self.assertIn(said, outcome.talk)
        self.assertEqual(self.mapdiag("heap", "summary", "none.dump").status, 1)

    def test_flaws_are_said_again_when_the_answer_comes_from_the_index(self):
        self.dump.write_bytes(DUMP + b'{"address": oops\n{"addr')
        for _ in range(2):
            outcome = self.ask("summary")
            self.assertEqual(outcome.status, 0)
            self.assertIn("warning: " + str(self.dump) + ": 1 line is not usable and left out: "
                          "line 5 (the address is not a number from 0 to 2^64-1)", outcome.talk)
            self.assertIn("the dump is cut within line 6", outcome.talk)

    def test_a_full_disk_is_a_failure(self):
        with open("/dev/full", "wb") as full:
            outcome = self.ask("summary", stdout=full)
        self.assertEqual(outcome.status, 1)
        self.assertIn("can't write the result to stdout: No space left on device", outcome.talk)

    def test_diff(self):
        new = self.folder / "new.dump"
        new.write_bytes(b"".join(DUMP.splitlines(True)[:3]))
        outcome = self.mapdiag("heap", "diff", self.dump, new)
        self.assertEqual((outcome.status, outcome.talk), (0, ""))
        self.assertRegex(outcome.text, r"(?m)^ +-1 +1 +-60 +60 +-60 +60 str$")
        json.loads(self.mapdiag("heap", "diff", self.dump, new, "--json").text)

    def test_convert(self):
        for name in ("out.dump", "out.gz", "out.zst"):
            outcome = self.mapdiag("heap", "convert", self.dump, "-o", name)
            self.assertEqual(outcome, (0, f"{name}: 4 objects, 3 references\n".encode(), b""))
            self.assertEqual((self.folder / name).stat().st_mode & 0o777, 0o600)
            self.assertEqual(self.mapdiag("heap", "summary", name).text, self.ask("summary").text)
        self.assertEqual((self.folder / "out.dump").read_bytes(), DUMP)
        outcome = self.mapdiag("heap", "convert", self.dump, "-o", "out.db", "--to", "sqlite")
        self.assertEqual(outcome.status, 0)
        self.assertNotIn(b"SECRET", (self.folder / "out.db").read_bytes())
        self.assertEqual(self.mapdiag("heap", "convert", self.dump, "-o", "none/x").status, 1)
        self.assertEqual(self.mapdiag("heap", "convert", self.dump).status, 2)

    def shell(self, *lines):
        process = self.start(self.mapdiag_path, "heap", "shell", self.dump, stdin=subprocess.PIPE)
        out, err = process.communicate("\n".join(lines).encode() + b"\n", timeout=60)
        self.assertEqual(process.returncode, 0)
        return out.decode(), err.decode()

    def test_shell_walks_and_answers(self):
        out, err = self.shell("all str", "[1]", "p 0", "p", "..", "..", "", "retained 2", "quit",
                              "never reached")
        self.assertEqual(err, "")
        lines = out.splitlines()
        self.assertEqual(lines[0], "all str: 2 objects, 120 bytes (120 B)")
        self.assertEqual(lines[3], "str(4 60B 1par len 11)")
        self.assertEqual(lines[4], "list(2 100B 2refs 1par)")
        self.assertEqual(lines[8], "parents of list(2 100B 2refs 1par): 1 object, 50 bytes (50 B)")
        self.assertIn("retains 220 bytes", out)
        self.assertNotIn("SECRET", out)

    def test_shell_settings_and_mistakes(self):
        out, err = self.shell("values on", "0x3", "json on", "size", "json off", "limit 1",
                              "summary by count", "c 2", "summary . excluding type:str",
                              "p", "[7]", "nonsense", "limit many", "values maybe", "show zero",
                              "summary by colour", "summary excluding str", "summary x", "help")
        self.assertIn("'SECRETVALUE'", out)
        self.assertIn('"reach_size": 60', out)
        self.assertIn("[2 others]", out)
        for said in ("[7]: the list last shown has 1 objects",
                     'can\'t do "nonsense": not a question that the shell knows; try help',
                     "can't do limit: give a number of rows", "can't do values: say on or off",
                     'can\'t do "zero": an address is a decimal number',
                     "the order is size, count or retained",
                     "give an address, or type: and a type's name",
                     'can\'t do "x": summary does not know it'):
            self.assertIn(said, err)
        self.assertIn("shortest ways from a root", out)
        out, err = self.shell("p", "show")
        self.assertEqual(err.count("you are at no object: give an address first"), 2)

    def test_shell_on_a_terminal_edits_lines_and_prompts(self):
        leader, follower = pty.openpty()
        process = self.start(self.mapdiag_path, "heap", "shell", self.dump, stdin=follower,
                             stdout=follower, stderr=follower, env={"TERM": "xterm"})
        os.close(follower)
        os.write(leader, b"shoq\x08w 2\nquit\n")
        seen = b""
        while process.poll() is None or b"refers to" not in seen:
            try:
                seen += os.read(leader, 4096)
            except OSError:
                break
        os.close(leader)
        self.assertEqual(process.wait(60), 0)
        self.assertIn(b"heap> ", seen)
        self.assertIn(b"list(2 100B 2refs 1par)", seen)

    def test_the_session_of_the_documentation(self):
        text = (DATA.parents[2] / "docs" / "heap.md").read_text(encoding="utf-8")
        section = text[text.index("## A session"):text.index("## What retained means")]
        (self.folder / "session.dump").write_bytes((DATA / "session.dump").read_bytes())
        asked = 0
        for block in re.findall(r"(?ms)^```\n(.*?)^```$", section):
            for command, shown in re.findall(r"(?ms)^\$ mapdiag (.*?)\n(.*?)(?=\n?^>>>|\Z)", block):
                with self.subTest(command=command):
                    lines = re.findall(r"(?m)^\S.*?> (.*)$", shown) if "shell" in command else []
                    outcome = self.run_command(self.mapdiag_path, *command.split(),
                                               stdin=self.file_of("".join(f"{line}\n" for line in lines)))
                    self.assertEqual((outcome.status, outcome.talk), (0, ""))
                    # What was typed is not in the output: there is no terminal.
                    wanted = "".join(line for line in shown.splitlines(True)
                                     if not (lines and re.match(r"\S.*?> ", line)))
                    self.assertEqual(outcome.text, wanted)
                    asked += 1
        self.assertEqual(asked, 12)

    def file_of(self, text):
        """An open file with this text, to be read."""
        path = self.folder / "input"
        path.write_text(text, encoding="utf-8")
        file = open(path, "rb")
        self.addCleanup(file.close)
        return file

    def test_samples(self):
        outcome = self.mapdiag("heap", "summary", DATA / "known-py3.8.dump.gz", "--no-index", "--raw")
        self.assertEqual(outcome.text.splitlines()[0],
                         "Total 26283 objects, 101 types, Total size = 3.2MiB (3324882 bytes)")
