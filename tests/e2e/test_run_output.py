"""The job's output passes through unchanged and at once, and a copy of it is the log."""

import fcntl
import os
import re
import resource
import signal
import subprocess
import threading
import time

from cgroups import PLAIN, V1_ROOT, V2_ROOT, V2_USER
from harness import (ON, PATIENCE, RUN, SLOW_MACHINE, MapdiagTest, not_for_slow_machines,
                     placements)

MIB = 1 << 20


def noise(size, seed):
    """What `probe bytes SIZE SEED` writes."""
    out, value = bytearray(), seed
    for _ in range(size):
        value = (value * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
        out.append(value >> 56)
    return bytes(out)


class OutputTest(MapdiagTest):
    def in_memory(self, folder):
        """Whether the folder's files are kept in memory (tmpfs)."""
        return self.run_command("stat", "-f", "-c", "%T", folder).text.strip() == "tmpfs"

    def output_in_log(self, entity="E"):
        """The log without the diag lines at its end."""
        log = self.log(entity)
        at = log.find(f"[diag {entity}] ".encode())
        return log if at < 0 else log[:at]


class Unchanged(OutputTest):
    def test_every_byte_value_on_both_sides(self):
        every = bytes(range(256)) * 40 + b"\r\r\n\x00\xff\xfe no line end"
        (self.folder / "bytes").write_bytes(every)
        outcome = self.mapdiag(*ON, "sh", "-c", "cat bytes; cat bytes >&2; exit 3")
        self.assertEqual(outcome, (3, every, every))
        both = self.output_in_log()
        self.assertEqual(len(both.rstrip(b"\n")), 2 * len(every))

    def test_random_bytes(self):
        size = 3_000_000 if not SLOW_MACHINE else 300_000
        plain = self.run_command(*self.probe("bytes", size, 9)).out
        self.assertEqual(plain[:200], noise(200, 9))
        outcome = self.mapdiag(*ON, *self.probe("bytes", size, 9))
        self.assertTrue(outcome.out == plain and outcome.err == b"")
        self.assertTrue(self.log().startswith(plain))

    def test_both_sides_on_one_pipe_keep_their_order(self):
        outcome = self.run_command(
            "sh", "-c", '"$@" 2>&1', "sh", self.mapdiag_path, *ON, "sh", "-c",
            "i=0; while [ $i -lt 300 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done")
        expected = "".join(f"o{i}\ne{i}\n" for i in range(300)).encode()
        self.assertEqual(outcome.out, expected)
        self.assertEqual(self.output_in_log(), expected)

    def test_both_sides_in_one_file_keep_their_order(self):
        self.run_command(
            "sh", "-c", '"$@" >both 2>&1', "sh", self.mapdiag_path, *ON, "sh", "-c",
            "i=0; while [ $i -lt 300 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done")
        expected = "".join(f"o{i}\ne{i}\n" for i in range(300)).encode()
        self.assertEqual((self.folder / "both").read_bytes(), expected)

    def test_sides_stay_apart(self):
        outcome = self.mapdiag(*ON, "sh", "-c", "echo out; echo err >&2")
        self.assertEqual((outcome.out, outcome.err), (b"out\n", b"err\n"))
        self.assertEqual(sorted(self.output_in_log().split()), [b"err", b"out"])

    def test_small_writes_of_many_processes_stay_whole(self):
        count = 400 if not SLOW_MACHINE else 60
        probe = self.probe_path
        script = "for t in a b c d e f g h; do %s lines %d $t$t$t$t & done; wait" % (probe, count)
        outcome = self.mapdiag(*ON, "sh", "-c", script)
        expected = sorted(f"{t * 4} {i}".encode() for t in "abcdefgh" for i in range(count))
        self.assertEqual(sorted(outcome.out.splitlines()), expected)
        self.assertEqual(sorted(self.output_in_log().splitlines()), expected)

    def test_an_appended_file_is_appended_to(self):
        (self.folder / "kept").write_text("before\n")
        self.run_command("sh", "-c", '"$@" >>kept', "sh", self.mapdiag_path, *ON, "echo", "after")
        self.assertEqual((self.folder / "kept").read_text(), "before\nafter\n")

    def test_no_log(self):
        outcome = self.mapdiag(*ON, "--no-log", "sh", "-c", "echo out; echo err >&2; exit 3")
        self.assertEqual(outcome, (3, b"out\n", b"err\n"))
        self.assertFalse((self.folder / "logs/E.log").exists())

    def test_a_log_of_an_earlier_run_is_replaced(self):
        self.mapdiag(*ON, "sh", "-c", "echo a long first output")
        self.mapdiag(*ON, "echo", "second")
        self.assertEqual(self.output_in_log(), b"second\n")

    def test_entity_names_become_file_names(self):
        names = ["a/b", "..", "a b", "-x", "q\"\u00e9", "a\nb", "a_b", "a%2Fb", "x" * 300]
        for name in names:
            outcome = self.mapdiag(*RUN, "--quiet", f"--entity={name}", "echo", name)
            self.assertEqual(outcome.status, 0, outcome)
        logs = list((self.folder / "logs").rglob("*.log"))
        self.assertEqual(len(logs), len(names))
        self.assertEqual({path.parent for path in logs}, {self.folder / "logs"})


class AtOnce(OutputTest):
    def test_a_part_of_a_line_is_not_held_back(self):
        process = self.start(self.mapdiag_path, *ON, "sh", "-c", "printf '10%%\\r'; read x; printf end",
                             stdin=subprocess.PIPE)
        self.assertEqual(os.read(process.stdout.fileno(), 100), b"10%\r")
        self.wait_until("it is in the log too", lambda: self.log() == b"10%\r")
        process.stdin.write(b"\n")
        self.assertEqual(self.finish(process).out, b"end")

    def test_a_slow_reader_of_stdout_does_not_hold_stderr(self):
        process = self.start(self.mapdiag_path, *ON, "sh", "-c",
                             f"{self.probe_path} bytes 4000000 1 & echo err >&2; wait; echo end >&2")
        self.assertEqual(os.read(process.stderr.fileno(), 100), b"err\n")
        outcome = self.finish(process)
        self.assertEqual((len(outcome.out), outcome.err), (4000000, b"end\n"))

    def test_nothing_is_lost_to_a_reader_that_is_slow_after_the_end(self):
        process = self.start(self.mapdiag_path, *ON, *self.probe("bytes", 900_000, 4))
        self.wait_until("the job has ended", lambda: not self.probes())
        time.sleep(0.4)  # longer than mapdiag waits for a silent pipe
        self.assertEqual(len(self.finish(process).out), 900_000)

    @placements(V1_ROOT, V2_ROOT, V2_USER)
    def test_constant_memory(self):
        """What passes is many times the memory that mapdiag and the job may have together."""
        size = 1024 * MIB if not SLOW_MACHINE else 64 * MIB
        memory = 24 + (size // MIB if self.in_memory(self.folder) else 0)  # the log itself counts there
        outcome = self.run_command("sh", "-c", '"$@" >/dev/null', "sh", self.mapdiag_path, *ON,
                                   "head", "-c", str(size), "/dev/zero", group=self.limited_group(memory))
        self.assertEqual(outcome.status, 0, outcome)
        with open(self.folder / "logs/E.log", "rb") as log:
            log.seek(size)
            self.assertTrue(log.read(100).startswith(b"\n[diag E] "))
        os.unlink(self.folder / "logs/E.log")


class Readers(OutputTest):
    """Those who read mapdiag's output, and what the job learns of them."""

    def test_a_reader_that_leaves_ends_the_job(self):
        plain = self.run_command("bash", "-c", "yes | head -1; echo ${PIPESTATUS[0]}")
        shown = self.run_command("bash", "-c", '"$@" | head -1; echo ${PIPESTATUS[0]}', "bash",
                                 self.mapdiag_path, *ON, "yes")
        self.assertEqual(shown, plain)

    def test_a_reader_that_leaves_where_the_pipe_signal_is_ignored(self):
        """The job sees the failed write."""
        shown = self.run_command(
            "bash", "-c", 'trap "" PIPE; "$@" | head -1; echo ${PIPESTATUS[0]}', "bash",
            self.mapdiag_path, *ON, "yes")
        self.assertEqual(shown.text, "y\n1\n")
        self.assertIn("yes: ", shown.talk)

    def test_a_reader_of_one_side_that_leaves_does_not_touch_the_other(self):
        process = self.start(self.mapdiag_path, *ON, "sh", "-c",
                             "trap '' PIPE; echo 1; read x; echo 2; read x; echo 3 >&2; exit 4",
                             stdin=subprocess.PIPE)
        self.assertEqual(self.read_line(process), b"1\n")
        process.stdout.close()
        process.stdin.write(b"\n\n")
        _, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 4)
        self.assertTrue(err.endswith(b"3\n"), err)

    def test_non_blocking_output(self):
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        process = self.start(self.mapdiag_path, *ON, *self.probe("bytes", 1_000_000, 5),
                             stdout=writer)
        os.close(writer)
        time.sleep(0.1)  # the pipe fills
        with open(reader, "rb") as stream:
            got = stream.read()
        self.assertEqual(process.wait(PATIENCE), 0)
        self.assertEqual(len(got), 1_000_000)

    def test_a_full_disk_behind_stdout(self):
        outcome = self.run_command("sh", "-c", '"$@" >/dev/full', "sh", self.mapdiag_path, *ON,
                                   "sh", "-c", "trap '' PIPE; echo x; sleep 0.05; echo x || exit 7")
        self.assertNotEqual(outcome.status, 0)


class LogInTrouble(OutputTest):
    """Whatever happens to the log, the job's output and status are its own."""

    def run_job(self, *options, entity="E", **how):
        outcome = self.mapdiag(*RUN, "--entity", entity, *options, "--", "sh", "-c",
                               "echo out; echo err >&2; exit 3", **how)
        self.assertEqual((outcome.status, outcome.out), (3, b"out\n"))
        self.assertIn("err\n", outcome.talk)
        return outcome

    def assert_said(self, outcome, pattern):
        self.assertRegex(outcome.talk, f"(?im){pattern}")

    def test_missing_folder_is_made(self):
        self.run_job("--log-dir", "a/b c/d")
        self.assertTrue((self.folder / "a/b c/d/E.log").exists())

    def test_folder_is_a_file(self):
        (self.folder / "logs").write_text("kept")
        self.assert_said(self.run_job(), r"\[diag E\].*log.*(not a directory|file exists)")
        self.assertEqual((self.folder / "logs").read_text(), "kept")

    def test_unwritable_folder(self):
        if os.geteuid() == 0:
            folder = "/proc/self/nowhere"
        else:
            folder = self.folder / "closed"
            folder.mkdir(mode=0o500)
        self.assert_said(self.run_job("--log-dir", folder),
                         r"\[diag E\].*log.*(permission denied|no such file)")

    def test_log_is_a_folder(self):
        (self.folder / "logs/E.log").mkdir(parents=True)
        self.assert_said(self.run_job(), r"\[diag E\].*log.*is a directory")

    def test_log_is_a_fifo(self):
        (self.folder / "logs").mkdir()
        os.mkfifo(self.folder / "logs/E.log")
        self.assert_said(self.run_job(), r"\[diag E\].*log")

    def test_log_is_a_fifo_that_nobody_reads_from(self):
        (self.folder / "logs").mkdir()
        os.mkfifo(self.folder / "logs/E.log")
        reader = os.open(self.folder / "logs/E.log", os.O_RDONLY | os.O_NONBLOCK)
        outcome = self.mapdiag(*ON, *self.probe("bytes", 300_000, 1))
        os.close(reader)
        self.assertEqual((outcome.status, len(outcome.out)), (0, 300_000))

    def test_log_is_a_link(self):
        (self.folder / "logs").mkdir()
        (self.folder / "logs/E.log").symlink_to("../elsewhere")
        self.run_job()
        self.assertIn(b"out\n", (self.folder / "elsewhere").read_bytes())

    def test_full_disk(self):
        (self.folder / "logs").mkdir()
        (self.folder / "logs/E.log").symlink_to("/dev/full")
        self.assert_said(self.run_job(), r"\[diag E\].*log.*no space left")

    @placements(V1_ROOT, V2_ROOT)
    def test_disk_that_fills_up(self):
        size = 700_000
        job = " ".join(map(str, self.probe("bytes", size, 2)))
        words = " ".join(map(str, [self.mapdiag_path, *RUN, "--entity", "E"]))
        outcome = self.run_command(
            "unshare", "-m", "sh", "-c",
            f"mkdir logs && mount -t tmpfs -o size=256k none logs && {words} {job}; s=$?; "
            "cat logs/E.log >begin; exit $s")
        self.assertEqual((outcome.status, len(outcome.out)), (0, size))
        self.assert_said(outcome, r"\[diag E\].*log.*no space left")
        begin = (self.folder / "begin").read_bytes()
        self.assertTrue(outcome.out.startswith(begin) and len(begin) > 100_000)

    @placements(V1_ROOT, V2_ROOT)
    def test_no_inodes_left(self):
        words = " ".join(map(str, [self.mapdiag_path, *RUN, "--entity", "E"]))
        outcome = self.run_command(
            "unshare", "-m", "sh", "-c",
            f"mkdir logs && mount -t tmpfs -o nr_inodes=1 none logs && {words} sh -c 'echo out; exit 3'")
        self.assertEqual((outcome.status, outcome.out), (3, b"out\n"))
        self.assert_said(outcome, r"\[diag E\].*log.*no space left")

    def test_a_file_size_limit(self):
        """The kernel would end mapdiag by SIGXFSZ for writing too much into its log."""
        outcome = self.run_command("bash", "-c", 'ulimit -f 64; "$@"', "bash", self.mapdiag_path, *RUN,
                                   "--entity", "E", *self.probe("bytes", 300_000, 1))
        self.assertEqual((outcome.status, len(outcome.out)), (0, 300_000))
        self.assert_said(outcome, r"\[diag E\].*log.*file too large")


class HeldPipes(OutputTest):
    """A process that the job left behind keeps the pipe open."""

    def test_a_silent_one_does_not_hold_mapdiag(self):
        process = self.start(self.mapdiag_path, *RUN, "--entity", "E", "sh", "-c",
                             f"{self.probe_path} run pid & while [ ! -e pid ]; do sleep 0.01; done; "
                             "echo out; exit 4")
        self.assertEqual(process.wait(PATIENCE), 4)
        self.assertEqual(process.stdout.read(), b"out\n")
        pid = int((self.folder / "pid").read_text())
        os.kill(pid, 0)  # it lives
        self.assertRegex("\n".join(self.diag()), rf"(?i){pid}\b")
        self.assertRegex("\n".join(self.diag()), r"(?i)probe")
        os.kill(pid, signal.SIGKILL)

    def test_one_that_writes_later_is_not_killed_by_it(self):
        with open(self.folder / "err", "wb") as err:
            process = self.start(
                self.mapdiag_path, *ON, "sh", "-c",
                "(trap '' TERM; while [ ! -e go ]; do sleep 0.02; done; "
                "i=0; while [ $i -lt 50 ]; do echo later $i; i=$((i+1)); done; echo done >finished) & exit 4",
                stderr=err)
            self.assertEqual(process.wait(PATIENCE), 4)
        process.stdout.read()  # the end is there though the process lives
        (self.folder / "go").touch()
        self.wait_until("it finished", lambda: (self.folder / "finished").exists())
        self.wait_until("all gone", lambda: not self.marked_processes())

    def test_one_that_keeps_writing_ends_the_wait_too(self):
        process = self.start(self.mapdiag_path, *ON, "sh", "-c",
                             "(while [ ! -e done ]; do echo more; sleep 0.02; done) & exit 4")
        end = time.monotonic() + 30
        status = process.wait(30) if not SLOW_MACHINE else process.wait(PATIENCE)
        self.assertEqual(status, 4)
        self.assertLess(time.monotonic(), end + PATIENCE)
        (self.folder / "done").touch()
        self.wait_until("all gone", lambda: not self.marked_processes())


class FewProcesses(OutputTest):
    """RLIMIT_NPROC, which counts threads too: it holds for ordinary users only."""

    @placements(V1_ROOT, V2_ROOT)
    def test_no_process_or_thread_can_be_made(self):
        user = 54321  # nobody else's processes count
        os.chmod(self.folder, 0o777)
        for most in range(1, 12):
            with self.subTest(processes=most):
                outcome = self.run_command(
                    "setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups",
                    "bash", "-c", f'ulimit -u {most}; exec "$@"', "bash", self.mapdiag_path, *ON,
                    *self.probe("exit", 5))
                if outcome.status != 5:
                    self.assertEqual((outcome.status, outcome.text, outcome.talk.count("\n")),
                                     (125, "", 1), outcome.talk)
        self.assertEqual(outcome.status, 5)
