"""`mapdiag run` with a real py-spy on real Pythons. Run by `scripts/test profiler`.

PROFILER_TOOLS names the folder with the py-spy and the uv to use.
"""

import os
import pathlib
import re
import shlex
import signal
import sys

from cgroups import V1_ROOT, V2_ROOT
from harness import MapdiagTest, placements

TOOLS = pathlib.Path(os.environ["PROFILER_TOOLS"])
STEP = pathlib.Path(__file__).with_name("step.py")
# The system's own: what is not below somebody's home can be read by every user.
PYTHON = sys.executable
AS_ROOT = (V1_ROOT, V2_ROOT)

# Words that only py-spy says.
TALK = (b"py-spy>", b"Sampling process", b"Wrote raw", b"Stack backtrace")

FOUND = {"PATH": f"{TOOLS}:/usr/bin:/bin"}
NOT_FOUND = {"PATH": "/usr/bin:/bin"}


def step(*words, python=PYTHON):
    return [python, STEP, *words]


class ProfilerTest(MapdiagTest):
    def profile(self, *job, options=(), status=0, env=None, entity="E"):
        """Runs the job and gives the diag lines on the profile, after a look at what always holds."""
        outcome = self.mapdiag("run", "--profile", "--entity", entity, *options, "--", *job,
                               env={**FOUND, **(env or {})})
        self.assertEqual(outcome.status, status, outcome)
        self.assert_no_talk(outcome, entity)
        lines = [line for line in self.diag(entity) if line.startswith("profile: ")]
        self.assert_folded_as_told(lines, entity)
        return lines

    def assert_no_talk(self, outcome, entity):
        for words in TALK:
            for stream in (outcome.out, outcome.err, self.log(entity)):
                self.assertNotIn(words, stream)
        ours = f"[diag {entity}] ".encode()
        theirs = b"".join(line for line in self.log(entity).splitlines(True)
                          if not line.startswith(ours))
        self.assertEqual(outcome.out, theirs)
        # Nothing of py-spy's own stays beside the results.
        for path in (self.folder / "logs").iterdir():
            self.assertRegex(path.name, r"^[EF]\.(log|diag\.jsonl|folded)$")

    def assert_folded_as_told(self, lines, entity):
        """A profile is whole, sorted and of as many samples as told; what is none leaves no file."""
        path = self.folder / "logs" / f"{entity}.folded"
        told = re.search(r"^profile: logs/\S+\.folded: ([\d ]+) samples? in ([\d ]+) stacks?, ",
                         "\n".join(lines), re.M)
        self.assertEqual(path.exists(), told is not None, lines)
        if not told:
            self.assertTrue(not lines or lines[0].startswith("profile: none: "), lines)
            return
        stacks = self.folded(entity)
        self.assertEqual(list(stacks), sorted(stacks))
        self.assertEqual(sum(stacks.values()), int(told.group(1).replace(" ", "")))
        self.assertEqual(len(stacks), int(told.group(2).replace(" ", "")))

    def folded(self, entity="E"):
        """{stack: samples} of the profile."""
        text = (self.folder / "logs" / f"{entity}.folded").read_text()
        self.assertTrue(text.endswith("\n"))
        stacks = {}
        for line in text.splitlines():
            stack, count = line.rsplit(" ", 1)
            self.assertNotIn(stack, stacks)
            stacks[stack] = int(count)
            self.assertGreater(stacks[stack], 0)
        return stacks

    def samples_in(self, function, entity="E"):
        return sum(count for stack, count in self.folded(entity).items() if f"{function} (" in stack)

    def processes(self, lines):
        return [line for line in lines if line.startswith("profile: process ")]

    def warnings(self, entity="E"):
        return [line for line in self.diag(entity) if line.startswith("warning: ")]

    def fake(self, text):
        """A py-spy of the test's own: a shell script, in which $pid is what it is to profile, $out
        the file to write and $real the real one."""
        path = self.folder / "fake-py-spy"
        path.write_text('#!/bin/sh\nreal=' + shlex.quote(str(TOOLS / "py-spy")) + '\n'
                        'if [ "$1" = --version ]; then echo "py-spy 9.9.9"; exit; fi\n'
                        'for word in "$@"; do\n'
                        '  case $last in --pid) pid=$word ;; --output) out=$word ;; esac; last=$word\n'
                        'done\n'
                        + text + "\n")
        path.chmod(0o755)
        return ["--py-spy", path]


