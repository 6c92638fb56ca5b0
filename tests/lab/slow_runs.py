"""Runs that ended well and were slow, or only looked as if something was wrong."""

from lab import GROUPS, MIB, ROOT, V1_ROOT, V2, scenario

SPIN = "import time; end = time.monotonic() + {}\nwhile time.monotonic() < end: pass"
PYTHON = ("/usr/bin/python3", "-S", "-E", "-c")


@scenario("a job that sleeps", "exit-zero", advice="mostly-idle", light=False)
def idle(bench):
    bench.job("sleep", "1.2")


# On a machine that is busy with others it may look idle, and the advice then names that.
@scenario("a job that works", "exit-zero", advice="!throttled", light=False)
def busy(bench):
    bench.job(*PYTHON, SPIN.format(1.2))


@scenario("a job that a CPU limit slows down", "exit-zero", (), advice=("throttled", "!mostly-idle"),
          placements=ROOT, light=False)
def throttled(bench):
    # So little that a busy machine gives it, too.
    bench.job(*PYTHON, SPIN.format(1.5), options=("--cpu-limit", "0.03"))


@scenario("much file cache at the limit", "exit-zero", (), advice=("near-limit", "!raise-limit"),
          placements=(V1_ROOT,))
def cache(bench):
    bench.job(*bench.probe("cache", 60, "file"), group=bench.limited_group(30))


@scenario("alive at 95 % of its limit", "exit-zero", (), advice=("near-limit", "!raise-limit"),
          placements=GROUPS)
def near(bench):
    bench.job(*bench.hog(61, 0.3), group=bench.limited_group(64))


@scenario("well below its limit", "exit-zero", (), advice=("!near-limit", "!raise-limit"),
          placements=GROUPS, light=False)
def below(bench):
    bench.job(*bench.hog(20, 0.2), group=bench.limited_group(64))


@scenario("memory.high slows the job down", "exit-zero", (), advice="memory-stalls",
          placements=V2, light=False)
def high(bench):
    group = bench.limited_group(200)
    (group.path / "memory.high").write_text(str(20 * MIB))
    bench.job(*bench.hog(30), group=group)
