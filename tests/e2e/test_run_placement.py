"""Places where the job can have no cgroup of its own: the next best figure, and why it is that one."""

import re
import shlex

from cgroups import PLAIN, V1_ROOT, V2_ROOT
from harness import ON, MapdiagTest, placements

MIB = 1 << 20


class Shared(MapdiagTest):
    """The cgroup that the job shares with others: an upper bound, said so."""

    def read_only(self, *command):
        """The command where the tree that controls memory is mounted read-only, as in a container."""
        words = " ".join(shlex.quote(str(word)) for word in command)
        mount = self.base.hierarchy.mount
        return self.run_command("unshare", "--mount", "sh", "-c",
                                f"mount -o remount,bind,ro {mount} && exec {words}")

    def peak_line(self, entity="E"):
        return next(line for line in self.diag(entity) if line.startswith("memory: peak "))

    @placements(V1_ROOT, V2_ROOT)
    def test_a_read_only_tree_bounds_the_job_from_above(self):
        outcome = self.read_only(self.mapdiag_path, *ON, *self.hog(60, hold=0.3))
        self.assertEqual(outcome.status, 0, outcome)
        found = re.match(r"memory: peak at most ([0-9.]+) MiB, shared cgroup, an upper bound, since "
                         r"others are in it: memory\.\w+ of /\S+, which rose during the run$",
                         self.peak_line())
        self.assertTrue(found, self.diag())
        self.assertGreaterEqual(float(found.group(1)), 60)
        reasons = [line for line in self.diag() if "could not be had" in line]
        self.assertEqual(len(reasons), 1, reasons)
        self.assertIn("the cgroup tree is mounted read-only", reasons[0])

    @placements(V1_ROOT, V2_ROOT)
    def test_a_peak_of_others_is_not_the_jobs(self):
        self.run_command(*self.hog(200))
        outcome = self.read_only(self.mapdiag_path, *ON, *self.hog(60, hold=0.3))
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("process tree, sampled every", self.peak_line())
        reasons = [line for line in self.diag() if line.startswith("memory: shared cgroup could")]
        self.assertEqual(len(reasons), 1, self.diag())
        self.assertIn("may be from before the run", reasons[0])

    @placements(V1_ROOT, V2_ROOT)
    def test_asked_for_it_is_had_and_leaves_the_group_as_it_was(self):
        self.run_command(*self.hog(50))
        name = "memory.max_usage_in_bytes" if self.base.version == 1 else "memory.peak"
        file = self.own_group().path / name
        before = int(file.read_text())
        outcome = self.mapdiag(*ON, "--placement", "shared", *self.hog(20, status=7))
        self.assertEqual(outcome.status, 7, outcome)
        self.assertRegex(self.peak_line(), r"^memory: peak at most [0-9.]+ MiB, shared cgroup, ")
        # Nobody else's count was begun anew.
        self.assertGreaterEqual(int(file.read_text()), before)

    @placements(PLAIN)
    def test_asked_for_where_it_cannot_be_had_nothing_runs(self):
        for name in ("v2", "v1", "shared"):
            outcome = self.mapdiag(*ON, "--placement", name, "touch", self.folder / "ran")
            self.assertEqual(outcome.status, 125, outcome)
            self.assertEqual(len(outcome.talk.splitlines()), 1, outcome)
            self.assertFalse((self.folder / "ran").exists())