class Launchers(ProfilerTest):
    """The real Python is found by its executable, wherever below the job it is."""

    def assert_one_python(self, lines):
        self.assertEqual(len(self.processes(lines)), 1, lines)
        self.assertRegex(self.processes(lines)[0],
                         r"^profile: process \d+ \(step\.py(, Python 3\.\d+)?\): \d+ samples in [0-9.]+ s, "
                         r"from [0-9.]+ s after its start$")
        self.assertGreater(self.samples_in("busy_part"), 20)
        self.assertGreater(self.samples_in("main"), 20)

    def test_directly(self):
        lines = self.profile(*step("say", "hello", "busy", "0.8"))
        self.assert_one_python(lines)
        self.assertIn("samples in", lines[0])
        self.assertTrue(lines[0].endswith(" stacks, 100 a second, wall clock (waiting counts too)"), lines)
        self.assertIn(f"profile: taken by py-spy 0.4.3, {TOOLS}/py-spy (found in PATH)", lines)

    def test_under_a_shell(self):
        self.assert_one_python(self.profile(
            "sh", "-c", 'true; "$@"; exit 3', "sh", *step("busy", "0.8"), status=3))

    def test_a_shell_that_becomes_it(self):
        self.assert_one_python(self.profile("sh", "-c", 'exec "$@"', "sh", *step("busy", "0.8")))

    def test_in_a_venv(self):
        self.run_command(PYTHON, "-m", "venv", "--without-pip", "venv")
        self.assert_one_python(self.profile(*step("busy", "0.8", python="venv/bin/python")))

    def test_a_console_script(self):
        script = self.folder / "step.py"
        script.write_text(f"#!{PYTHON}\n" + STEP.read_text())
        script.chmod(0o755)
        self.assert_one_python(self.profile(script, "busy", "0.8"))

    def test_behind_a_pyenv_shim(self):
        """The shim is a shell script that becomes pyenv, another one, which becomes the Python."""
        for folder in ("shims", "libexec", "versions/bin"):
            (self.folder / folder).mkdir(parents=True)
        (self.folder / "versions/bin/python").symlink_to(PYTHON)
        for name, text in (
                ("shims/python", 'exec "$ROOT/libexec/pyenv" exec "${0##*/}" "$@"'),
                ("libexec/pyenv", 'shift; name=$1; shift; PATH="$ROOT/versions/bin:$PATH"; '
                                  'whereis true >/dev/null; exec "$name" "$@"')):
            (self.folder / name).write_text(f"#!/usr/bin/env bash\nset -e\n{text}\n")
            (self.folder / name).chmod(0o755)
        self.assert_one_python(self.profile(
            *step("busy", "0.8", python="python"),
            env={"ROOT": str(self.folder), "PATH": f"{self.folder}/shims:{FOUND['PATH']}"}))

    def test_uv_run(self):
        """uv's own short Pythons, which it asks about themselves, are no map step."""
        (self.folder / "pyproject.toml").write_text(
            '[project]\nname = "step"\nversion = "0"\nrequires-python = ">=3.11"\n')
        self.assert_one_python(self.profile(
            "uv", "run", "--offline", "--quiet", "--python", PYTHON, *step("busy", "0.8", python="python")))

    def test_by_timeout_and_env(self):
        self.assert_one_python(self.profile("timeout", "60", "env", "X=1", *step("busy", "0.8")))


