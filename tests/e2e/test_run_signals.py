"""Signals reach the job exactly once, and the job starts as it would without mapdiag."""

import ctypes
import os
import random
import re
import select
import signal
import subprocess
import time

from harness import ON, PATIENCE, RUN, SLOW_MACHINE, MapdiagTest, not_for_slow_machines, rounds
from terminal import Terminal

SENT = [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2,
        signal.SIGTERM, signal.SIGALRM, signal.SIGWINCH, signal.SIGTSTP, signal.SIGCONT,
        signal.SIGPIPE, signal.SIGURG, signal.SIGTTIN, signal.SIGTTOU, signal.SIGRTMIN]


class SignalTest(MapdiagTest):
    def start_listener(self, *options, **how):
        """A job that tells every signal that reaches it; in a session of its own."""
        process = self.start(self.mapdiag_path, *ON, *options, *self.probe("signals"),
                             stdin=subprocess.PIPE, start_new_session=True, **how)
        self.assertEqual(self.read_line(process), b"ready\n")
        return process

    def next_signal(self, process):
        """Number, kind and value of the next signal that the job tells."""
        word, number, kind, value = self.read_line(process).split()
        self.assertEqual(word, b"got")
        return int(number), kind.decode(), int(value)

    def assert_next(self, process, number):
        """The next signal is `number`, and it comes once."""
        self.assertEqual(self.next_signal(process)[0], number)
        # Signals to mapdiag alone are passed on one after the other: a second `number` would come first.
        os.kill(process.pid, signal.SIGRTMAX)
        self.assertEqual(self.next_signal(process)[0], signal.SIGRTMAX)


