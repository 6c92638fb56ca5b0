"""Runs that never began, and runs that ended by themselves."""

from lab import scenario

PYTHON = ("/usr/bin/python3", "-S", "-E", "-c")


def ends_with(status, expected, light=False):
    @scenario(f"exit {status}", expected, light=light)
    def stage(bench):
        bench.job(*bench.probe("exit", status))


ends_with(0, "exit-zero", light=True)
for _status in (1, 2, 3, 42, 124, 125, 126, 127, 128, 193, 255):
    ends_with(_status, "exit-failure", light=_status == 3)
# Statuses that a shell gives for a signal: no signal was there.
for _status in (129, 130, 137, 139, 143, 192):
    ends_with(_status, "exit-like-signal", light=_status == 137)


@scenario("a command that does not exist", "not-started")
def missing(bench):
    bench.job("./nowhere")


@scenario("a command without permission", "not-started", light=False)
def not_executable(bench):
    (bench.folder / "step").write_text("#!/bin/sh\n")
    bench.job("./step")


@scenario("a folder as the command", "not-started", light=False)
def folder(bench):
    bench.job("/usr")


@scenario("a script whose interpreter is missing", "not-started", light=False)
def no_interpreter(bench):
    step = bench.folder / "step"
    step.write_text("#!/nowhere/python\n")
    step.chmod(0o755)
    bench.job("./step")


@scenario("a full disk", "disk-full")
def full(bench):
    bench.shell("head -c 9 /dev/zero >/dev/full")


@scenario("a full disk, and the job goes on and ends well", "exit-zero")
def full_but_well(bench):
    bench.shell("(head -c 9 /dev/zero >/dev/full); exit 0")


@scenario("a full disk, then another complaint", "exit-failure", light=False)
def full_then_other(bench):
    bench.shell("(head -c 9 /dev/zero >/dev/full); echo 'no such column' >&2; exit 1")


@scenario("too many open files", "open-files", light=False)
def files(bench):
    bench.job(*PYTHON, "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (9, 9))\n"
                       "keep = [open('/dev/null') for _ in range(20)]")


@scenario("too many processes", "processes")
def processes(bench):
    drop = ["setpriv", "--reuid", "65534", "--clear-groups"] if bench.as_root() else []
    bench.job(*drop, "prlimit", "--nproc=1", "sh", "-c", "sleep 1 & wait")


@scenario("a file over its size limit, in Python", "file-too-large", light=False)
def large(bench):
    bench.job(*PYTHON, "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (9, 9))\n"
                       "open('x', 'wb', buffering=0).write(b'x' * 9)\n"
                       "open('x', 'ab', buffering=0).write(b'x' * 9)")


@scenario("memory refused by a limit of address space", "memory-refused", light=False)
def refused(bench):
    bench.job(*PYTHON, "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))\n"
                       "x = bytearray(1 << 29)")


@scenario("a traceback that is about something else", "exit-failure", light=False)
def traceback(bench):
    bench.job(*PYTHON, "raise KeyError('memory')")


def uv(bench, script):
    step = bench.folder / "uv"
    step.write_text("#!/bin/sh\n" + script)
    step.chmod(0o755)
    bench.job("./uv", "run", "x", profiler=True, env={"MAPDIAG_PYSPY": "/nowhere"})


@scenario("uv fails before any Python", "launcher-failed", light=False)
def launcher(bench):
    # It stays for a moment, so that it is uv's own executable that was looked at.
    uv(bench, "sleep 0.1; echo 'error: no solution found' >&2; exit 2\n")


@scenario("uv fails after its Python ran", "exit-failure", light=False)
def launched(bench):
    uv(bench, "/usr/bin/python3 -S -E -c 'import time; time.sleep(0.5)'; exit 2\n")


@scenario("uv ends well", "exit-zero", light=False)
def launcher_well(bench):
    uv(bench, "exit 0\n")


@scenario("an output file that is not there", "exit-zero", advice="output-missing", light=False)
def no_output(bench):
    bench.job("sh", "-c", "exit 0", "map-data", "-o", "out.tsv")


@scenario("an output file without a byte", "exit-zero", advice="output-empty", light=False)
def empty_output(bench):
    bench.job("sh", "-c", ": >out.tsv", "map-data", "-o", "out.tsv")


@scenario("an output file of an earlier run", "exit-zero", advice="output-old", light=False)
def old_output(bench):
    (bench.folder / "out.tsv").write_text("x\n")
    bench.run_command("touch", "-d", "2020-01-01", "out.tsv")
    bench.job("sh", "-c", "exit 0", "map-data", "--output", "out.tsv")


@scenario("an output file that is whole", "exit-zero",
          advice=("!output-missing", "!output-empty", "!output-old"), light=False)
def good_output(bench):
    bench.job("sh", "-c", "echo x >out.tsv", "map-data", "-o", "out.tsv")


@scenario("a background process stays", "exit-zero", advice="left-running", light=False)
def left(bench):
    bench.shell("sleep 0.7 & exit 0")
    bench.wait_until("the end of it", lambda: not bench.marked_processes())