class Options(ProfilerTest):
    def test_rate(self):
        lines = self.profile(*step("busy", "1"), options=["--rate", "20"])
        self.assertIn(" stacks, 20 a second, wall clock", lines[0])
        # A fifth of the usual: too few for shares, which is said.
        self.assertTrue([w for w in self.warnings() if "too few for shares of single functions" in w])

    def test_waiting_counts_unless_only_busy_time_is_asked_for(self):
        job = step("busy", "0.6", "wait", "0.6")
        self.profile(*job, options=["--idle"])
        self.assertGreater(self.samples_in("waiting_part"), 20)
        lines = self.profile(*job, options=["--cpu"], entity="F")
        self.assertIn("busy time only (waiting is left out)", lines[0])
        self.assertGreater(self.samples_in("busy_part", "F"), 15)
        self.assertLess(self.samples_in("waiting_part", "F"), self.samples_in("waiting_part") / 2)

    def test_subprocesses(self):
        """Each Python stands below a frame with its process, and no argument of it in any file."""
        lines = self.profile(*step("busy", "0.3", "start", "say", "sesame", "other", "0.8"),
                             options=["--subprocesses"])
        self.assertEqual(len(self.processes(lines)), 2, lines)
        stacks = [stack for stack in self.folded() if "other_part" in stack]
        self.assertTrue(stacks)
        for stack in stacks:
            self.assertRegex(stack, r"^process \d+ \(step\.py\);process \d+ \(step\.py\);<module> \(")
        for name in ("E.folded", "E.diag.jsonl"):
            self.assertNotIn(b"sesame", (self.folder / "logs" / name).read_bytes())

    def test_without_subprocesses_they_are_left_out_and_counted(self):
        lines = self.profile(*step("busy", "0.3", "start", "other", "0.4"))
        self.assertEqual(self.samples_in("other_part"), 0)
        self.assertIn("profile: 1 Python that a profiled one started: not in it (--subprocesses takes "
                      "them in)", lines)

    def test_native(self):
        lines = self.profile(*step("pack", "1"), options=["--native"])
        self.assertIn("wall clock (waiting counts too), native frames too", lines[0])
        # Frames of zlib's code stand below the Python function.
        self.assertTrue([stack for stack in self.folded()
                         if re.search(r"packing_part \(.*;.*(deflate|libz|zlib)", stack)], self.folded())

    def test_nonblocking(self):
        lines = self.profile(*step("busy", "1"), options=["--nonblocking"])
        self.assertIn("wall clock (waiting counts too), without stopping the job", lines[0])
        self.assertGreater(self.samples_in("busy_part"), 20)

    def test_no_profiler(self):
        self.assertEqual(self.profile(*step("busy", "0.1"), options=["--profiler", "none"]), [])


class SeveralPythons(ProfilerTest):
    def test_a_second_one_is_merged(self):
        both = " ".join(shlex.quote(str(word)) for word in step("busy", "0.6")) + "; " + \
            " ".join(shlex.quote(str(word)) for word in step("other", "0.6"))
        lines = self.profile("sh", "-c", both)
        self.assertEqual(len(self.processes(lines)), 2, lines)
        self.assertGreater(self.samples_in("busy_part"), 10)
        self.assertGreater(self.samples_in("other_part"), 10)

    def test_two_at_once(self):
        lines = self.profile("sh", "-c", '"$@" busy 0.8 & "$@" other 0.8; wait', "sh", *step())
        self.assertEqual(len(self.processes(lines)), 2, lines)
        self.assertGreater(self.samples_in("busy_part"), 10)
        self.assertGreater(self.samples_in("other_part"), 10)


