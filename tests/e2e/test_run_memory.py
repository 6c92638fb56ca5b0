"""What `mapdiag run` says of a job's memory is what the job really touched, and whose limit it hit."""

import os
import pathlib
import re
import signal
import subprocess

from cgroups import MIB, PLAIN, V1_ROOT, V2_ROOT, V2_USER
from harness import RUN, MapdiagTest, placements

WITH_GROUPS = (V1_ROOT, V2_ROOT, V2_USER)
AS_ROOT = (V1_ROOT, V2_ROOT)

# A shell function that prints the folder of its own memory cgroup.
OWN_GROUP = r'''
own() {
  path=$(sed -n 's/^[0-9]*:\(.*,\)*memory\(,.*\)*:\(.*\)/\3/p' /proc/self/cgroup)
  if [ -n "$path" ]; then echo "/sys/fs/cgroup/memory$path"
  else echo "/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)"; fi
}
'''


class MemoryTest(MapdiagTest):
    def setUp(self):
        super().setUp()
        self.run_words = [self.mapdiag_path, *RUN, "--entity", "E"]

    def run_job(self, *job, status=0, **how):
        """Runs the job to its end; gives the diag lines, which also stood on stderr."""
        outcome = self.run_command(*self.run_words, "--", *job, **how)
        self.assertEqual(outcome.status, status, outcome)
        lines = self.diag()
        told = [line[len("[diag E] "):] for line in outcome.talk.splitlines()
                if line.startswith("[diag E] ")]
        self.assertEqual(told, lines)
        return lines

    def run_until_sampled(self, mib, *job, **how):
        """Runs a job that waits for the end of its stdin until a sample has shown `mib` MiB."""
        process = self.start(*self.run_words, "--", *job, stdin=subprocess.PIPE, **how)
        self.assertEqual(self.read_line(process), b"touched\n")
        self.wait_until(f"a sample of {mib} MiB", lambda: any(
            (sample["memory"] or 0) >= mib * MIB for sample in self.journal("sample")))
        process.stdin.close()
        process.stdin = None
        outcome = self.finish(process)
        self.assertEqual(outcome.status, 0, outcome)
        return self.diag()

    def end(self):
        (end,) = self.journal("end")
        return end

    def assert_bytes(self, found, mib):
        """Within 1 % or 2 MiB of what was touched."""
        self.assertIsNotNone(found)
        self.assertLessEqual(abs(found - mib * MIB), max(mib * MIB / 100, 2 * MIB),
                             f"{found / MIB:.2f} MiB, wanted {mib}")

    def assert_peak(self, mib):
        end = self.end()
        self.assert_bytes(end["peak"]["value"], mib)
        self.assertIn(f"cgroup memory.peak bytes: {end['peak']['value']}", self.diag())

    def the_line(self, start, lines):
        """The one line that begins so."""
        found = [line for line in lines if line.startswith(start)]
        self.assertEqual(len(found), 1, lines)
        return found[0]


