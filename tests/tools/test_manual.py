"""The man page and the completions, which are made from the option table."""

import pathlib
import re

from harness import MapdiagTest


class Manual(MapdiagTest):
    def setUp(self):
        super().setUp()
        # build/X/src/cli/mapdiag has its manual in build/X/manual.
        self.manual = pathlib.Path(self.mapdiag_path).parents[2] / "manual"

    def helps(self):
        """The help of the program and of every command: {"": text, "run": text, ...}."""
        found, todo = {}, [()]
        while todo:
            path = todo.pop()
            found[" ".join(path)] = text = self.mapdiag(*path, "--help").text
            listed = re.split(r"(?im)^subcommands:\n", text)
            for name in re.findall(r"(?m)^  ([a-z][a-z-]*)\b", listed[1]) if listed[1:] else []:
                todo.append((*path, name))
        self.assertIn("run", found)
        return found

    @staticmethod
    def options_in(text):
        return set(re.findall(r"(?m)^ +(?:-\w,)?(--[a-z][a-z-]*)", text))

    def rendered(self):
        outcome = self.run_command("groff", "-man", "-Tascii", "-P-cbou", self.manual / "mapdiag.1")
        self.assertEqual(outcome.status, 0)
        return outcome.text

    def test_man_page_has_no_warning(self):
        outcome = self.run_command("groff", "-man", "-ww", "-z", self.manual / "mapdiag.1")
        self.assertEqual((outcome.status, outcome.talk), (0, ""))

    def test_man_shows_it(self):
        outcome = self.run_command("man", "--warnings", "-l", self.manual / "mapdiag.1",
                                   env={"MANPAGER": "cat", "MANWIDTH": "100"})
        self.assertEqual((outcome.status, outcome.talk), (0, ""))
        self.assertIn("EXIT STATUS", outcome.text)

    def test_every_command_and_option_of_help_is_in_the_man_page(self):
        page = self.rendered()
        for command, text in self.helps().items():
            with self.subTest(command=command):
                self.assertIn(f"mapdiag {command}".strip(), page)
                options = self.options_in(text)
                self.assertIn("--help", options)
                self.assertEqual({o for o in options if o not in page}, set())

    def complete(self, *words):
        """What bash offers after these words, the last of them unfinished."""
        script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
                  '_mapdiag mapdiag; printf "%s\\n" "${COMPREPLY[@]}"')
        outcome = self.run_command("bash", "-c", script, "bash", self.manual / "mapdiag.bash",
                                   "mapdiag", *words)
        self.assertEqual((outcome.status, outcome.talk), (0, ""))
        return outcome.text.split()

    def test_bash_completes_commands(self):
        self.assertIn("run", self.complete(""))
        self.assertEqual(self.complete("ru"), ["run"])

    def test_bash_completes_every_option_of_every_command(self):
        for command, text in self.helps().items():
            with self.subTest(command=command):
                self.assertLessEqual(self.options_in(text), set(self.complete(*command.split(), "-")))

    def test_bash_completes_folders_and_the_other_programs_name(self):
        (self.folder / "logs-here").mkdir()
        (self.folder / "logs-file").touch()
        self.assertEqual(self.complete("run", "--log-dir", "logs-"), ["logs-here"])
        self.assertEqual(self.complete("run", "--log-dir", "=", "logs-"), ["logs-here"])
        self.assertIn("bash", self.complete("run", "bas"))
        self.assertIn("bash", self.complete("run", "--quiet", "--", "bas"))
        # Past the program's name it is the other program's command line.
        self.assertEqual(self.complete("run", "ls", "--qui"), [])

    def test_zsh_reads_the_completion(self):
        outcome = self.run_command("zsh", "-n", self.manual / "_mapdiag")
        self.assertEqual((outcome.status, outcome.talk), (0, ""))

    def test_zsh_takes_it_for_mapdiag(self):
        script = ('autoload -U compinit; compinit -D -u; source "$1"; '
                  'print -r -- $_comps[mapdiag] ${(M)${(k)functions}:#_mapdiag*}')
        outcome = self.run_command("zsh", "-f", "-c", script, "zsh", self.manual / "_mapdiag")
        self.assertEqual((outcome.status, outcome.talk), (0, ""))
        names = outcome.text.split()
        self.assertEqual(names[0], "_mapdiag")
        self.assertIn("_mapdiag_run", names)