class Endings(ProfilerTest):
    """However the job ends, the samples until then are there."""

    def start_busy(self, *how):
        """Starts a run; gives it with the pids of the job's Python and of the py-spy that looks into it."""
        process = self.start(self.mapdiag_path, "run", "--profile", "--entity", "E", "--", *how,
                             env=FOUND)
        return process, *self.wait_until("py-spy has attached", self.attached)

    def attached(self):
        """(the Python, its py-spy), once that has attached: then it has threads for its samples and
        for signals."""
        for pid in self.marked_processes():
            try:
                words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                if b"record" in words and len(os.listdir(f"/proc/{pid}/task")) >= 3:
                    return int(words[words.index(b"--pid") + 1]), pid
            except OSError:
                pass
        return None

    def finish_killed(self, process, number):
        outcome = self.finish(process)
        self.assertEqual(outcome.status, -number)
        self.assert_no_talk(outcome, "E")
        self.assert_folded_as_told([x for x in self.diag() if x.startswith("profile: ")], "E")

    def test_killed(self):
        process, pid, _ = self.start_busy(*step("busy", "60"))
        os.kill(pid, signal.SIGKILL)
        self.finish_killed(process, signal.SIGKILL)

    def test_terminated_through_mapdiag(self):
        process, _, _ = self.start_busy(*step("busy", "60"))
        process.send_signal(signal.SIGTERM)
        self.finish_killed(process, signal.SIGTERM)

    def test_a_killed_py_spy_does_not_touch_the_job(self):
        process, _, py_spy = self.start_busy(*step("busy", "0.8"))
        os.kill(py_spy, signal.SIGKILL)
        outcome = self.finish(process)
        self.assertEqual(outcome.status, 0)
        (line,) = [x for x in self.diag() if x.startswith("profile: none")]
        self.assertIn("the profiler died: py-spy was killed by SIGKILL while it profiled", line)

    def test_mapdiag_is_killed(self):
        """Neither the job nor its py-spy goes on."""
        process, _, _ = self.start_busy(*step("busy", "60"))
        process.kill()
        process.wait()
        self.wait_until("nothing runs any more", lambda: not self.marked_processes())

    def test_a_status_of_its_own(self):
        self.profile(PYTHON, "-c", "import time, sys\nt = time.monotonic() + 0.5\n"
                     "while time.monotonic() < t: pass\nsys.exit(41)", status=41)