@placements(*WITH_GROUPS)
class Peaks(MemoryTest):
    """The kernel's own account: nothing is missed, however short, and nothing counts twice."""

    def test_anonymous_memory(self):
        for mib in (0, 8, 64):
            with self.subTest(mib=mib):
                lines = self.run_job(*self.hog(mib))
                self.assert_peak(mib)
                self.assertRegex(self.the_line("memory: peak", lines),
                                 r"^memory: peak [0-9.]+ [KM]iB, own cgroup \(v[12]\): memory\.")

    def test_children_with_memory_of_their_own(self):
        self.run_job(*self.hog(12, children=4))
        self.assert_peak(60)

    def test_memory_that_processes_share(self):
        self.run_job(*self.hog(32, children=4, how="shared"))
        self.assert_peak(32)

    def test_memory_of_the_parent_that_children_read(self):
        self.run_job(*self.hog(32, children=4, how="read"))
        self.assert_peak(32)

    def test_memory_of_the_parent_that_children_write(self):
        self.run_job(*self.hog(10, children=4, how="write"))
        self.assert_peak(50)

    def test_a_child_that_is_gone_long_before_the_end(self):
        self.run_job("sh", "-c", '"$@" >/dev/null; exec sleep 0.05', "sh", *self.hog(48))
        self.assert_peak(48)

    def test_a_process_that_lost_its_parent(self):
        self.run_job("sh", "-c", '("$@" >out 2>&- &); until [ -s out ]; do sleep 0.01; done', "sh",
                     *self.hog(24))
        self.assert_peak(24)

    @placements(*AS_ROOT)
    def test_a_group_that_the_job_made(self):
        self.run_job("sh", "-c", OWN_GROUP + 'g=$(own); mkdir "$g/in"; '
                     """sh -c 'g=$1; shift; echo $$ >"$g/cgroup.procs"; exec "$@"' sh "$g/in" "$@" """,
                     "sh", *self.hog(20))
        self.assert_peak(20)

    def test_pages_of_a_written_file(self):
        lines = self.run_until_sampled(30, *self.hog(32, hold="-", how="file"))
        self.assert_peak(32)
        kind = self.run_command("stat", "-f", "-c", "%T", self.folder).text.strip()
        part = self.end()["peak_sample"]["value"]
        # What lies in a tmpfs can't be given back, so it counts as shared memory.
        self.assert_bytes(part["shmem" if kind == "tmpfs" else "file"], 32)
        self.assert_bytes(part["file" if kind == "tmpfs" else "shmem"], 0)
        self.assertRegex(self.the_line("memory: at the highest sample", lines),
                         r"shmem 3[0-9.]+ MiB" if kind == "tmpfs" else
                         r"file cache 3[0-9.]+ MiB \(the kernel can give most of it back\)")

    def test_the_split_of_the_highest_sample(self):
        lines = self.run_until_sampled(40, *self.hog(40, hold="-", children=1, how="shared"))
        part = self.end()["peak_sample"]["value"]
        self.assert_bytes(part["shmem"], 40)
        self.assert_bytes(part["anon"], 0)
        self.assertRegex(self.the_line("memory: at the highest sample", lines),
                         r"^memory: at the highest sample \(4[0-3][0-9.]* MiB after [0-9.]+ s\): "
                         r"anon .*, file cache .*, shmem 40[0-9.]* MiB, kernel ")

    def test_the_largest_process_is_one_process(self):
        # Larger than mapdiag itself, whose peak every process begins with.
        lines = self.run_job(*self.hog(40, children=3))
        self.assert_bytes(self.end()["largest_process"]["value"], 40)
        self.assertRegex(self.the_line("memory: largest process", lines), r"4[0-2][0-9.]* MiB resident")
        self.assert_peak(160)

    def test_what_fork_inherited_is_no_ones(self):
        """A process begins with the peak of the one that started it: mapdiag's own is no job's."""
        lines = self.run_job("/bin/true", "x")
        found = self.end()["largest_process"]
        if found["value"] is None:
            self.assertIn("inherits from mapdiag", self.the_line("memory: largest process", lines))
        else:
            self.assert_bytes(found["value"], 2)


class SampledPeaks(MemoryTest):
    """--placement tree: what /proc tells of the job's processes, and labelled so."""

    def setUp(self):
        super().setUp()
        self.run_words += ["--placement", "tree"]

    def assert_sampled(self, mib, lines):
        self.assert_bytes(self.end()["peak"]["value"], mib)
        self.assertEqual(self.the_line("cgroup memory.peak bytes", lines),
                         "cgroup memory.peak bytes: n/a (the job had no cgroup of its own)")
        self.assertRegex(self.the_line("memory: peak", lines),
                         r"^memory: peak at least [0-9.]+ MiB, process tree, sampled every [0-9.]+ (ms|s): ")

    def test_one_process(self):
        self.assert_sampled(32, self.run_until_sampled(30, *self.hog(32, hold="-")))

    def test_children(self):
        self.assert_sampled(50, self.run_until_sampled(48, *self.hog(10, hold="-", children=4)))

    def test_shared_pages_count_once(self):
        """The resident sets add up to five times as much, and no sample hides that."""
        lines = self.run_until_sampled(120, *self.hog(24, hold="-", children=4, how="read"))
        self.assert_sampled(24, lines)
        self.assertIn("proportional", self.the_line("memory: peak", lines))

    @placements(PLAIN)
    def test_it_is_what_is_left_where_no_group_can_be_made(self):
        self.run_words = self.run_words[:-2]
        lines = self.run_until_sampled(30, *self.hog(32, hold="-"))
        self.assert_sampled(32, lines)
        self.assertTrue([line for line in lines if "could not be had: " in line], lines)


