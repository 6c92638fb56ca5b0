"""The bench of the laboratory: stages one scenario and asks mapdiag what it was.

A scenario is a name, what mapdiag has to say of it, and a function that stages it on a Bench. What is
expected are ids of causes (docs/diagnosis.md); more than one where the table may only answer "can't
tell" or the counters of a shared machine decide; never one that would be wrong.
"""

import json
import os
import pathlib
import signal
import subprocess
import typing

from cgroups import ALL_PLACEMENTS, MIB, PLAIN, V1_ROOT, V2_ROOT, V2_USER
from harness import MapdiagTest, SLOW_MACHINE

OWN, TREE = "own", "tree"
GROUPS = (V1_ROOT, V2_ROOT, V2_USER)
ROOT = (V1_ROOT, V2_ROOT)
V2 = (V2_ROOT, V2_USER)


class Scenario(typing.NamedTuple):
    name: str
    stage: typing.Callable  # of a Bench; gives nothing
    own: tuple  # ids that are right where the job has a group of its own; empty: not staged there
    tree: tuple  # the same for the process tree
    advice: tuple  # ids of advice and warnings that must be among the findings, "!id" must not
    placements: tuple
    light: bool  # quick enough for a guest that is 10 to 15 times slower


SCENARIOS = []


def ids(words):
    return (words,) if isinstance(words, str) else tuple(words or ())


def scenario(name, own=None, tree=None, advice=(), placements=ALL_PLACEMENTS, light=True):
    """Decorator: registers the function as a scenario. Without `tree` it is the same there."""

    def register(stage):
        SCENARIOS.append(Scenario(name, stage, ids(own), ids(own if tree is None else tree),
                                  ids(advice), placements, light))
        return stage

    return register


class Bench(MapdiagTest):
    """One scenario at one placement, as a test that run.py makes."""

    scenario: Scenario = None
    kind = OWN
    said = "nothing"
    must_name = None  # what the cause's text must hold where the job has a group of its own

    def runTest(self):
        self.own_group()  # the first of this staging's groups: where its programs are by default
        self.scenario.stage(self)
        findings = self.findings()
        causes = [f for f in findings if f["kind"] == "cause"]
        self.assertEqual(len(causes), 1, findings)
        self.said = causes[0]["id"]
        expected = self.scenario.own if self.kind == OWN else self.scenario.tree
        self.assertIn(self.said, expected, causes[0]["text"])
        if self.must_name and self.kind == OWN:
            self.assertIn(self.must_name, causes[0]["text"])
        self._check_advice({f["id"] for f in findings})
        for finding in findings:
            self.assertTrue(finding["proofs"], finding)

    def _check_advice(self, found):
        for wanted in self.scenario.advice if self.kind == OWN else ():
            if wanted.startswith("!"):
                self.assertNotIn(wanted[1:], found)
            else:
                self.assertIn(wanted, found)

    # For the scenarios ---------------------------------------------------------------------------

    def words(self, *options, profiler=False):
        """mapdiag run with its options, ready for a command behind it."""
        place = ["--placement", "tree"] if self.kind == TREE else []
        none = [] if profiler else ["--profiler", "none"]
        return [self.mapdiag_path, "run", "--profile", "--entity", "E", "--quiet", *none, *place,
                *options, "--"]

    def job(self, *command, options=(), **how):
        """Runs the command under mapdiag to its end."""
        profiler = how.pop("profiler", False)
        return self.run_command(*self.words(*options, profiler=profiler), *command, **how)

    def shell(self, script, *words, options=(), **how):
        return self.job("sh", "-c", script, "sh", *words, options=options, **how)

    def begin(self, *command, options=(), **how):
        """Starts it and waits until the job itself has written a line."""
        process = self.start(*self.words(*options), *command, **how)
        self.read_line(process)
        return process

    def in_background(self, group, *command):
        """A neighbour in that group; waits for its first line."""
        process = self.start(*command, group=group)
        self.read_line(process)
        return process

    def nested(self, *mibs):
        """Groups one in the other, each with a limit in MiB; gives them all, the highest first."""
        groups = [self.base.new_group()]
        self._groups.append(groups[0])
        for number in range(1, len(mibs)):
            if self.base.version == 2:
                self.hand_down(groups[-1])
            groups.append(self.inside(groups[-1], f"n{number}"))
        for group, mib in zip(groups, mibs):
            group.limit(mib)
        return groups

    def inside(self, group, name):
        """A further group in that one."""
        made = self.base.new_group_in(group, name)
        self._groups.append(made)
        return made

    def hand_down(self, *groups):
        """v2: groups below may have a memory limit; these then can't have processes."""
        for group in groups:
            (group.path / "cgroup.subtree_control").write_text("+memory")

    def as_root(self):
        return os.geteuid() == 0

    def machine_mib(self):
        for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemTotal:"):
                return int(line.split()[1]) // 1024
        raise RuntimeError("no MemTotal")

    def stuck_samples(self):
        return sum(1 for line in self.journal() if line.get("under_oom"))

    def end_marked(self):
        """Ends what a shell that got a signal left behind."""
        for pid in self.marked_processes():
            os.kill(pid, signal.SIGKILL)

    def the_job(self, program):
        """The pid of the job that runs that program of the tests (hog, probe)."""

        def find():
            for pid in self.marked_processes():
                try:
                    if os.readlink(f"/proc/{pid}/exe") == os.fspath(program):
                        return pid
                except OSError:
                    pass
            return None

        return self.wait_until("the job", find)

    def journal(self):
        """The whole lines so far; none where there is no journal yet."""
        path = self.folder / "logs" / "E.diag.jsonl"
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        return [json.loads(line) for line in lines if line.strip() and line.endswith("\n")]

    def findings(self):
        report = self.run_command(self.mapdiag_path, "report", "logs", "--json")
        (run,) = json.loads(report.out)["runs"]
        return run["findings"]