class NoProfile(ProfilerTest):
    """Each reason has a line of its own, and leaves no file."""

    def the_reason(self, lines):
        self.assertEqual(len(lines), 1, lines)
        return lines[0]

    def test_no_python(self):
        self.assertEqual(self.the_reason(self.profile("sh", "-c", "sleep 0.1")),
                         "profile: none: no Python process was seen in the job")

    def test_too_short_a_run(self):
        """It is over before py-spy has attached."""
        line = self.the_reason(self.profile(PYTHON, "-S", "-c", "pass", options=self.fake("exec sleep 60")))
        self.assertRegex(line, r"^profile: none: process \d+ \(python\S* -c(, Python 3\.\d+)?\) ended before "
                         "py-spy was ready: too short a run to profile$")

    def test_hardly_any_run(self):
        """How much py-spy sees of it is luck; that it was little is said in any case."""
        lines = self.profile(PYTHON, "-S", "-c", "pass")
        if lines[0].startswith("profile: none: "):
            self.assertRegex(self.the_reason(lines),
                             r"too short a run to profile$|ended before py-spy's first look$|"
                             r"it saw no Python frame in it$")
        else:
            self.assertTrue([w for w in self.warnings() if "too few for shares" in w], self.diag())

    def test_py_spy_is_missing(self):
        line = self.the_reason(self.profile(*step("busy", "0.1"), env=NOT_FOUND))
        self.assertTrue(line.startswith("profile: none: py-spy was not found. Looked for at: PATH "
                                        "(/usr/bin:/bin); "), line)
        self.assertIn(f"beside the job's Python ({pathlib.Path(PYTHON).parent})", line)
        self.assertIn("uv run --with py-spy: uv is not in PATH", line)
        self.assertTrue(line.endswith("To get it: pip install py-spy, or name it with --py-spy"), line)

    def test_the_named_py_spy_is_missing(self):
        for how, name in (({"options": ["--py-spy", "/no/py-spy"]}, "--py-spy"),
                          ({"env": {"MAPDIAG_PYSPY": "/no/py-spy"}}, "$MAPDIAG_PYSPY")):
            with self.subTest(name=name):
                line = self.the_reason(self.profile(*step("busy", "0.1"), **how))
                self.assertIn(f"Looked for at: {name} (/no/py-spy): it is no file that can be executed",
                              line)

    @placements(*AS_ROOT)
    def test_another_users_job_without_the_right_to_trace(self):
        """A root without CAP_SYS_PTRACE, as in most containers."""
        os.chmod(self.folder, 0o755)
        (self.folder / "s.py").write_text(STEP.read_text())
        outcome = self.run_command(
            "setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace", self.mapdiag_path, "run",
            "--profile", "--entity", "E", "--", "setpriv", "--reuid", "65534", "--clear-groups",
            PYTHON, "s.py", "busy", "0.6", env=FOUND)
        self.assertEqual(outcome.status, 0, outcome)
        self.assert_no_talk(outcome, "E")
        line = self.the_reason([x for x in self.diag() if x.startswith("profile: ")])
        self.assertRegex(line, r"^profile: none: py-spy may not look into the job.* Remedy: ")
        self.assertFalse((self.folder / "logs/E.folded").exists())

    def test_denied(self):
        """py-spy is refused and nothing that forbids it can be seen: its words stand there."""
        line = self.the_reason(self.profile(*step("busy", "0.5"), options=self.fake(
            'echo "Permission Denied: Try running again with elevated permissions" >&2; exit 1')))
        # A machine that restricts ptrace is named as what forbids it.
        self.assertRegex(line, r"^profile: none: py-spy (failed: it was refused permission to look into "
                               r"the job, .*elevated permissions|may not look into the job: .*Remedy: )")

    def test_an_unsupported_python(self):
        line = self.the_reason(self.profile(*step("busy", "0.3"), options=self.fake(
            'echo "Error: Unsupported version of Python: 3.99.0" >&2; exit 1')))
        self.assertIn("unsupported version of Python 3.99.0: ", line)
        self.assertIn("Remedy: a newer py-spy (pip install -U py-spy)", line)

    def test_a_py_spy_that_fails(self):
        line = self.the_reason(self.profile(*step("busy", "0.3"), options=self.fake(
            'echo "Error: the moon is full" >&2; exit 1')))
        self.assertEqual(line, "profile: none: py-spy failed: Error: the moon is full")

    def test_a_py_spy_that_records_nothing(self):
        line = self.the_reason(self.profile(*step("busy", "0.3"), options=self.fake(
            """: >"$out"; echo "py-spy> Wrote raw flamegraph data to 'x'. Samples: 7 Errors: 7" """)))
        self.assertIn("0 samples from process ", line)

    def test_a_profile_of_an_earlier_run_does_not_pass_for_this_ones(self):
        self.profile(*step("busy", "0.5"))
        self.assertGreater(self.samples_in("busy_part"), 10)
        self.profile(*step("busy", "0.1"), options=self.fake("exit 1"))
        self.assertFalse((self.folder / "logs/E.folded").exists())


class BadPySpys(ProfilerTest):
    """A py-spy that misbehaves costs a line, never the job."""

    def test_one_that_is_behind(self):
        self.profile(*step("busy", "0.8"), options=self.fake(
            'echo "py-spy> 2.50s behind in sampling, results may be inaccurate. Try reducing the '
            'sampling rate"; exec "$real" "$@"'))
        self.assertIn("warning: py-spy was 2.50 s behind in sampling: 100 a second is too much here, "
                      "shares may be off. Remedy: a lower --rate", self.warnings())

    def test_one_that_leaves_the_job_stopped(self):
        lines = self.profile(*step("busy", "0.3", "say", "done"), options=self.fake(
            "kill -STOP $pid; exit 1"))
        self.assertIn(b"done\n", self.log())
        self.assertTrue(lines[0].startswith("profile: none: "), lines)
        self.assertTrue([w for w in self.warnings() if "mapdiag continued it" in w], self.diag())

    def test_one_that_never_ends(self):
        lines = self.profile(*step("busy", "0.2"), options=self.fake(
            "trap '' INT TERM; while :; do sleep 1; done"))
        self.assertIn("py-spy did not end when it was told to and had to be killed", lines[0])

    def test_one_that_talks_and_talks(self):
        self.profile(*step("busy", "0.6"), options=self.fake(
            'head -c 3000000 /dev/zero | tr "\\0" "x"; exec "$real" "$@"'))
        self.assertLess(len(self.log()), 10000)