class ExactlyOnce(SignalTest):
    def test_signals_to_mapdiag_alone(self):
        process = self.start_listener()
        for number in SENT:
            with self.subTest(signal=number):
                os.kill(process.pid, number)
                self.assert_next(process, number)
        process.stdin.close()
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_signals_to_the_whole_group(self):
        process = self.start_listener()
        for number in SENT:
            with self.subTest(signal=number):
                os.killpg(process.pid, number)
                self.assert_next(process, number)
        process.stdin.close()
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_group_and_alone_in_turns(self):
        process = self.start_listener()
        for turn in range(rounds(40)):
            (os.killpg if turn % 3 else os.kill)(process.pid, signal.SIGUSR1)
            self.assert_next(process, signal.SIGUSR1)
        process.stdin.close()
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_a_signal_to_the_job_alone_is_not_doubled(self):
        process = self.start_listener()
        (job,) = self.probes()
        os.kill(job, signal.SIGUSR1)
        self.assert_next(process, signal.SIGUSR1)
        process.stdin.close()
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_queued_signals_keep_their_values_and_order(self):
        process = self.start_listener()
        queue = ctypes.CDLL(None, use_errno=True).sigqueue
        for value in (7, -1, 42, 42):
            self.assertEqual(queue(process.pid, int(signal.SIGRTMIN), ctypes.c_void_p(value)), 0)
        self.assertEqual(queue(process.pid, int(signal.SIGUSR1), ctypes.c_void_p(5)), 0)
        self.assertEqual(sorted(self.next_signal(process) for _ in range(5)),
                         sorted([(34, "queue", 7), (34, "queue", -1), (34, "queue", 42),
                                 (34, "queue", 42), (10, "queue", 5)]))
        process.stdin.close()
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_many_queued_signals_are_all_passed_on(self):
        process = self.start_listener()
        for _ in range(rounds(200)):
            os.kill(process.pid, signal.SIGRTMIN + 3)
        for _ in range(rounds(200)):
            self.assertEqual(self.next_signal(process)[0], signal.SIGRTMIN + 3)
        self.finish_listener(process)

    def test_queued_signals_to_the_whole_group(self):
        process = self.start_listener()
        for _ in range(20):
            os.killpg(process.pid, signal.SIGRTMIN + 1)
        for _ in range(20):
            self.assertEqual(self.next_signal(process)[0], signal.SIGRTMIN + 1)
        os.kill(process.pid, signal.SIGRTMAX)
        self.assertEqual(self.next_signal(process)[0], signal.SIGRTMAX, "one came twice")
        self.finish_listener(process)

    def finish_listener(self, process):
        process.stdin.close()
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_a_job_with_a_session_of_its_own(self):
        """`timeout` signals mapdiag's group; the job that left it is still meant."""
        process = self.start(self.mapdiag_path, *ON, "setsid", *self.probe("signals"),
                             stdin=subprocess.PIPE, start_new_session=True)
        self.assertEqual(self.read_line(process), b"ready\n")
        os.killpg(process.pid, signal.SIGTERM)
        self.assert_next(process, signal.SIGTERM)
        self.finish_listener(process)

    def test_a_job_that_left_the_group_itself(self):
        script = "import os,signal\nos.setpgid(0,0)\nos.write(1,b'up\\n')\nsignal.sigwait([15])\nos.write(1,b'got\\n')"
        script = "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK,[15])\n" + script
        process = self.start(self.mapdiag_path, *ON, "python3", "-S", "-c", script,
                             start_new_session=True)
        self.assertEqual(self.read_line(process), b"up\n")
        os.killpg(process.pid, signal.SIGTERM)
        self.assertEqual(self.read_line(process), b"got\n")
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_a_signal_for_everything_called_mapdiag(self):
        """`pkill mapdiag` reaches helpers of mapdiag's too, but not the job."""
        for how in (["pkill", "-TERM"], ["pkill", "-TERM", "-f"]):
            with self.subTest(how=how):
                process = self.start_listener()
                mine = [pid for pid in self.marked_processes() if pid != process.pid]
                names = {pid: open(f"/proc/{pid}/comm", encoding="ascii").read().strip()
                         for pid in [process.pid, *mine]}
                lines = {pid: open(f"/proc/{pid}/cmdline", "rb").read().replace(b"\0", b" ")
                         for pid in names}
                where = lines if "-f" in how else {p: n.encode() for p, n in names.items()}
                for pid in sorted(where):
                    if re.search(rb"(^|/)mapdiag", where[pid].split(b" run ")[0]):
                        os.kill(pid, signal.SIGTERM)
                self.assert_next(process, signal.SIGTERM)
                process.stdin.close()
                self.assertEqual(process.wait(PATIENCE), 0)


class WhileStarting(SignalTest):
    def test_a_signal_at_any_moment_is_neither_lost_nor_doubled(self):
        """The job counts SIGUSR1; mapdiag gets one at a random moment after its exec."""
        chosen = random.Random(3)
        job = ["sh", "-c", "read line; exit 9"]
        early = 0
        for turn in range(rounds(150)):
            to_group = turn % 2 == 1
            process = self.start(self.mapdiag_path, *ON, *job, stdin=subprocess.PIPE,
                                 start_new_session=True)
            wait_until_exec(process.pid)
            time.sleep(chosen.random() * (0.08 if SLOW_MACHINE else 0.008))
            (os.killpg if to_group else os.kill)(process.pid, signal.SIGTERM)
            process.stdin.close()
            status = process.wait(PATIENCE)
            # Before the signals are blocked, mapdiag itself dies of it; after that, the job does, if it
            # has not yet read its end of input.
            self.assertIn(status, (-signal.SIGTERM, 9), f"turn {turn}")
            early += status == -signal.SIGTERM
            for stream in (process.stdout, process.stderr):
                stream.close()
        self.assertGreater(early, 0)

    def test_a_signal_before_the_job_runs_comes_once(self):
        chosen = random.Random(4)
        for turn in range(rounds(100)):
            to_group = turn % 2 == 1
            # SIGURG does nothing to a mapdiag that has not blocked it yet, nor to the test itself.
            process = self.start(self.mapdiag_path, *ON, *self.probe("signals"),
                                 stdin=subprocess.PIPE, start_new_session=True, preexec_fn=block_all)
            time.sleep(chosen.random() * (0.06 if SLOW_MACHINE else 0.006))
            (os.killpg if to_group else os.kill)(process.pid, signal.SIGUSR1)
            self.assertEqual(self.read_line(process), b"ready\n")
            self.assert_next(process, signal.SIGUSR1)
            process.stdin.close()
            self.assertEqual(process.wait(PATIENCE), 0)
            for stream in (process.stdout, process.stderr):
                stream.close()

    def start(self, *command, preexec_fn=None, **how):
        group = self.own_group()
        if preexec_fn is None:
            return super().start(*command, **how)

        def prepare():
            preexec_fn()
            if group:
                group.enter()

        process = subprocess.Popen([os.fspath(w) for w in command], cwd=self.folder,
                                   env=self.environment(), preexec_fn=prepare,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)
        self._started.append(process)
        return process


