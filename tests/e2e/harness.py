"""What every end-to-end test builds on: it runs the real mapdiag and checks what it leaves behind.

A test is a method of a MapdiagTest. Without a word it runs in every placement (see cgroups.py);
@placements(...) above the method or the class names the only ones that it makes sense in.
"""

import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import typing
import unittest

import cgroups
from cgroups import ALL_PLACEMENTS

# A v2 guest without hardware virtualisation is 10 to 15 times slower than the machine it runs on.
PATIENCE = float(os.environ.get("MAPDIAG_E2E_PATIENCE", "60"))
SLOW_MACHINE = PATIENCE > 120

# Every process that a test starts carries it in its environment, with the test's folder as value.
MARK = "E2E_TEST"


def placements(*names):
    """Decorator: the test, or every test of the class, runs in these placements only."""
    unknown = set(names) - set(ALL_PLACEMENTS)
    if unknown:
        raise ValueError(f"no such placement: {unknown}")

    def mark(test):
        test.placements = names
        return test

    return mark


def not_for_slow_machines(test):
    """Decorator: too heavy for a guest without hardware virtualisation; run.py leaves it out."""
    test.is_heavy = True
    return test


def is_meant_for(test, placement):
    """Whether a loaded test is to be run here."""
    heavy = getattr(getattr(test, test._testMethodName), "is_heavy", False)
    return placement in placements_of(test) and not (heavy and SLOW_MACHINE)