@placements(*WITH_GROUPS)
class Limits(MemoryTest):
    """The job's own group carries the smallest limit found on the way up."""

    def seen_inside(self, group, *files):
        script = OWN_GROUP + 'g=$(own); for f in "$@"; do cat "$g/$f"; done'
        outcome = self.run_command(*self.run_words, "--quiet", "--", "sh", "-c", script, "sh", *files,
                                   group=group)
        self.assertEqual(outcome.status, 0, outcome)
        return outcome.text.split()

    def limit_file(self, group):
        return "memory.limit_in_bytes" if group.version == 1 else "memory.max"

    def assert_limit(self, mib, owner):
        found = self.end()["limit"]["value"]
        self.assertEqual(found, {"bytes": mib * MIB, "owner": str(owner.path), "carried": True})
        self.assertEqual(
            self.the_line("memory: limit", self.diag()),
            f"memory: limit: {mib}.0 MiB ({mib * MIB} bytes), set by {owner.path}, "
            "carried over to the job's own cgroup")

    def test_none(self):
        lines = self.run_job(*self.hog(1))
        self.assertEqual(self.the_line("memory: limit", lines),
                         "memory: limit: not available, because no limit is set")

    def test_its_own(self):
        group = self.limited_group(72)
        self.assertEqual(self.seen_inside(group, self.limit_file(group)), [str(72 * MIB)])
        self.assert_limit(72, group)
        self.assertRegex(self.the_line("memory: peak", self.diag()),
                         r"^memory: peak [0-9.]+ [KM]iB of 72\.0 MiB \([0-9.]+ %\), own cgroup")

    def test_a_smaller_one_further_up(self):
        outer = self.limited_group(72)
        inner = self.inner_group(outer, 96)
        self.assertEqual(self.seen_inside(inner, self.limit_file(inner)), [str(72 * MIB)])
        self.assert_limit(72, outer)

    def test_a_smaller_one_further_down(self):
        outer = self.limited_group(96)
        inner = self.inner_group(outer, 72)
        self.assertEqual(self.seen_inside(inner, self.limit_file(inner)), [str(72 * MIB)])
        self.assert_limit(72, inner)

    def test_swap(self):
        outer = self.limited_group(96)
        accounted = outer.limit_swap(112)
        inner = self.inner_group(outer, 72)
        accounted = accounted and inner.limit_swap(128 if inner.version == 2 else 120)
        lines = self.run_job(*self.hog(1), group=inner)
        if not accounted:
            self.assertEqual(self.the_line("memory: swap", lines), "memory: swap: not accounted")
            return
        name = "memory.memsw.limit_in_bytes" if inner.version == 1 else "memory.swap.max"
        self.assertEqual(self.seen_inside(inner, name), [str(112 * MIB)])
        self.assertEqual(self.end()["swap_limit"]["value"]["owner"], str(outer.path))


