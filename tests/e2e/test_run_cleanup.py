"""Nothing of mapdiag's stays on any path: no cgroup, no process, no temporary file."""

import os
import pathlib
import signal
import subprocess
import time

from cgroups import V1_ROOT, V2_ROOT, V2_USER
from harness import ON, PATIENCE, RUN, SLOW_MACHINE, MapdiagTest, placements

WITH_GROUPS = (V1_ROOT, V2_ROOT, V2_USER)

# A shell function that prints the folder of its own memory cgroup.
OWN_GROUP = r'''
own() {
  path=$(sed -n 's/^[0-9]*:\(.*,\)*memory\(,.*\)*:\(.*\)/\3/p' /proc/self/cgroup)
  if [ -n "$path" ]; then echo "/sys/fs/cgroup/memory$path"
  else echo "/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)"; fi
}
'''


class CleanupTest(MapdiagTest):
    def assert_only_own_files(self):
        for path in (self.folder / "logs").iterdir():
            self.assertIn(path.name, ("E.log", "E.diag.jsonl", "E.folded"))

    def script(self, text, status=4, **how):
        outcome = self.mapdiag(*ON, "sh", "-c", OWN_GROUP + text, **how)
        self.assertEqual(outcome.status, status, outcome)
        self.assert_only_own_files()
        return outcome

    def end_leftover(self, name="pid"):
        pid = int((self.folder / name).read_text())
        os.kill(pid, signal.SIGKILL)

    def group_of(self, pid):
        return pathlib.Path(f"/proc/{pid}/cgroup").read_text()


class OrdinaryEnds(CleanupTest):
    def test_plain_job(self):
        self.script("exit 4")

    def test_job_that_is_killed(self):
        self.script("kill -9 $$", status=-9)

    def test_command_that_is_not_there(self):
        self.assertEqual(self.mapdiag(*ON, "/no/such/program", "x").status, 127)

    def test_many_short_children(self):
        self.script("i=0; while [ $i -lt 60 ]; do true & i=$((i+1)); done; exit 4")

    def test_many_runs_at_once(self):
        count = 50 if not SLOW_MACHINE else 12
        runs = [self.start(self.mapdiag_path, *RUN, "--quiet", "--entity", f"E{i}", "sh", "-c",
                           f"echo {i}; sleep 0.05 & exit {i}") for i in range(count)]
        for i, process in enumerate(runs):
            outcome = self.finish(process)
            self.assertEqual((outcome.status, outcome.text), (i, f"{i}\n"))
            log = self.log(f"E{i}")
            self.assertTrue(log.startswith(f"{i}\n".encode()), log)
            self.assertNotIn(b"busy", log.lower())
            for line in log.splitlines()[1:]:
                self.assertTrue(line.startswith(f"[diag E{i}] ".encode()), line)

    def test_nested_runs(self):
        """A recipe under mapdiag that calls mapdiag itself."""
        inner = [str(self.mapdiag_path), *RUN, "--quiet", "--entity", "inner", "sh", "-c", "echo in; exit 6"]
        outcome = self.mapdiag(*ON, "sh", "-c", '"$@"; echo $?; exit 4', "sh", *inner)
        self.assertEqual((outcome.status, outcome.text), (4, "in\n6\n"))


class Leftovers(CleanupTest):
    """What the job leaves running goes on outside the removed group, and is named."""

    def test_a_daemon(self):
        self.script(f"{self.probe_path} daemon pid; exit 4")
        pid = int((self.folder / "pid").read_text())
        os.kill(pid, 0)
        self.assertNotIn("mapdiag-", self.group_of(pid).replace("mapdiag-e2e", ""))
        self.assertIn(str(pid), " ".join(self.diag()))
        self.end_leftover()

    def test_a_stopped_process(self):
        self.script(f"{self.probe_path} run pid >&- 2>&- & while [ ! -e pid ]; do sleep 0.01; done; "
                    "kill -STOP $!; exit 4")
        self.assertIn((self.folder / "pid").read_text().strip(), " ".join(self.diag()))
        self.end_leftover()

    def test_many_processes(self):
        count = 40 if not SLOW_MACHINE else 10
        self.script(f"for i in $(seq {count}); do sleep 60 >&- 2>&- & done; exit 4")
        self.wait_until("all there", lambda: len(self.marked_processes()) == count)
        for pid in self.marked_processes():
            os.kill(pid, signal.SIGKILL)

    @placements(V1_ROOT, V2_ROOT)
    def test_another_user(self):
        self.script(f"setpriv --reuid 65534 --regid 65534 --clear-groups sleep 61 >&- 2>&- & "
                    "while ! grep -q sleep /proc/$!/comm; do sleep 0.01; done; exit 4")
        (pid,) = self.wait_until("it runs", self.marked_processes)
        os.kill(pid, signal.SIGKILL)

    def test_processes_that_keep_forking(self):
        """Each hands over to a new one: none may stay in the group."""
        self.script("(while [ ! -e enough ]; do sleep 0.005; done) >&- 2>&- & exit 4")
        (self.folder / "enough").touch()
        self.wait_until("all gone", lambda: not self.marked_processes())