def rounds(count):
    """How often to try something at random moments: `count`, less where all is slow."""
    return max(3, count // 8) if SLOW_MACHINE else count


def placements_of(test):
    """The placements that a loaded test names, or all of them."""
    method = getattr(test, test._testMethodName)
    return getattr(method, "placements", getattr(type(test), "placements", ALL_PLACEMENTS))

# A run without a profiler.
RUN = ["run", "--profile", "--profiler", "none"]
# The same, whose stderr is the job's alone.
ON = [*RUN, "--entity", "E", "--quiet"]


def command_of(pid):
    """The command line of a process, for a message."""
    try:
        return pathlib.Path("/proc", str(pid), "cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return "(gone)"


class Outcome(typing.NamedTuple):
    """How a program ended. A status below 0 is the number of the signal that ended it."""

    status: int
    out: bytes
    err: bytes

    @property
    def text(self):
        return self.out.decode(errors="replace")

    @property
    def talk(self):
        return self.err.decode(errors="replace")


class MapdiagTest(unittest.TestCase):
    """Gives each test an empty current folder, a group of its own, and the leak check after it."""

    # Set by run.py before any test starts.
    base: cgroups.Base = None
    placement = None
    mapdiag_path = None
    hog_path = None
    probe_path = None

    maxDiff = 4000

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="mapdiag-e2e."))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self._started = []
        self._groups = []
        # Registered last, so that it runs before the folder goes.
        self.addCleanup(self._check_leaks)
        self.addCleanup(self._end_started)

    # What a test calls -------------------------------------------------------------------------

    def mapdiag(self, *args, timeout=None, **how):
        """Runs mapdiag to its end and gives its Outcome. `how` as for start()."""
        return self.finish(self.start(self.mapdiag_path, *args, **how), timeout)

    def run_command(self, *command, timeout=None, **how):
        """The same for any program: what mapdiag is compared with."""
        return self.finish(self.start(*command, **how), timeout)

    def start(self, *command, env=None, group=None, stdin=subprocess.DEVNULL, **popen):
        """Starts a program in the test's folder and gives its Popen.

        env: variables to set (None removes one); MAPDIAG_*, DM_* of the outside never reach a test.
        group: a cgroups.Group to start it in; else the test's own one, where groups can be made.
        """
        group = group or self.own_group()
        popen.setdefault("stdout", subprocess.PIPE)
        popen.setdefault("stderr", subprocess.PIPE)
        process = subprocess.Popen(
            [os.fspath(word) for word in command], cwd=popen.pop("cwd", self.folder), stdin=stdin,
            bufsize=0, env=self.environment(env), preexec_fn=group.enter if group else None, **popen)
        self._started.append(process)
        return process

    def read_line(self, process):
        """The next line of a started program's stdout, with its end; b"" at the end of output."""
        line, end = b"", time.monotonic() + PATIENCE
        while not line.endswith(b"\n"):
            if not select.select([process.stdout], [], [], max(0, end - time.monotonic()))[0]:
                self.fail(f"no line came in {PATIENCE:g} s, only {line!r}: {process.args}")
            # One byte at a time: what follows the line stays for whoever reads next.
            byte = os.read(process.stdout.fileno(), 1)
            if not byte:
                break
            line += byte
        return line

    def finish(self, process, timeout=None):
        """Waits for a started program; the test fails where it takes longer than `timeout`."""
        try:
            out, err = process.communicate(timeout=timeout or PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            self.fail(f"still running after {timeout or PATIENCE:g} s: {process.args}\n"
                      f"its stderr: {(err or b'').decode(errors='replace')}")
        return Outcome(process.returncode, out or b"", err or b"")

    def own_group(self):
        """The group that this test's programs run in; None where none can be made."""
        if self.base.version == 0:
            return None
        if not self._groups:
            self._groups.append(self.base.new_group())
        return self._groups[0]

    def limited_group(self, mib):
        """A further group with a memory limit, to be given to start() and mapdiag()."""
        group = self.base.new_group()
        group.limit(mib)
        self._groups.append(group)
        return group

    def inner_group(self, outer, mib=None):
        """A group below a group of the test's, which then holds no process itself; with a limit."""
        group = outer.make_below(f"inner{len(self._groups)}")
        self._groups.append(group)
        if mib:
            group.limit(mib)
        return group

    def hog(self, mib, hold=0.0, children=0, status=0, how="own"):
        """The command of a program that touches `mib` MiB, see hog.c."""
        return [self.hog_path, *map(str, (mib, hold, children, status, how))]

    def probe(self, *words):
        """The command of a job that tells what reaches it, see probe.c."""
        return [self.probe_path, *map(str, words)]

    def log(self, entity="E"):
        """The bytes of an entity's log."""
        return (self.folder / "logs" / f"{entity}.log").read_bytes()

    def diag(self, entity="E"):
        """The diag lines in an entity's log, without their prefix."""
        prefix = f"[diag {entity}] ".encode()
        return [line[len(prefix):].decode(errors="replace")
                for line in self.log(entity).splitlines() if line.startswith(prefix)]

    def journal(self, kind, entity="E"):
        """The lines of that type in an entity's journal; a last line that is not whole is left out."""
        text = (self.folder / "logs" / f"{entity}.diag.jsonl").read_text()
        lines = [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]
        return [line for line in lines if line["type"] == kind]

    def marked_processes(self):
        """The process ids of everything that this test started and that still runs."""
        found = []
        mark = f"{MARK}={self.folder}".encode()
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                environment = pathlib.Path("/proc", entry, "environ").read_bytes()
            except OSError:
                continue  # gone, or not ours
            if mark in environment.split(b"\0"):
                found.append(int(entry))
        return found

    def probes(self):
        """The process ids of this test's `probe` jobs."""
        found = []
        for pid in self.marked_processes():
            try:
                if os.readlink(f"/proc/{pid}/exe") == os.fspath(self.probe_path):
                    found.append(pid)
            except OSError:
                pass
        return found

    def wait_until(self, what, condition):
        """Waits for an event: fails with `what` where condition() is never true."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            value = condition()
            if value:
                return value
            time.sleep(0.005)
        self.fail(f"waited {PATIENCE:g} s for: {what}")

    def environment(self, changes=None):
        """The environment of a test's programs."""
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("MAPDIAG_", "DM_"))}
        env["HOME"] = str(self.folder)
        env[MARK] = str(self.folder)
        for name, value in (changes or {}).items():
            if value is None:
                env.pop(name, None)
            else:
                env[name] = value
        return env

    # What is true after every test -------------------------------------------------------------

    def _end_started(self):
        for process in self._started:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    stream.close()

    def _leaks(self):
        found = self.base.leaks(self._groups)
        return found or [f"process left behind: {pid} {command_of(pid)}"
                         for pid in self.marked_processes()]

    def _check_leaks(self):
        # What mapdiag tidies up after its own death takes a moment.
        end = time.monotonic() + min(PATIENCE, 10)
        leaks = self._leaks()
        while leaks and time.monotonic() < end:
            time.sleep(0.02)
            leaks = self._leaks()
        self.base.clear()
        for pid in self.marked_processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        self.assertEqual(leaks, [], "something stayed after the test")


if __name__ == "__main__":
    sys.exit("run the tests with run.py")
