"""The limits that the user asks for: they hold, or the job is not started."""

import json
import os
import signal

from cgroups import MIB, PLAIN, V1_ROOT, V2_ROOT, V2_USER
from harness import ON, RUN, MapdiagTest, placements

# A py-spy that prints a dump, and records nothing.
PY_SPY = """#!/bin/sh
if [ "$1" = dump ]; then
  printf 'Process %s: python secret-argument\\nPython v3.11.2 (/usr/bin/python3.11)\\n\\n' "$3"
  printf 'Thread %s (idle): "MainThread"\\n    wait_here (job.py:3)\\n' "$3"
  exit 0
fi
trap 'exit 0' INT
while kill -0 "$3" 2>/dev/null; do sleep 0.05; done
"""


class Limits(MapdiagTest):
    def journal_end(self, entity="E"):
        lines = (self.folder / "logs" / f"{entity}.diag.jsonl").read_text().splitlines()
        return json.loads(lines[-1])

    def cause(self):
        return [line for line in self.diag() if line.startswith("cause: ")]

    def py_spy(self):
        path = self.folder / "py-spy"
        path.write_text(PY_SPY)
        path.chmod(0o755)
        return path

    @placements(V1_ROOT, V2_ROOT, V2_USER)
    def test_a_job_over_its_memory_limit_dies_alone(self):
        outcome = self.mapdiag(*ON, "--memory-limit", "32M", *self.hog(100))
        self.assertEqual(outcome.status, -signal.SIGKILL)
        (cause,) = self.cause()
        self.assertIn("at the limit of 32.0 MiB that --memory-limit set", cause)
        end = self.journal_end()
        self.assertEqual(end["held_to"]["memory"], 32 * MIB)
        self.assertEqual(end["limit"]["value"]["bytes"], 32 * MIB)
        self.assertFalse(end["limit"]["value"]["carried"])
        self.assertIn("advice: raise --memory-limit above 32.0 MiB", "\n".join(self.diag()))

    @placements(V2_ROOT, V2_USER)
    def test_the_whole_job_dies_where_the_kernel_can_do_that(self):
        script = '"$@"; echo alive'
        outcome = self.mapdiag(*ON, "--memory-limit", "32M", "sh", "-c", script, "sh",
                               *self.hog(100))
        self.assertEqual(outcome, (-signal.SIGKILL, b"", b""))

    @placements(V1_ROOT, V2_ROOT, V2_USER)
    def test_a_limit_that_is_not_reached_changes_nothing(self):
        outcome = self.mapdiag(*ON, "--memory-limit", "64M", *self.hog(20, status=3))
        self.assertEqual(outcome, (3, b"touched\n", b""))

    @placements(V1_ROOT, V2_ROOT, V2_USER)
    def test_the_job_is_told_its_limit(self):
        script = 'echo "$MAPDIAG_MEMORY_LIMIT $LINKML_MAP_DUCKDB_MEMORY_LIMIT"'
        command = [*ON, "--memory-limit", "50M", "sh", "-c", script]
        self.assertEqual(self.mapdiag(*command).text, f"{50 * MIB} 40MiB\n")
        own = self.mapdiag(*command, env={"LINKML_MAP_DUCKDB_MEMORY_LIMIT": "7MB"})
        self.assertEqual(own.text, f"{50 * MIB} 7MB\n")
        self.assertEqual(self.mapdiag(*ON, "sh", "-c", script).text, " \n")

    @placements(V1_ROOT, V2_ROOT, V2_USER)
    def test_shares_and_auto_are_of_what_is_there(self):
        group = self.limited_group(400)
        for limit, lowest, highest in (("25%", 100, 100), ("auto", 300, 340)):
            with self.subTest(limit=limit):
                outcome = self.mapdiag(*ON, "--memory-limit", limit, "true", group=group)
                self.assertEqual(outcome.status, 0)
                held = self.journal_end()["held_to"]["memory"] / MIB
                self.assertGreaterEqual(held, lowest)
                self.assertLessEqual(held, highest)

    @placements(V1_ROOT, V2_ROOT, V2_USER)
    def test_a_tighter_limit_above_stays_and_is_told(self):
        group = self.limited_group(64)
        outcome = self.mapdiag(*ON, "--memory-limit", "1G", "sh", "-c",
                               'echo "$MAPDIAG_MEMORY_LIMIT"', group=group)
        self.assertEqual(outcome, (0, f"{64 * MIB}\n".encode(), b""))
        end = self.journal_end()
        self.assertIsNone(end["held_to"]["memory"])
        self.assertEqual(end["limit"]["value"]["bytes"], 64 * MIB)
        self.assertIn("can't raise the memory limit to 1.00 GiB", "\n".join(self.diag()))

    def test_without_a_group_of_its_own_a_job_is_refused(self):
        for option, value in (("--memory-limit", "64M"), ("--cpu-limit", "1")):
            for switch in ("--profile", "--no-profile"):
                with self.subTest(option=option, switch=switch):
                    outcome = self.mapdiag("run", switch, "--placement", "tree", option, value,
                                           "--", "touch", "ran")
                    self.assertEqual(outcome.status, 125)
                    self.assertIn(f"can't hold the job to {option}: ", outcome.talk)
                    self.assertFalse((self.folder / "ran").exists())

    @placements(PLAIN)
    def test_where_no_group_can_be_made_the_reason_is_said(self):
        outcome = self.mapdiag(*ON, "--memory-limit", "64M", "true")
        self.assertEqual(outcome.status, 125)
        self.assertIn("can't hold the job to --memory-limit: ", outcome.talk)

    @placements(V1_ROOT, V2_ROOT, V2_USER)
    def test_limits_hold_without_a_diagnosis_and_leave_no_file(self):
        outcome = self.mapdiag("run", "--memory-limit", "32M", "--", *self.hog(100))
        self.assertEqual(outcome.status, -signal.SIGKILL)
        self.assertIn("at the limit of 32.0 MiB that --memory-limit set", outcome.talk)
        self.assertEqual(len(outcome.talk.splitlines()), 1)
        well = self.mapdiag("run", "--memory-limit", "32M", "--", *self.hog(10, status=4))
        self.assertEqual(well, (4, b"touched\n", b""))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_time_limit_ends_the_job_with_124(self):
        for placement in ([], ["--placement", "tree"]):
            with self.subTest(placement=placement):
                outcome = self.mapdiag(*ON, *placement, "--time-limit", "200ms", "sleep", "100")
                self.assertEqual(outcome, (124, b"", b""))
                (cause,) = self.cause()
                self.assertIn("mapdiag's own time limit of 0.20 s (--time-limit) ended it", cause)
                self.assertTrue(cause.endswith(": SIGTERM"), cause)
                end = self.journal_end()
                self.assertTrue(end["timed_out"])
                self.assertEqual(end["ending"]["signal_name"], "SIGTERM")
        quiet = self.mapdiag("run", "--time-limit", "200ms", "sleep", "100")
        self.assertEqual(quiet.status, 124)
        self.assertIn("mapdiag's own time limit of 0.20 s", quiet.talk)

    def test_a_job_that_ends_well_on_sigterm_was_timed_out_all_the_same(self):
        outcome = self.mapdiag(*ON, "--time-limit", "300ms", "sh", "-c",
                               'trap "echo bye; exit 0" TERM; while :; do sleep 0.01; done')
        self.assertEqual(outcome, (124, b"bye\n", b""))

    def test_a_job_in_time_is_left_alone(self):
        outcome = self.mapdiag(*ON, "--time-limit", "60", "sh", "-c", "exit 7")
        self.assertEqual(outcome, (7, b"", b""))
        self.assertFalse(self.journal_end()["timed_out"])

    def test_all_that_is_left_is_killed_after_the_grace(self):
        # Neither the job nor what it started minds SIGTERM; one of them has lost its parent.
        script = ('trap "" TERM; (sleep 100 & ); sleep 100 & '
                  'while :; do sleep 0.05; done')
        for placement in ([], ["--placement", "tree"]):
            with self.subTest(placement=placement):
                outcome = self.mapdiag(*ON, *placement, "--time-limit", "200ms",
                                       "--kill-after", "200ms", "sh", "-c", script)
                self.assertEqual(outcome.status, 124)
                self.assertIn("0.20 s later SIGKILL to all that was left", self.cause()[0])
                self.assertTrue(self.journal_end()["held_to"]["killed"])
                self.assertEqual(self.marked_processes(), [])

    def test_what_the_job_leaves_behind_at_its_time_limit_is_ended_too(self):
        outcome = self.mapdiag(*ON, "--time-limit", "200ms", "sh", "-c", "sleep 100 & sleep 100")
        self.assertEqual(outcome.status, 124)
        self.assertEqual(self.marked_processes(), [])

    def test_a_stopped_job_is_ended_too(self):
        outcome = self.mapdiag(*ON, "--time-limit", "200ms", "sh", "-c", "kill -STOP $$; sleep 100")
        self.assertEqual(outcome.status, 124)

    def test_the_stacks_are_written_before_the_end(self):
        outcome = self.mapdiag("run", "--profile", "--entity", "E", "--quiet", "--time-limit", "2",
                               "--py-spy", self.py_spy(), "/usr/bin/python3", "-S", "-c",
                               "import time; time.sleep(100)", "secret-argument")
        self.assertEqual(outcome.status, 124)
        stacks = (self.folder / "logs" / "E.time-limit.stacks").read_text()
        self.assertIn("    wait_here (job.py:3)\n", stacks)
        self.assertNotIn("secret-argument", stacks)
        (line,) = [line for line in self.diag() if "stacks at the time limit" in line]
        self.assertTrue(line.endswith("of 1 process: logs/E.time-limit.stacks"), line)

    @placements(V1_ROOT, V2_ROOT, V2_USER)
    def test_stacks_are_there_when_the_memory_killer_comes(self):
        # Takes most of its limit, waits for the stacks, then takes more than all of it.
        job = ("import os, time\n"
               "keep = [bytearray(70 << 20)]\n"
               "while not os.path.exists('logs/E.last-gasp.stacks'): time.sleep(0.01)\n"
               "keep.append(bytearray(80 << 20))\n")
        outcome = self.mapdiag("run", "--profile", "--entity", "E", "--quiet", "--memory-limit",
                               "100M", "--last-gasp", "60%", "--py-spy", self.py_spy(),
                               "/usr/bin/python3", "-S", "-c", job)
        self.assertEqual(outcome.status, -signal.SIGKILL)
        self.assertIn("wait_here", (self.folder / "logs" / "E.last-gasp.stacks").read_text())
        lines = (self.folder / "logs" / "E.diag.jsonl").read_text().splitlines()
        (event,) = [e for e in map(json.loads, lines) if e["type"] == "event"]
        self.assertEqual(event["kind"], "last_gasp")
        self.assertEqual(event["fields"]["limit"], 100 * MIB)
        self.assertGreaterEqual(event["fields"]["memory"], 60 * MIB)

    @placements(V1_ROOT, V2_ROOT, V2_USER)
    def test_a_cpu_limit_is_the_quota_of_the_jobs_group(self):
        job = ("path=$(sed -n 's/^[0-9]*:cpu:\\(.*\\)/\\1/p' /proc/self/cgroup)\n"
               "if [ -n \"$path\" ]; then g=/sys/fs/cgroup/cpu$path\n"
               "  echo $(cat $g/cpu.cfs_quota_us $g/cpu.cfs_period_us)\n"
               "else cat /sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)/cpu.max; fi")
        outcome = self.mapdiag(*ON, "--cpu-limit", "0.25", "sh", "-c", job)
        self.assertEqual(outcome, (0, b"25000 100000\n", b""))
        end = self.journal_end()
        self.assertEqual(end["held_to"]["cores"], 0.25)
        self.assertEqual(end["cores"]["value"], 0.25)
        self.assertIsNotNone(end["throttled_s"]["value"])

    def test_wrong_limits_are_wrong_use(self):
        for words in (["--memory-limit", "64Q"], ["--memory-limit", "120%"],
                      ["--time-limit", "0"], ["--kill-after", "3"], ["--cpu-limit", "0"],
                      ["--last-gasp", "101"]):
            with self.subTest(words=words):
                outcome = self.mapdiag(*RUN, *words, "--", "touch", "ran")
                self.assertEqual(outcome.status, 2)
                self.assertIn(words[0], outcome.talk)
        self.assertEqual(os.listdir(self.folder), [])
