"""Runs that a signal ended, wherever it came from; and time limits."""

import os
import signal

from lab import ROOT, scenario

# Without a group of its own it depends on what else happened on the machine whether the memory killer
# can be ruled out.
KILLED_IN_TREE = ("sigkill-not-memory-shared", "sigkill-unknown")
CRASHES = ("SEGV", "BUS", "ABRT", "ILL", "FPE", "SYS", "TRAP")
OTHERS = ("HUP", "INT", "QUIT", "USR1", "USR2", "ALRM", "TERM", "STKFLT", "VTALRM", "PROF", "IO", "PWR")


def dies_by(name, own, tree=None):
    number = getattr(signal, f"SIG{name}")

    @scenario(f"the job ends itself by SIG{name}", own, tree, advice="output-incomplete",
              light=name in ("SEGV", "KILL", "TERM"))
    def stage(bench):
        bench.job(*bench.probe("die", int(number)))


for _name in CRASHES:
    dies_by(_name, "crash")
for _name in OTHERS:
    dies_by(_name, "signal-elsewhere")
dies_by("KILL", "sigkill-not-memory", KILLED_IN_TREE)
dies_by("RTMIN", "signal-elsewhere")
dies_by("RTMAX", "signal-elsewhere")
# Sent by a person, and no limit was there: no limit may be blamed.
dies_by("XCPU", "signal-elsewhere")
dies_by("XFSZ", "sigxfsz-unknown")
dies_by("PIPE", "broken-pipe")


@scenario("CPU time used up, limit set outside", "cpu-time-limit", light=False)
def cpu_outside(bench):
    bench.run_command("prlimit", "--cpu=1:9", *bench.words(), "sh", "-c", "while :; do :; done")


@scenario("CPU time used up, and it is a hard limit", "sigkill-not-memory", KILLED_IN_TREE,
          light=False)
def cpu_hard(bench):
    bench.run_command("prlimit", "--cpu=1:1", *bench.words(), "sh", "-c", "while :; do :; done")


@scenario("CPU time used up, limit set by the job", "sigxcpu-unknown")
def cpu_inside(bench):
    bench.job("prlimit", "--cpu=1:5", "sh", "-c", "while :; do :; done")


@scenario("a file over its size limit, limit set outside", "file-size-limit", light=False)
def size_outside(bench):
    # Far above what mapdiag's own files take.
    bench.run_command("prlimit", "--fsize=1000000", *bench.words(), "sh", "-c",
                      "exec head -c 2000000 /dev/zero >x")


@scenario("a file over its size limit, limit set by the job", "sigxfsz-unknown", light=False)
def size_inside(bench):
    bench.job("prlimit", "--fsize=1000000", "sh", "-c", "exec head -c 2000000 /dev/zero >x")


@scenario("the reader of its output is gone", "broken-pipe", light=False)
def reader_gone(bench):
    process = bench.start(*bench.words(), "sh", "-c", "while :; do echo words; done")
    bench.read_line(process)
    process.stdout.close()
    process.stdout = None
    bench.finish(process)


def through_mapdiag(name, expected="signal-passed-on"):
    @scenario(f"mapdiag gets SIG{name}", expected, light=name == "TERM")
    def stage(bench):
        process = bench.begin("sh", "-c", "echo up; sleep 100")
        process.send_signal(getattr(signal, f"SIG{name}"))
        bench.finish(process)
        bench.end_marked()


for _name in ("TERM", "HUP", "USR1"):
    through_mapdiag(_name)


@scenario("the whole process group gets SIGTERM", "signal-passed-on", light=False)
def group_signal(bench):
    process = bench.begin("sh", "-c", "echo up; sleep 100", start_new_session=True)
    os.killpg(process.pid, signal.SIGTERM)
    bench.finish(process)


@scenario("SIGTERM, and the job leaves by itself with 5", "exit-after-signal", light=False)
def handled(bench):
    process = bench.begin("sh", "-c", "trap 'exit 5' TERM; echo up; while :; do sleep 0.01; done")
    process.send_signal(signal.SIGTERM)
    bench.finish(process)


@scenario("SIGTERM, and the job ends well", "exit-after-signal", light=False)
def handled_well(bench):
    process = bench.begin("sh", "-c", "trap 'exit 0' TERM; echo up; while :; do sleep 0.01; done")
    process.send_signal(signal.SIGTERM)
    bench.finish(process)


@scenario("timeout(1) around mapdiag", "signal-passed-on", light=False)
def outer_timeout(bench):
    bench.run_command("timeout", "0.5", *bench.words(), "sleep", "100")


@scenario("timeout(1) inside the job", "exit-failure", light=False)
def inner_timeout(bench):
    bench.job("timeout", "0.2", "sleep", "100")


@scenario("somebody sends SIGSEGV to the job", "crash", light=False)
def segv_to_job(bench):
    process = bench.begin(*bench.hog(1, 100))
    os.kill(bench.the_job(bench.hog_path), signal.SIGSEGV)
    bench.finish(process)


@scenario("somebody sends SIGTERM to the job alone", "signal-elsewhere", light=False)
def term_to_job(bench):
    process = bench.begin(*bench.hog(1, 100))
    os.kill(bench.the_job(bench.hog_path), signal.SIGTERM)
    bench.finish(process)


@scenario("somebody sends SIGKILL to the job alone", "sigkill-not-memory", KILLED_IN_TREE)
def kill_to_job(bench):
    process = bench.begin(*bench.hog(1, 100))
    os.kill(bench.the_job(bench.hog_path), signal.SIGKILL)
    bench.finish(process)


@scenario("mapdiag itself gets SIGKILL", "mapdiag-killed")
def mapdiag_killed(bench):
    process = bench.begin(*bench.hog(1, 100))
    process.kill()
    bench.finish(process)
    bench.wait_until("the journal's end", lambda: bench.journal()[-1:] and bench.journal()[-1]["type"] == "end")


@scenario("everything is killed at once", "no-end", placements=ROOT, light=False)
def all_killed(bench):
    process = bench.start("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c",
                          '"$@" & wait', "sh", *bench.words(), *bench.hog(1, 100))
    bench.read_line(process)
    process.kill()
    bench.finish(process)
    # Nobody is left to remove the job's group.
    bench.wait_until("the end of all", lambda: not bench.marked_processes())
    bench.base.clear_below(bench._groups)


@scenario("mapdiag's time limit, on a job that obeys", "time-limit")
def time_limit(bench):
    bench.job("sleep", "100", options=("--time-limit", "300ms"))


@scenario("mapdiag's time limit, on a job that ends well then", "time-limit", light=False)
def time_limit_well(bench):
    bench.shell("trap 'exit 0' TERM; while :; do sleep 0.01; done", options=("--time-limit", "300ms"))


@scenario("mapdiag's time limit, on a job that does not obey", "time-limit", light=False)
def time_limit_kill(bench):
    bench.shell("trap '' TERM; while :; do sleep 0.05; done",
                options=("--time-limit", "200ms", "--kill-after", "200ms"))


@scenario("a time limit that was not reached, and SIGKILL", "sigkill-not-memory", KILLED_IN_TREE,
          light=False)
def time_limit_not_reached(bench):
    bench.shell("kill -9 $$", options=("--time-limit", "100"))


@scenario("a plain exit 124 under a time limit", "exit-failure", light=False)
def exit_124(bench):
    bench.shell("exit 124", options=("--time-limit", "100"))