def block_all():
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())


def wait_until_exec(pid):
    while not os.readlink(f"/proc/{pid}/exe").endswith("mapdiag"):
        pass


class AsWithoutIt(SignalTest):
    """What the job inherits."""

    def assert_same(self, *around, mode=None, **how):
        """`around` is a command that execs what follows it, such as nice."""
        shown = {}
        for name, front in (("plain", []), ("with", [self.mapdiag_path, *(mode or ON)])):
            outcome = self.run_command(*around, *front, *self.probe("state"),
                                       start_new_session=True, **how)
            self.assertEqual(outcome.status, 0, outcome.talk)
            shown[name] = without_changing(outcome.text)
        self.assertEqual(shown["with"], shown["plain"])

    def test_plain(self):
        self.assert_same()

    def test_without_a_log_of_ours(self):
        self.assert_same(mode=[*ON, "--no-log"])

    def test_limits_umask_nice_and_ignored_signals(self):
        self.assert_same("sh", "-c", "umask 027; ulimit -c 77; ulimit -n 333; ulimit -s 4096; "
                         "trap '' INT QUIT USR1 PIPE; exec nice -n 3 \"$@\"", "sh")

    def test_ignored_child_signal_and_blocked_signals(self):
        script = ("import os,signal,sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN);"
                  "signal.pthread_sigmask(signal.SIG_BLOCK, [10, 12, 15, 40]);"
                  "os.execv(sys.argv[1], sys.argv[1:])")
        self.assert_same("python3", "-S", "-c", script)

    def test_inherited_descriptors(self):
        self.assert_same("sh", "-c", 'exec 3</dev/null 4>/dev/null 7<>/dev/zero; exec "$@"', "sh")

    def test_closed_standard_streams(self):
        for closed in ("<&-", ">&-", "2>&-", "<&- 2>&-"):
            with self.subTest(closed=closed):
                script = f'"$@" 5>&1 {closed}'
                shown = {}
                for name, front in (("plain", []), ("with", [self.mapdiag_path, *ON])):
                    outcome = self.run_command("sh", "-c", script, "sh", *front, "sh", "-c",
                                               'ls /proc/$$/fd >&5; echo out; echo err >&2; exit 3')
                    self.assertEqual(outcome.status, 3, outcome)
                    shown[name] = outcome.out
                    if name == "with":
                        log = self.log().replace(b"[diag E]", b"\n[diag E]")
                        for word, stream in ((b"out", ">&-"), (b"err", "2>&-")):
                            expected = 0 if f" {stream}" in f" {closed}" else 1
                            count = sum(line == word for line in log.splitlines())
                            self.assertEqual(count, expected, (word, log))
                self.assertEqual(shown["with"].split(b"\n"), shown["plain"].split(b"\n"))

    def test_a_job_server_of_make(self):
        (self.folder / "Makefile").write_text(
            "all:\n\t+@$(MAPDIAG) $(MAKE) --no-print-directory inner\n"
            "inner: a b c\na b c:\n\t@echo made $@\n")
        words = " ".join(map(str, [self.mapdiag_path, *ON]))
        outcome = self.run_command("make", "-j3", f"MAPDIAG={words}")
        self.assertEqual((outcome.status, outcome.talk), (0, ""))
        self.assertEqual(sorted(outcome.text.split("\n")), ["", "made a", "made b", "made c"])

    def test_stdin_is_the_jobs(self):
        process = self.start(self.mapdiag_path, *ON, "cat", stdin=subprocess.PIPE)
        out, _ = process.communicate(b"\x00data\xff" * 1000, timeout=PATIENCE)
        self.assertEqual(out, b"\x00data\xff" * 1000)

    def test_a_stdin_that_the_job_closes_is_closed(self):
        """Whoever writes to it gets SIGPIPE at once, not when the job ends."""
        process = self.start(self.mapdiag_path, *ON, "sh", "-c",
                             "exec <&-; echo closed; while [ ! -e done ]; do sleep 0.01; done",
                             stdin=subprocess.PIPE)
        self.assertEqual(self.read_line(process), b"closed\n")

        def broken():
            try:
                os.write(process.stdin.fileno(), b"x")
            except BrokenPipeError:
                return True
            return False

        self.wait_until("the pipe to the job is broken", broken)
        (self.folder / "done").touch()
        self.assertEqual(process.wait(PATIENCE), 0)
        process.stdin = None

    def test_a_descriptor_that_the_job_closes_is_closed(self):
        """Whoever reads from it sees the end at once."""
        for number in (1, 5):
            with self.subTest(descriptor=number):
                (self.folder / "done").unlink(missing_ok=True)
                reader, writer = os.pipe()
                process = self.start(
                    "sh", "-c", f'exec {number}>&{writer} {writer}>&-; exec "$@"', "sh",
                    self.mapdiag_path, *ON, "sh", "-c",
                    f"exec {number}>&-; while [ ! -e done ]; do sleep 0.01; done",
                    pass_fds=[writer], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                os.close(writer)
                with open(reader, "rb") as stream:
                    got = self.read_with_patience(stream)
                (self.folder / "done").touch()
                self.assertEqual(got, b"")
                self.assertEqual(process.wait(PATIENCE), 0)

    def read_with_patience(self, stream):
        if not select.select([stream], [], [], PATIENCE)[0]:
            self.fail("the stream did not end")
        return stream.read(1)


def without_changing(text):
    """Leaves out what differs from one start to the next."""
    text = re.sub(r"(?m)^(session|SigPnd|ShdPnd|environment (_|SHLVL)=).*\n", "", text)
    # The job's stdout and stderr are pipes of mapdiag's, opened as pipes are.
    return re.sub(r"(?m)^(descriptor [12] kind \d+ ).*\n", r"\1\n", text)


class OnATerminal(SignalTest):
    """Keys that a person presses."""

    def setUp(self):
        super().setUp()
        self._terminals = []
        # Before the leak check.
        self.addCleanup(lambda: [t.close() for t in self._terminals])

    def terminal(self, *command):
        environment = self.environment({"PS1": "$ ", "TERM": "dumb", "HISTFILE": "/dev/null"})
        terminal = Terminal(list(command), self.folder, environment, self.own_group(), PATIENCE)
        self._terminals.append(terminal)
        return terminal

    def shell(self):
        """An interactive shell with job control, which calls mapdiag as `m`."""
        shell = self.terminal("bash", "--norc", "--noprofile", "-i")
        words = " ".join(map(str, [self.mapdiag_path, *ON]))
        shell.type(f"m() {{ {words} \"$@\"; }}; p={self.probe_path}; stty -echo; echo re''ady\n")
        shell.expect("ready")
        return shell

    def test_interrupt_and_quit(self):
        for key, number in (("\x03", 2), ("\x1c", 3)):
            with self.subTest(signal=number):
                shell = self.shell()
                shell.type("ulimit -c 0; m sh -c 'echo u''p; while :; do sleep 0.1; done'\n")
                shell.expect("up")
                shell.type(key)
                # An interrupted shell forgets what stood behind the command: on a line of its own.
                shell.expect("$ ")
                shell.type("echo status $?.\n")
                shell.expect(f"status {128 + number}.")
                shell.type("exit 0\n")
                self.assertEqual(shell.wait(), 0)

    def test_interrupt_comes_once_and_the_job_may_handle_it(self):
        shell = self.shell()
        shell.type("m $p signals\n")
        shell.expect("ready")
        shell.type("\x03")
        shell.expect("got 2 kernel 0")
        shell.type("\x1c")
        self.assertNotIn("got 2", shell.expect("got 3 kernel 0"))
        shell.type("\x04")  # end of input: the job leaves
        shell.type("echo status $?.\n")
        self.assertNotIn("got", shell.expect("status 0."))

    def test_suspend_and_foreground(self):
        shell = self.shell()
        # No job that starts others: a stop between vfork and exec holds the parent, with or without
        # mapdiag.
        os.mkfifo(self.folder / "go")
        shell.type("m sh -c 'echo u''p; read word <go; exit 6'; echo status $?.\n")
        shell.expect("up")
        for _ in range(3):
            shell.type("\x1a")
            shell.expect("status 148.")
            shell.type("jobs -s; echo a''gain\n")
            self.assertIn("Stopped", shell.expect("again"))
            self.wait_until("all stopped",
                            lambda: all(state_of(pid) == "T" for pid in self.job_processes()))
            shell.type("fg; echo status $?.\n")
            shell.expect("mapdiag")
            self.wait_until("the job runs again",
                            lambda: all(state_of(pid) != "T" for pid in self.job_processes()))
        (self.folder / "go").write_text("on\n")
        shell.expect("status 6.")

    def test_suspend_background_and_terminate(self):
        shell = self.shell()
        shell.type("m sh -c 'trap \"exit 5\" TERM; echo u''p; while :; do :; done'\n")
        shell.expect("up")
        shell.type("\x1a")
        shell.expect("Stopped")
        shell.type("kill %1; wait %1; echo status $?.\n")
        # The shell that was stopped may still have to be told to go on.
        shell.type("fg; wait; echo sta''tus $?.\n")
        shell.expect("status ")
        self.wait_until("nothing of the job runs", lambda: not self.job_processes())

    def test_a_background_job_that_reads_the_terminal_stops(self):
        shell = self.shell()
        shell.type("m sh -c 'read x; exit 7' &\n")
        self.wait_until("stopped", lambda: self.job_processes() and all(
            state_of(pid) == "T" for pid in self.job_processes()))
        shell.type("fg; echo status $?.\n")
        shell.expect("exit 7'")
        shell.type("line\n")
        shell.expect("status 7.")

    def test_window_change(self):
        import fcntl
        import struct
        import termios
        shell = self.shell()
        shell.type("m $p signals\n")
        shell.expect("ready")
        fcntl.ioctl(shell.master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        shell.expect("got 28")
        shell.type("\x03")
        self.assertNotIn("got 28", shell.expect("got 2 "))

    def test_hang_up(self):
        for signals in (True, False):
            with self.subTest(handles=signals):
                shell = self.shell()
                if signals:
                    shell.type("m sh -c 'trap \"echo hup >>hup; exit 5\" HUP; echo u''p; "
                               "while :; do sleep 0.05; done'\n")
                else:
                    shell.type("m sh -c 'echo u''p; while :; do sleep 0.05; done'\n")
                shell.expect("up")
                shell.hang_up()
                shell.wait()
                self.wait_until("nothing of the job runs", lambda: not self.marked_processes())
                if signals:
                    self.assertEqual((self.folder / "hup").read_text(), "hup\n")

    def test_the_terminal_is_the_jobs(self):
        shell = self.shell()
        shell.type(f"{RUN and ''}m --no-log $p state >with; $p state >plain; echo do''ne\n")
        shell.expect("done")
        texts = {name: re.sub(r"(?m)^(session|terminal yes group|environment (_|LINES|COLUMNS)=).*\n", "",
                              without_changing((self.folder / name).read_text()))
                 for name in ("with", "plain")}
        self.assertEqual(texts["with"], texts["plain"])
        # In the foreground: the terminal's group is the job's own.
        facts = (self.folder / "with").read_text()
        self.assertEqual(re.search(r"terminal yes group (\d+)", facts)[1],
                         re.search(r"session \d+ group (\d+)", facts)[1])

    def job_processes(self):
        """mapdiag and its job, which stop and go on; helpers of mapdiag's sleep on."""
        return [pid for pid in self.marked_processes()
                if pid not in {t.pid for t in self._terminals}
                and not name_of(pid).endswith(("watcher", "witness"))]


def state_of(pid):
    try:
        text = open(f"/proc/{pid}/stat", encoding="utf8").read()
    except OSError:
        return "gone"
    return text[text.rindex(")") + 2]


def name_of(pid):
    try:
        return open(f"/proc/{pid}/comm", encoding="utf8").read().strip()
    except OSError:
        return ""


class Senders(SignalTest):
    def test_timeout(self):
        outcome = self.run_command("timeout", "0.3", self.mapdiag_path, *ON, "sleep", "60")
        self.assertEqual(outcome, (124, b"", b""))

    def test_timeout_of_a_job_that_handles_it(self):
        script = 'trap "echo term; exit 5" TERM; while :; do sleep 0.02; done'
        outcome = self.run_command("timeout", "--preserve-status", "0.5" if not SLOW_MACHINE else "5",
                                   self.mapdiag_path, *ON, "sh", "-c", script)
        self.assertEqual((outcome.status, outcome.out), (5, b"term\n"))

    def test_timeout_that_kills(self):
        outcome = self.run_command(
            "timeout", "-k", "0.3", "0.5" if not SLOW_MACHINE else "5", self.mapdiag_path, *ON, "sh", "-c",
            'trap "" TERM; echo $$ >job; while :; do sleep 0.02; done')
        self.assertEqual(outcome.status, -signal.SIGKILL)
        self.wait_until("nothing of the job runs", lambda: not self.marked_processes())

    def test_make_that_is_interrupted(self):
        (self.folder / "Makefile").write_text(
            "target:\n\t@touch target; $(MAPDIAG) sh -c 'echo up; while :; do sleep 0.05; done'\n")
        words = " ".join(map(str, [self.mapdiag_path, *ON]))
        process = self.start("make", f"MAPDIAG={words}", start_new_session=True)
        self.assertEqual(self.read_line(process), b"up\n")
        os.killpg(process.pid, signal.SIGINT)
        self.assertEqual(process.wait(PATIENCE), -signal.SIGINT)
        self.assertFalse((self.folder / "target").exists())

    def test_a_stopped_group_that_is_terminated(self):
        process = self.start(self.mapdiag_path, *ON, "sleep", "60", start_new_session=True)
        self.wait_until("the job runs", lambda: len(self.marked_processes()) >= 4)
        os.killpg(process.pid, signal.SIGSTOP)
        self.wait_until("stopped", lambda: state_of(process.pid) == "T")
        os.killpg(process.pid, signal.SIGTERM)
        os.killpg(process.pid, signal.SIGCONT)
        self.assertEqual(process.wait(PATIENCE), -signal.SIGTERM)

    def test_stopped_and_continued_is_no_end(self):
        process = self.start(self.mapdiag_path, *ON, "sh", "-c", "read x; exit 6",
                             stdin=subprocess.PIPE, start_new_session=True)
        self.wait_until("the job runs", lambda: len(self.marked_processes()) >= 4)
        for number in (signal.SIGSTOP, signal.SIGTSTP):
            os.killpg(process.pid, number)
            if number == signal.SIGSTOP:  # SIGTSTP does nothing in an orphaned group
                self.wait_until("stopped", lambda: state_of(process.pid) == "T")
            os.killpg(process.pid, signal.SIGCONT)
        process.stdin.close()
        self.assertEqual(process.wait(PATIENCE), 6)

    def test_a_job_that_stops_first(self):
        """A terminal tells the processes of a group one after the other, and the job may be first."""
        process = self.start(self.mapdiag_path, *ON, "sh", "-c", "echo $$; read x; exit 6",
                             stdin=subprocess.PIPE, process_group=0)
        job = int(self.read_line(process))
        for pid in (job, process.pid):
            os.kill(pid, signal.SIGTSTP)
            self.wait_until("stopped", lambda pid=pid: state_of(pid) == "T")
        os.killpg(process.pid, signal.SIGCONT)
        process.stdin.close()
        self.assertEqual(process.wait(PATIENCE), 6)


class Killed(SignalTest):
    """mapdiag is killed by SIGKILL: the job does not go on alone, and nothing stays."""

    def end(self, process, whole_group):
        (os.killpg if whole_group else os.kill)(process.pid, signal.SIGKILL)
        self.assertEqual(process.wait(PATIENCE), -signal.SIGKILL)
        self.wait_until("nothing of the job runs", lambda: not self.marked_processes())
        self.wait_until("no group stays", lambda: not self.base.leaks(self._groups))

    def test_while_the_job_runs(self):
        for whole_group in (False, True):
            with self.subTest(whole_group=whole_group):
                process = self.start(self.mapdiag_path, *ON, "sh", "-c",
                                     "sleep 60 & setsid sleep 60 & echo output; wait",
                                     start_new_session=True)
                self.assertEqual(self.read_line(process), b"output\n")
                self.wait_until("it is in the log", lambda: self.log() == b"output\n")
                self.end(process, whole_group)
                self.assertTrue(self.log().startswith(b"output\n"))
                self.assertRegex(self.diag()[-1], r"killed by SIGKILL|mapdiag (itself )?was killed")

    def test_stopped_when_killed(self):
        process = self.start(self.mapdiag_path, *ON, "sh", "-c", "echo up; sleep 60",
                             start_new_session=True)
        self.assertEqual(self.read_line(process), b"up\n")
        os.killpg(process.pid, signal.SIGSTOP)
        self.wait_until("stopped", lambda: state_of(process.pid) == "T")
        self.end(process, False)

    def test_at_any_moment(self):
        chosen = random.Random(5)
        for turn in range(rounds(160)):
            process = self.start(self.mapdiag_path, *ON, "sh", "-c", "sleep 0.001 & sleep 60",
                                 start_new_session=True)
            wait_until_exec(process.pid)
            time.sleep(chosen.random() * (0.08 if SLOW_MACHINE else 0.008))
            self.end(process, turn % 2 == 1)
            for stream in (process.stdout, process.stderr):
                stream.close()

    @not_for_slow_machines
    def test_at_any_moment_of_its_end(self):
        chosen = random.Random(6)
        for turn in range(rounds(100)):
            process = self.start(self.mapdiag_path, *ON, "sh", "-c", "sleep 60 & exit 3",
                                 start_new_session=True)
            wait_until_exec(process.pid)
            time.sleep(0.002 + chosen.random() * 0.012)
            (os.killpg if turn % 2 else os.kill)(process.pid, signal.SIGKILL)
            process.wait(PATIENCE)
            self.wait_until("nothing of mapdiag's runs", lambda: not [
                pid for pid in self.marked_processes() if name_of(pid) != "sleep"])
            for pid in self.marked_processes():
                os.kill(pid, signal.SIGKILL)
            self.wait_until("all gone", lambda: not self.marked_processes())
            self.wait_until("no group stays", lambda: not self.base.leaks(self._groups))
            for stream in (process.stdout, process.stderr):
                stream.close()
