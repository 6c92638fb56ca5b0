"""How `mapdiag run` leaves: with the job's own status, whatever that is."""

import os
import signal
import stat
import subprocess

from cgroups import V1_ROOT, V2_ROOT
from harness import ON, RUN, SLOW_MACHINE, MapdiagTest, placements

# Those whose default action is to end a process.
DEADLY = [s for s in signal.valid_signals()
          if s not in (signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH,
                       signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)]


class Status(MapdiagTest):
    def test_every_status_is_the_jobs_own(self):
        for status in (0, 1, 2, 3, 42, 124, 125, 126, 127, 128, 129, 137, 143, 254, 255):
            with self.subTest(status=status):
                outcome = self.mapdiag(*ON, *self.probe("exit", status))
                self.assertEqual(outcome, (status, b"", b""))

    def test_every_deadly_signal_ends_mapdiag_too(self):
        chosen = DEADLY if not SLOW_MACHINE else [1, 2, 3, 6, 9, 11, 13, 15, 34, 64]
        for number in chosen:
            with self.subTest(signal=int(number)):
                outcome = self.mapdiag(*ON, *self.probe("die", int(number)))
                self.assertEqual(outcome, (-number, b"", b""))

    def test_a_shell_sees_128_and_the_signal(self):
        for number in (2, 9, 15):
            with self.subTest(signal=number):
                outcome = self.run_command(
                    "sh", "-c", '"$@"; echo $?', "sh", self.mapdiag_path, *ON,
                    *self.probe("die", number))
                self.assertEqual(outcome.text.strip(), str(128 + number))

    def test_make_sees_the_status_and_does_not_go_on(self):
        (self.folder / "Makefile").write_text(
            "done:\n\t@$(MAPDIAG) $(JOB)\n\t@touch done\n")
        job = " ".join(map(str, [*ON, *self.probe("exit", 3)]))
        killed = " ".join(map(str, [*ON, *self.probe("die", 9)]))
        for words, told in ((job, "Error 3"), (killed, "Killed")):
            with self.subTest(told=told):
                outcome = self.run_command("make", f"MAPDIAG={self.mapdiag_path}", f"JOB={words}")
                self.assertEqual(outcome.status, 2)
                self.assertIn(told, outcome.talk)
                self.assertFalse((self.folder / "done").exists())

    def test_a_core_file_is_the_jobs_alone(self):
        # An ordinary core file in the current folder, where the machine writes such ones.
        pattern = open("/proc/sys/kernel/core_pattern", encoding="ascii").read().strip()
        if "/" in pattern or "|" in pattern:
            pattern = None
        outcome = self.run_command("sh", "-c", 'ulimit -c unlimited; exec "$@"', "sh",
                                   self.mapdiag_path, *ON, "sh", "-c", "kill -SEGV $$")
        self.assertEqual(outcome.status, -signal.SIGSEGV)
        cores = [p for p in self.folder.iterdir() if p.name.startswith("core")]
        self.assertLessEqual(len(cores), 1)
        if pattern == "core":
            self.assertEqual(len(cores), 1)

    @placements(V1_ROOT, V2_ROOT)
    def test_the_first_process_of_a_pid_namespace_gives_128_and_the_signal(self):
        for words, status in ((("exit", 7), 7), (("die", 9), 137), (("die", 15), 143)):
            with self.subTest(words=words):
                outcome = self.run_command("unshare", "-p", "-f", "--mount-proc",
                                           self.mapdiag_path, *ON, *self.probe(*words))
                self.assertEqual(outcome, (status, b"", b""))

    @placements(V1_ROOT, V2_ROOT)
    def test_the_first_process_passes_signals_on_and_reaps(self):
        # Every process of the namespace that has lost its parent is mapdiag's to reap.
        script = ('for i in 1 2 3 4 5; do (true & true); done; '
                  'trap "exit 9" TERM; echo up; while :; do sleep 0.01; done')
        process = self.start("unshare", "-p", "-f", "--mount-proc", "--kill-child",
                             self.mapdiag_path, *ON, "sh", "-c", script)
        self.assertEqual(self.read_line(process), b"up\n")
        (inner,) = [int(pid) for pid in open(
            f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii").read().split()]
        os.kill(inner, signal.SIGTERM)
        self.assertEqual(self.finish(process).status, 9)

    def test_an_ignored_child_signal_does_not_lose_the_status(self):
        def ignore():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)

        group = self.own_group()

        def prepare():
            ignore()
            if group:
                group.enter()

        process = subprocess.Popen(
            [self.mapdiag_path, *ON, *self.probe("exit", 5)], preexec_fn=prepare, cwd=self.folder,
            env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._started.append(process)
        self.assertEqual(self.finish(process).status, 5)

    def test_a_leftover_process_does_not_change_the_status(self):
        outcome = self.mapdiag(*ON, "sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!; exit 4")
        self.assertEqual(outcome.status, 4)
        os.kill(int(outcome.text), signal.SIGKILL)


class NotStarted(MapdiagTest):
    """One line on stderr, and nothing else, where the job can't be started."""

    def assert_one_line(self, outcome, status, *words):
        self.assertEqual((outcome.status, outcome.text), (status, ""))
        self.assertEqual(outcome.talk.count("\n"), 1, outcome.talk)
        for word in words:
            self.assertIn(word, outcome.talk)

    def test_not_found_is_127(self):
        (self.folder / "file").write_text("")
        for mode in (ON, ["run"], ["run", "--log-dir", "logs"]):
            for program in ("no-such-program", "/no/such/program", "./missing", "file/below"):
                with self.subTest(mode=mode, program=program):
                    self.assert_one_line(self.mapdiag(*mode, "--", program, "x"), 127, program)

    def test_not_found_although_a_folder_of_the_path_is_closed(self):
        closed = self.folder / "closed"
        closed.mkdir(mode=0)
        path = f"{closed}:{os.environ['PATH']}"
        for mode in (ON, ["run"]):
            with self.subTest(mode=mode):
                outcome = self.mapdiag(*mode, "--", "no-such-program", "x", env={"PATH": path})
                self.assert_one_line(outcome, 127, "no-such-program")

    def test_not_executable_is_126(self):
        plain = self.folder / "plain"
        plain.write_text("x")
        plain.chmod(0o644)
        (self.folder / "folder").mkdir()
        broken = self.folder / "broken"
        broken.write_text("#!/no/such/interpreter\n")
        broken.chmod(0o755)
        for mode in (ON, ["run"]):
            for program in ("./plain", "./folder"):
                with self.subTest(mode=mode, program=program):
                    self.assert_one_line(self.mapdiag(*mode, "--", program, "x"), 126, program)
        # The kernel says "not found" of a missing interpreter, and so does every shell.
        self.assert_one_line(self.mapdiag(*ON, "--", "./broken"), 127, "./broken")

    def test_a_command_line_that_mapdiag_could_take_the_job_can_too(self):
        outcome = self.run_command("sh", "-c", 'ulimit -s 256; exec "$@"', "sh", self.mapdiag_path,
                                   *ON, "--", "/bin/true", "x" * 60000)
        # 256 KiB of stack leave 64 KiB for arguments.
        self.assertEqual(outcome.status, 0)

    def test_a_script_without_an_interpreter_line_runs_in_the_shell(self):
        script = self.folder / "script"
        script.write_text("echo from the script $1; exit 6\n")
        script.chmod(0o755)
        for mode in (ON, ["run"]):
            with self.subTest(mode=mode):
                outcome = self.mapdiag(*mode, "--", "./script", "word")
                self.assertEqual(outcome, (6, b"from the script word\n", b""))

    def test_a_program_of_the_path_is_found(self):
        folder = self.folder / "bin"
        folder.mkdir()
        (folder / "found").write_text("#!/bin/sh\nexit 8\n")
        (folder / "found").chmod(0o755)
        path = f"{self.folder}/no-such-folder:{folder}:{os.environ['PATH']}"
        for mode in (ON, ["run"]):
            with self.subTest(mode=mode):
                self.assertEqual(self.mapdiag(*mode, "--", "found", "x", env={"PATH": path}).status, 8)

    def test_wrong_use_is_2_and_starts_nothing(self):
        for wrong in (["run"], ["run", "--entity"], ["run", "--entity", "A"],
                      ["run", "--entity", "A", "--"], ["run", "--bogus", "--entity", "A", "--", "touch", "x"],
                      ["run", "--entity", "", "--", "touch", "x"],
                      ["run", "--rate", "fast", "--entity", "A", "--", "touch", "x"]):
            with self.subTest(arguments=wrong):
                outcome = self.mapdiag(*wrong, env={"DM_MAP_PROFILE": "true"})
                self.assertEqual((outcome.status, outcome.text), (2, ""))
                self.assertNotEqual(outcome.talk, "")
                self.assertEqual(list(self.folder.iterdir()), [])

    def test_no_descriptors_left(self):
        """However few there are, the job's own status comes back, or 125 and one line."""
        for most in range(5, 40, 4 if not SLOW_MACHINE else 12):
            with self.subTest(descriptors=most):
                outcome = self.run_command(
                    "sh", "-c", 'n=$1; shift; ulimit -n $n; exec "$@"', "sh", str(most),
                    self.mapdiag_path, *ON, *self.probe("exit", 5))
                if outcome.status != 5:
                    self.assert_one_line(outcome, 125)


class Off(MapdiagTest):
    """Without diagnosis the command takes mapdiag's place."""

    def test_same_process_and_nothing_opened(self):
        plain = self.run_command(*self.probe("state"), start_new_session=True)
        shown = self.mapdiag("run", "--", *self.probe("state"), start_new_session=True)
        self.assertEqual(shown.status, 0)

        def without_ids(text):
            return [line for line in text.splitlines()
                    if not line.startswith(("session", "descriptor 1 ", "descriptor 2 ", "environment _="))]

        self.assertEqual(without_ids(shown.text), without_ids(plain.text))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_same_pid(self):
        process = self.start(self.mapdiag_path, "run", "sh", "-c", "echo $$")
        outcome = self.finish(process)
        self.assertEqual(outcome, (0, f"{process.pid}\n".encode(), b""))

    def test_words_that_are_off(self):
        for value in (None, "", "0", "false", "FALSE", "no", "Off", "off"):
            with self.subTest(value=value):
                outcome = self.mapdiag("run", "--entity", "E", "--", *self.probe("exit", 4),
                                       env={"DM_MAP_PROFILE": value})
                self.assertEqual(outcome, (4, b"", b""))
                self.assertEqual(list(self.folder.iterdir()), [])

    def test_an_unknown_word_is_off_and_said_once(self):
        outcome = self.mapdiag("run", "--entity", "E", "--", *self.probe("exit", 4),
                               env={"DM_MAP_PROFILE": "maybe"})
        self.assertEqual((outcome.status, outcome.text), (4, ""))
        self.assertEqual(outcome.talk.count("\n"), 1)
        self.assertIn("maybe", outcome.talk)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_no_profile_wins(self):
        outcome = self.mapdiag("run", "--entity", "E", "--profile", "--no-profile",
                               *self.probe("exit", 4), env={"DM_MAP_PROFILE": "true"})
        self.assertEqual(outcome, (4, b"", b""))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_command_without_an_entity_is_passed_through(self):
        outcome = self.mapdiag("run", "sh", "-c", "echo data; exit 3",
                               env={"DM_MAP_PROFILE": "true"})
        self.assertEqual(outcome, (3, b"data\n", b""))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_an_explicit_log_folder_writes_the_log_only(self):
        outcome = self.mapdiag("run", "--entity", "E", "--log-dir", "kept", "sh", "-c",
                               "echo out; echo err >&2; exit 3")
        self.assertEqual(outcome, (3, b"out\n", b"err\n"))
        names = sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("*"))
        self.assertEqual(names, ["kept", "kept/E.log"])
        self.assertEqual(sorted((self.folder / "kept/E.log").read_bytes().split()), [b"err", b"out"])


class On(MapdiagTest):
    def test_words_that_are_on(self):
        for value in ("true", "TRUE", "1", "yes", "On"):
            with self.subTest(value=value):
                outcome = self.mapdiag("run", "--entity", f"E{value}", "--",
                                       *self.probe("exit", 4), env={"DM_MAP_PROFILE": value})
                self.assertEqual((outcome.status, outcome.text), (4, ""))
                self.assertTrue((self.folder / "logs" / f"E{value}.log").exists())

    def test_nothing_of_ours_on_stdout(self):
        outcome = self.mapdiag(*RUN, "--entity", "E",
                               *self.probe("exit", 0))
        self.assertEqual((outcome.status, outcome.text), (0, ""))

    def test_the_diag_lines_are_on_stderr_unless_quiet(self):
        loud = self.mapdiag(*RUN, "--entity", "E", "true", "x")
        self.assertRegex(loud.talk, r"(?m)\A\[diag E\] exit: .*$")
        quiet = self.mapdiag(*RUN, "--entity", "E", "--quiet", "true")
        self.assertEqual(quiet.talk, "")
        self.assertIn(b"[diag E] exit: ", self.log())

    def test_the_files_follow_the_umask(self):
        self.run_command("sh", "-c", 'umask 077; exec "$@"', "sh", self.mapdiag_path, *ON, "true")
        for path in (self.folder / "logs").iterdir():
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600, path)