@placements(*WITH_GROUPS)
class Kills(MemoryTest):
    """Who died of memory, and against whose limit."""

    CUT_SHORT = "the output is incomplete and must not be used: the run was cut short"

    def test_at_the_limit(self):
        group = self.limited_group(40)
        lines = self.run_job(*self.hog(64), status=-signal.SIGKILL, group=group)
        self.assertEqual(lines[0], "exit: killed by SIGKILL (signal 9), status 137")
        self.assert_peak(40)
        self.assertRegex(
            self.the_line("cause", lines),
            r"^cause: killed by the kernel's memory killer \(SIGKILL, 1 memory kill\) at the limit of "
            rf"40\.0 MiB that {re.escape(str(group.path))} sets[ ,(]")
        self.assertIn("  oom_kill 1", lines)
        self.assertIn(str(group.path), self.the_line("advice: raise the memory limit", lines))
        self.assertTrue([line for line in lines if self.CUT_SHORT in line], lines)

    @placements(*AS_ROOT)
    def test_at_a_limit_that_the_job_set_itself(self):
        """A group that the job made below its own."""
        # On v2 no controllers below a group with processes: so the job itself steps down first.
        lines = self.run_job(
            "sh", "-c", OWN_GROUP + f"""
            own=$(own); g=$own/in; mkdir "$g"; echo $$ >"$g/cgroup.procs"
            if [ -e "$own/memory.limit_in_bytes" ]; then echo {24 * MIB} >"$g/memory.limit_in_bytes"
            else echo +memory >"$own/cgroup.subtree_control"; echo {24 * MIB} >"$g/memory.max"
              [ ! -e "$g/memory.swap.max" ] || echo 0 >"$g/memory.swap.max"; fi
            exec "$@" """, "sh", *self.hog(40), status=-signal.SIGKILL)
        self.assertIn("at the limit of a cgroup that the job made below its own",
                      self.the_line("cause", lines))

    def test_at_a_limit_further_up(self):
        """Others in the outer group leave less than what the job's own group may have."""
        outer = self.limited_group(64)
        beside, own = self.inner_group(outer), self.inner_group(outer, 60)
        other = self.start(*self.hog(20, hold=60), group=beside)
        self.assertEqual(self.read_line(other), b"touched\n")
        lines = self.run_job(*self.hog(58), status=-signal.SIGKILL, group=own)
        self.assertIsNone(other.poll())
        cause = self.the_line("cause", lines)
        self.assertIn(f"at the limit of 64.0 MiB that {outer.path} sets, further up than the job's own "
                      "cgroup; others in that cgroup used about ", cause)
        used = float(re.search(r"used about ([0-9.]+) MiB", cause).group(1))
        self.assertLess(abs(used - 20), 3)
        self.assert_bytes(self.end()["peak"]["value"], 64 - 20)

    def test_a_worker_whose_death_the_job_hides(self):
        group = self.limited_group(40)
        lines = self.run_job("sh", "-c", '"$@"; exit 0', "sh", *self.hog(64), group=group)
        self.assertEqual(lines[0], "exit: exited with 0")
        self.assertRegex(self.the_line("cause", lines),
                         r"^cause: the kernel's memory killer took 1 process of the job, and the job "
                         rf"hid it and exited with 0: killed at the limit of 40\.0 MiB that {group.path}")

    def test_a_worker_whose_death_the_job_tells(self):
        lines = self.run_job("sh", "-c", '"$@"; exit 9', "sh", *self.hog(64), status=9,
                             group=self.limited_group(40))
        self.assertIn("took 1 process of the job, and the job then exited with 9",
                      self.the_line("cause", lines))

    def test_a_sigkill_from_outside_at_high_use(self):
        """Full to the brim, and yet it was not the memory killer."""
        process = self.start(*self.run_words, "--", *self.hog(36, hold=60), group=self.limited_group(40))
        self.assertEqual(self.read_line(process), b"touched\n")
        (hog,) = [pid for pid in self.marked_processes()
                  if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == "hog"]
        os.kill(hog, signal.SIGKILL)
        outcome = self.finish(process)
        self.assertEqual(outcome.status, -signal.SIGKILL)
        lines = self.diag()
        self.assertIn("SIGKILL from an unknown sender: 0 memory kills were counted in the job's cgroup",
                      self.the_line("cause", lines))
        self.assertFalse([line for line in lines if "killed by the kernel" in line], lines)
        self.assertGreater(self.end()["peak"]["value"], 36 * MIB)

    def test_a_job_that_just_fits(self):
        lines = self.run_job(*self.hog(36), group=self.limited_group(40))
        self.assert_peak(36)
        self.assertFalse([line for line in lines if line.startswith("cause")], lines)

    @placements(V2_ROOT)
    def test_all_of_a_group_at_once(self):
        """memory.oom.group: the kernel ends every process of the job."""
        lines = self.run_job("sh", "-c", OWN_GROUP + 'echo 1 >"$(own)/memory.oom.group"; "$@"; exit 0',
                             "sh", *self.hog(64), status=-signal.SIGKILL, group=self.limited_group(40))
        self.assertIn("  oom_group_kill 1", lines)
        self.assertIn("killed by the kernel's memory killer", self.the_line("cause", lines))


class SampledKills(MemoryTest):
    """Without a group of its own the counters of the group around it have to do."""

    @placements(*WITH_GROUPS)
    def test_a_sigkill_that_was_not_the_memory_killer(self):
        self.run_words += ["--placement", "tree"]
        lines = self.run_job("sh", "-c", "kill -KILL $$", status=-signal.SIGKILL)
        self.assertRegex(self.the_line("cause", lines), r"not the kernel's memory killer|can't tell")
        self.assertNotIn("killed by the kernel", self.the_line("cause", lines))


@placements(*WITH_GROUPS)
class LeftBehind(MemoryTest):
    """What the job leaves running keeps its memory, and the job's group goes nevertheless."""

    def test_a_process_with_memory(self):
        lines = self.run_job("sh", "-c", '"$@" >out 2>&- & while ! grep -q . out 2>/dev/null; '
                             "do sleep 0.01; done; exit 4", "sh", *self.hog(16, hold=60), status=4)
        self.assert_peak(16)
        (pid,) = self.wait_until("it runs", self.marked_processes)
        self.assertIn(f"{pid}", self.the_line("warning", [x for x in lines if "hog" in x]))
        self.assertNotIn("/mapdiag-", pathlib.Path(f"/proc/{pid}/cgroup").read_text().replace(
            "/mapdiag-e2e", ""))
        os.kill(pid, signal.SIGKILL)
