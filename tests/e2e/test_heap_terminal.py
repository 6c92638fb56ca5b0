"""mapdiag heap on a terminal: progress, line editing, history."""

import os
import re
import signal
import time
import zlib

from cgroups import PLAIN, V1_ROOT
from harness import PATIENCE, MapdiagTest, placements
from terminal import Terminal

DUMP = b"""{"address": 1, "type": "module", "size": 50, "name": "app", "refs": [2]}
{"address": 2, "type": "list", "size": 100, "len": 2, "refs": [3, 4]}
{"address": 3, "type": "str", "size": 60, "len": 11, "value": "SECRETVALUE", "refs": []}
{"address": 4, "type": "int", "size": 28, "value": 7, "refs": []}
"""

UP, DOWN, LEFT, BACKSPACE, START_OF_LINE = "\x1b[A", "\x1b[B", "\x1b[D", "\x7f", "\x01"
END_OF_INPUT = "\x04"


@placements(PLAIN, V1_ROOT)
class HeapOnATerminal(MapdiagTest):
    def setUp(self):
        super().setUp()
        self.dump = self.folder / "app.dump"
        self.dump.write_bytes(DUMP)

    def terminal(self, *words):
        environment = self.environment({"TERM": "xterm"})
        terminal = Terminal([self.mapdiag_path, "heap", *words], self.folder, environment,
                            self.own_group(), PATIENCE)
        self.addCleanup(terminal.close)
        return terminal

    def test_walking_with_p_c_and_back(self):
        shell = self.terminal("shell", self.dump)
        shell.expect("heap> ")
        shell.type("2\r")
        shell.expect("list(2 100B 2refs 1par)\r\n")
        shell.expect("list(2 100B 2refs 1par)> ")
        shell.type("c\r")
        shell.expect("children of list(2 100B 2refs 1par): 2 objects, 88 bytes (88 B)\r\n"
                     "str(3 60B 1par len 11)\r\nint(4 28B 1par)\r\n")
        shell.type("c 1\r")
        shell.expect("int(4 28B 1par)> ")
        shell.type("p\r")
        shell.expect("parents of int(4 28B 1par): 1 object, 100 bytes (100 B)\r\n")
        shell.type("p 0\r")
        shell.expect("list(2 100B 2refs 1par)> ")
        shell.type("..\r")
        shell.expect("int(4 28B 1par)> ")
        shell.type("..\r")
        shell.expect("list(2 100B 2refs 1par)> ")
        shell.type("..\r")
        shell.expect("heap> ")
        shell.type(END_OF_INPUT)
        self.assertEqual(shell.wait(), 0)

    def test_lines_are_edited_and_remembered(self):
        shell = self.terminal("shell", self.dump)
        shell.expect("heap> ")
        shell.type("size 33" + BACKSPACE + "\r")
        shell.expect("str(3 60B 1par len 11 60.0Btot)")
        shell.expect("heap> ")
        shell.type("ize 4" + START_OF_LINE + "s\r")
        shell.expect("int(4 28B 1par 28.0Btot)")
        shell.expect("heap> ")
        shell.type(UP + UP + "\r")
        shell.expect("str(3 60B 1par len 11 60.0Btot)")
        shell.expect("heap> ")
        shell.type(UP + UP + DOWN + "\r")
        shell.expect("str(3 60B 1par len 11 60.0Btot)")
        shell.expect("heap> ")
        shell.type("nonsense\r")
        shell.expect("not a question that the shell knows; try help")
        shell.type("quit\r")
        self.assertEqual(shell.wait(), 0)

    def slow(self, *words):
        """Starts a command on a large dump, holds it up for over a second while it reads, and gives
        everything that came on its terminal."""
        big = self.folder / "big.dump.gz"
        packer = zlib.compressobj(1, zlib.DEFLATED, 31)
        member = packer.compress(DUMP * 20000) + packer.flush()
        big.write_bytes(member * 30)
        terminal = self.terminal(*words, big, "--no-index")
        # From when on it has the dump in its hands, reading is under way and takes a while.
        self.wait_until("the dump is mapped", lambda: self.has_mapped(terminal.pid, big))
        os.kill(terminal.pid, signal.SIGSTOP)
        time.sleep(1.2)  # what is tested is that a second has passed
        os.kill(terminal.pid, signal.SIGCONT)
        seen = terminal.expect("Total ")
        self.assertEqual(terminal.wait(), 0)
        return seen

    @staticmethod
    def has_mapped(pid, path):
        with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
            return path.name in maps.read()

    def test_progress_is_shown_after_a_second_and_wiped(self):
        seen = self.slow("summary")
        self.assertRegex(seen, r"\r\x1b\[Kmapdiag: (reading|resolving references|merging instance "
                               r"dicts|collecting referrers|working out the answer)")
        # Nothing of it is left when the answer comes.
        self.assertRegex(seen, re.compile(r"\r\x1b\[KTotal $"))

    def test_nothing_is_shown_of_what_is_quick(self):
        terminal = self.terminal("summary", self.dump)
        seen = terminal.expect("Total ")
        self.assertEqual(terminal.wait(), 0)
        self.assertEqual(seen, "Total ")