class SubGroups(CleanupTest):
    """The job makes groups of its own below mapdiag's."""

    @placements(V1_ROOT, V2_ROOT)
    def test_empty_ones(self):
        self.script('g=$(own); mkdir -p "$g/a/b/c" "$g/d"; exit 4')

    @placements(V1_ROOT, V2_ROOT)
    def test_one_with_a_process(self):
        self.script('g=$(own); mkdir "$g/in"; sh -c \'echo $$ >"$0/cgroup.procs"; exec '
                    f"{self.probe_path} run pid' \"$g/in\" >&- 2>&- & "
                    "while [ ! -e pid ]; do sleep 0.01; done; exit 4")
        self.end_leftover()

    @placements(V2_ROOT)
    def test_a_frozen_one(self):
        self.script('g=$(own); mkdir "$g/in"; sh -c \'echo $$ >"$0/cgroup.procs"; exec '
                    f"{self.probe_path} run pid' \"$g/in\" >&- 2>&- & "
                    'while [ ! -e pid ]; do sleep 0.01; done; echo 1 >"$g/in/cgroup.freeze"; exit 4')
        self.end_leftover()

    @placements(V1_ROOT, V2_ROOT)
    def test_the_job_moves_itself_out(self):
        self.script('g=$(own); echo $$ >"$g/../cgroup.procs" 2>/dev/null; exit 4')

    @placements(V1_ROOT, V2_ROOT)
    def test_mapdiag_is_killed(self):
        process = self.start(self.mapdiag_path, *ON, "sh", "-c", OWN_GROUP +
                             'g=$(own); mkdir -p "$g/in/deep"; sh -c \'echo $$ >"$0/cgroup.procs"; '
                             f"exec {self.probe_path} run pid' \"$g/in/deep\" & echo up; wait")
        self.assertEqual(self.read_line(process), b"up\n")
        self.wait_until("it runs", lambda: (self.folder / "pid").exists())
        process.kill()
        self.wait_until("nothing of the job runs", lambda: not self.marked_processes())


class JobsThatHide(CleanupTest):
    def test_one_that_closes_every_descriptor(self):
        script = "import os,time\nos.closerange(0,256)\ntime.sleep(0.05)\nos._exit(4)"
        outcome = self.mapdiag(*ON, "python3", "-S", "-c", script)
        self.assertEqual(outcome, (4, b"", b""))

    def test_one_that_becomes_a_session_leader(self):
        outcome = self.mapdiag(*ON, "setsid", "sh", "-c", "sleep 0.02; exit 4")
        self.assertEqual(outcome.status, 4)

    @placements(V1_ROOT, V2_ROOT)
    def test_one_that_changes_root_and_user(self):
        os.chmod(self.folder, 0o755)
        (self.folder / "probe").write_bytes(pathlib.Path(self.probe_path).read_bytes())
        (self.folder / "probe").chmod(0o755)
        outcome = self.mapdiag(*ON, "chroot", "--userspec=65534:65534", self.folder, "/probe", "exit", "4")
        self.assertEqual(outcome.status, 4, outcome)

    @placements(V1_ROOT, V2_ROOT)
    def test_one_in_namespaces_of_its_own(self):
        outcome = self.mapdiag(*ON, "unshare", "-p", "-f", "-m", "-C", "--mount-proc", "sh", "-c", "exit 4")
        self.assertEqual(outcome.status, 4, outcome)

    def test_one_that_stops_itself(self):
        """The stop is no end; it goes on when it is continued."""
        process = self.start(self.mapdiag_path, *ON, "sh", "-c", "echo $$; kill -STOP $$; exit 4")
        pid = int(self.read_line(process))
        self.wait_until("it is stopped",
                        lambda: open(f"/proc/{pid}/stat", encoding="ascii").read().split()[2] == "T")
        self.assertIsNone(process.poll())
        os.kill(pid, signal.SIGCONT)
        self.assertEqual(self.finish(process).status, 4)


@placements(V2_ROOT, V2_USER)
class NoInternalProcesses(CleanupTest):
    """cgroup v2 allows no controllers below a group that has processes."""

    def test_mapdiag_alone_in_its_group_steps_down_and_back(self):
        group = self.own_group()
        self.script("sleep 0.01; exit 4")
        self.assertIn("own cgroup (v2)", (self.folder / "logs/E.diag.jsonl").read_text())
        self.assertEqual((group.path / "cgroup.subtree_control").read_text().strip(), "")

    def test_with_others_in_its_group(self):
        """A shell stands beside it: it says what blocks and goes on without a group; in a subtree
        of an ordinary user's own, it makes the job's group beside their common one."""
        outcome = self.run_command("sh", "-c", '"$@"; exit $?', "sh", self.mapdiag_path, *ON,
                                   "sh", "-c", "exit 4")
        self.assertEqual(outcome.status, 4)
        if self.placement == V2_USER:
            self.assertIn("own cgroup (v2)", (self.folder / "logs/E.diag.jsonl").read_text())
        else:
            self.assertRegex("\n".join(self.diag()), r"(?i)other process|beside")

    def test_killed_after_it_stepped_down(self):
        process = self.start(self.mapdiag_path, *ON, "sh", "-c", "echo up; sleep 60")
        self.assertEqual(self.read_line(process), b"up\n")
        process.kill()
        self.wait_until("nothing of the job runs", lambda: not self.marked_processes())
        self.wait_until("no group stays", lambda: not self.base.leaks(self._groups))
        self.assertEqual(
            (self.own_group().path / "cgroup.subtree_control").read_text().strip(), "")