class WhichPySpy(ProfilerTest):
    """--py-spy, $MAPDIAG_PYSPY, PATH, beside the job's Python, uv."""

    def taken_by(self, lines):
        (line,) = [x for x in lines if x.startswith("profile: taken by ")]
        return line

    def test_the_option_goes_before_the_variable(self):
        lines = self.profile(*step("busy", "0.6"), options=self.fake('exec "$real" "$@"'),
                             env={"MAPDIAG_PYSPY": "/no/such"})
        self.assertEqual(self.taken_by(lines), f"profile: taken by py-spy 9.9.9, {self.folder}/fake-py-spy "
                         "(given by --py-spy)")

    def test_the_variable_goes_before_path(self):
        self.fake('exec "$real" "$@"')
        lines = self.profile(*step("busy", "0.6"),
                             env={"MAPDIAG_PYSPY": str(self.folder / "fake-py-spy")})
        self.assertTrue(self.taken_by(lines).endswith("(given by $MAPDIAG_PYSPY)"), lines)

    def test_beside_the_jobs_python(self):
        self.run_command(PYTHON, "-m", "venv", "--without-pip", "venv")
        (self.folder / "venv/bin/py-spy").symlink_to(TOOLS / "py-spy")
        lines = self.profile(*step("busy", "0.6", python=self.folder / "venv/bin/python"), env=NOT_FOUND)
        self.assertEqual(self.taken_by(lines), f"profile: taken by py-spy 0.4.3, {self.folder}/venv/bin/"
                         "py-spy (found beside the job's Python)")

    def test_uv_is_asked_only_when_there_is_none(self):
        """A uv of the test's own, which notes that it was asked."""
        (self.folder / "bin").mkdir()
        uv = self.folder / "bin/uv"
        uv.write_text(f'#!/bin/sh\necho "$@" >>{self.folder}/asked\necho {TOOLS}/py-spy\n')
        uv.chmod(0o755)
        path = f"{self.folder}/bin"
        self.profile(*step("busy", "0.4"), env={"PATH": f"{path}:{FOUND['PATH']}"})
        self.assertFalse((self.folder / "asked").exists())
        outcome = self.mapdiag("run", "--no-profile", "--entity", "E", "--", *step("busy", "0.1"),
                               env={"PATH": f"{path}:{NOT_FOUND['PATH']}"})
        self.assertEqual(outcome, (0, b"", b""))
        self.assertFalse((self.folder / "asked").exists())
        lines = self.profile(*step("busy", "0.8"), env={"PATH": f"{path}:{NOT_FOUND['PATH']}"})
        self.assertTrue(self.taken_by(lines).endswith("(provided by uv run --with py-spy)"), lines)
        self.assertIn("--with py-spy", (self.folder / "asked").read_text())


class DropIn(ProfilerTest):
    """A recipe that calls py-spy itself: mapdiag does its work, and the status is the job's."""

    def test_the_recipe_keeps_its_line(self):
        outcome = self.mapdiag("run", "--entity", "E", "--", "env", "py-spy", "record", "--rate", "50", "-s", "--format", "raw",
                               "--output", "logs/E.folded", "--", "sh", "-c", '"$@"; exit 9', "sh",
                               *step("busy", "0.8"), env={**FOUND, "DM_MAP_PROFILE": "true"})
        self.assertEqual(outcome.status, 9, outcome)
        self.assertRegex(outcome.talk, r"profile: logs/E\.folded: \d+ samples in \d+ stacks, 50 a second, "
                                       r"busy time only")
        self.assertGreater(self.samples_in("busy_part"), 10)
        self.assertTrue(next(iter(self.folded())).startswith("process "))
        for words in TALK:
            self.assertNotIn(words, outcome.out + outcome.err)
