"""Deaths by the memory killer, by whose limit whatever, and near misses of each."""

import os
import signal
import subprocess

from deaths_by_signal import KILLED_IN_TREE
from lab import GROUPS, V1_ROOT, V2, V2_ROOT, scenario

# The guest has no disk: a file there is shared memory and no cache.
ON_DISK = (V1_ROOT,)
# The machine's counter has gone up; nobody knows for whom.
MAYBE = "sigkill-unknown"


# The job's group carries the limit of the group above; whichever of the two the kernel counted, the
# cause has to name the one that set it.
ABOVE = ("memory-limit-above", "memory-own-limit")


@scenario("over the limit of the group it was given", ABOVE, MAYBE,
          advice=("raise-limit", "output-incomplete"), placements=GROUPS)
def carried(bench):
    group = bench.limited_group(30)
    bench.must_name = str(group.path)
    bench.job(*bench.hog(100), group=group)


@scenario("over --memory-limit", "memory-own-limit", (), advice="raise-limit", placements=GROUPS)
def asked(bench):
    bench.job(*bench.hog(100), options=("--memory-limit", "30M"))


@scenario("over --memory-limit, below the limit around it", "memory-own-limit", (),
          placements=GROUPS, light=False)
def asked_inside(bench):
    bench.job(*bench.hog(100), options=("--memory-limit", "30M"), group=bench.limited_group(60))


@scenario("a neighbour fills the group above", ABOVE, MAYBE, placements=GROUPS)
def neighbour(bench):
    (above,) = bench.nested(60)
    if bench.base.version == 2:
        bench.hand_down(above)
        own, beside = bench.inside(above, "own"), bench.inside(above, "beside")
    else:
        own, beside = above, bench.inside(above, "beside")
    bench.in_background(beside, *bench.hog(25, 100))
    bench.must_name = str(above.path)
    bench.job(*bench.hog(50), group=own)


@scenario("three groups deep, the highest is full", ABOVE, MAYBE, placements=GROUPS)
def grandparent(bench):
    top, middle = bench.nested(60, 200)
    if bench.base.version == 2:
        bench.hand_down(top, middle)
    beside, low = bench.inside(top, "beside"), bench.inside(middle, "low")
    bench.in_background(beside, *bench.hog(25, 100))
    bench.must_name = str(top.path)
    bench.job(*bench.hog(50), group=low)


@scenario("three groups deep, the middle one is full by the job alone", ABOVE, MAYBE,
          placements=GROUPS, light=False)
def middle(bench):
    top, middle_group = bench.nested(200, 40)
    if bench.base.version == 2:
        bench.hand_down(top, middle_group)
    bench.must_name = str(middle_group.path)
    bench.job(*bench.hog(60), group=bench.inside(middle_group, "low"))


@scenario("three groups deep, the lowest is full", ABOVE, MAYBE, placements=GROUPS,
          light=False)
def lowest(bench):
    groups = bench.nested(200, 100)
    if bench.base.version == 2:
        bench.hand_down(*groups)
    low = bench.inside(groups[-1], "low")
    low.limit(30)
    bench.must_name = str(low.path)
    bench.job(*bench.hog(60), group=low)


@scenario("a worker is killed and the job hides it", "memory-worker-killed", "exit-zero",
          advice="output-incomplete", placements=GROUPS)
def worker(bench):
    bench.shell('"$@"; exit 0', *bench.hog(100), group=bench.limited_group(30))


@scenario("a worker is killed and the job fails", "memory-worker-killed", "exit-failure",
          placements=GROUPS, light=False)
def worker_failed(bench):
    bench.shell('"$@"; exit 5', *bench.hog(100), group=bench.limited_group(30))


@scenario("a worker is killed and the job exits with its 137", "memory-worker-killed",
          "exit-like-signal", placements=GROUPS, light=False)
def worker_137(bench):
    bench.shell('"$@"; exit $?', *bench.hog(100), group=bench.limited_group(30))


@scenario("a worker is killed and the job gets SIGKILL long after it", "sigkill-after-memory-kill",
          MAYBE, placements=GROUPS, light=False)
def worker_then_kill(bench):
    bench.shell('"$@"; sleep 3; kill -9 $$', *bench.hog(100), group=bench.limited_group(30))


OWN_GROUP_V1 = ('g=/sys/fs/cgroup/memory'
                '$(sed -n "s/^[0-9]*:memory:\\(.*\\)/\\1/p" /proc/self/cgroup); ')
SUBGROUP_V1 = (OWN_GROUP_V1 +
               'mkdir "$g/inner"; echo 20M >"$g/inner/memory.limit_in_bytes"; ')


@scenario("killed in a group that the job made", "memory-inner-limit", (), placements=(V1_ROOT,))
def inner(bench):
    bench.shell(SUBGROUP_V1 + 'echo $$ >"$g/inner/tasks"; exec "$@"', *bench.hog(60))


@scenario("a worker is killed in a group that the job made", "memory-worker-killed", (),
          placements=(V1_ROOT,))
def inner_worker(bench):
    bench.shell(SUBGROUP_V1 + 'sh -c \'echo $$ >"$0/inner/tasks"; exec "$@"\' "$g" "$@"; exit 0',
                *bench.hog(60))


@scenario("SIGKILL from outside at 95 % of the limit", "sigkill-not-memory", KILLED_IN_TREE,
          placements=GROUPS)
def near(bench):
    process = bench.begin(*bench.hog(61, 100), group=bench.limited_group(64))
    os.kill(bench.the_job(bench.hog_path), signal.SIGKILL)
    bench.finish(process)


@scenario("SIGKILL from outside at the limit, full of file cache", "sigkill-not-memory",
          KILLED_IN_TREE, placements=ON_DISK)
def cache_then_kill(bench):
    bench.shell('"$@"; kill -9 $$', *bench.probe("cache", 60, "file"), group=bench.limited_group(30))


@scenario("the limit was hit without a kill, and exit 0", "exit-zero", placements=ON_DISK,
          light=False)
def hit_only(bench):
    bench.job(*bench.probe("cache", 60, "file"), group=bench.limited_group(30))


@scenario("the limit was hit without a kill, and a plain exit 137", "exit-like-signal",
          placements=ON_DISK, light=False)
def hit_137(bench):
    bench.shell('"$@"; exit 137', *bench.probe("cache", 60, "file"), group=bench.limited_group(30))


@scenario("an old memory kill in the group around it, and SIGKILL", "sigkill-not-memory",
          KILLED_IN_TREE, placements=GROUPS)
def old_kill(bench):
    group = bench.limited_group(30)
    old = bench.run_command(*bench.hog(100), group=group)
    bench.assertEqual(old.status, -signal.SIGKILL)
    bench.job(*bench.probe("die", 9), group=group)


@scenario("an old memory kill in the group around it, and a plain exit 137", "exit-like-signal",
          placements=GROUPS, light=False)
def old_kill_137(bench):
    group = bench.limited_group(30)
    bench.run_command(*bench.hog(100), group=group)
    bench.job(*bench.probe("exit", 137), group=group)


@scenario("a neighbour is killed meanwhile, and the job ends well", "exit-zero", placements=GROUPS)
def neighbour_killed(bench):
    process = bench.begin("sh", "-c", "echo up; read line; exit 0", stdin=subprocess.PIPE)
    killed = bench.run_command(*bench.hog(100), group=bench.limited_group(30))
    bench.assertEqual(killed.status, -signal.SIGKILL)
    process.stdin.close()
    process.stdin = None
    bench.finish(process)


@scenario("a neighbour is killed meanwhile, and the job gets SIGKILL", "sigkill-not-memory",
          KILLED_IN_TREE, placements=GROUPS)
def neighbour_killed_and_kill(bench):
    process = bench.begin(*bench.hog(1, 100))
    killed = bench.run_command(*bench.hog(100), group=bench.limited_group(30))
    bench.assertEqual(killed.status, -signal.SIGKILL)
    os.kill(bench.the_job(bench.hog_path), signal.SIGKILL)
    bench.finish(process)


@scenario("killed as a group", "memory-own-limit", MAYBE, placements=V2)
def group_kill(bench):
    bench.shell('"$@"; exit 0', *bench.hog(100), options=("--memory-limit", "30M"))


@scenario("several workers over --memory-limit together", "memory-own-limit", (), placements=V2,
          light=False)
def workers(bench):
    bench.job(*bench.hog(30, 5, 3), options=("--memory-limit", "64M"))


@scenario("several workers over the limit together, v1 takes one", "memory-worker-killed", (),
          placements=(V1_ROOT,))
def workers_v1(bench):
    bench.shell('"$1" 40 1 & "$1" 40 1 & wait; exit 0', bench.hog_path,
                options=("--memory-limit", "64M"))


@scenario("stuck at its limit, the memory killer is off", "memory-stuck", (), advice="killer-off",
          placements=(V1_ROOT,))
def stuck(bench):
    # In the job's own group only: who shares such a group would be stuck, too.
    script = OWN_GROUP_V1 + ('echo 1 >"$g/memory.oom_control"; '
                             'echo 30M >"$g/memory.limit_in_bytes"; exec "$@"')
    process = bench.start(*bench.words(), "sh", "-c", script, "sh", *bench.hog(100))
    bench.wait_until("samples of a job that is stuck", lambda: bench.stuck_samples() > 12)
    os.kill(bench.the_job(bench.hog_path), signal.SIGKILL)
    bench.finish(process)


@scenario("the memory killer is off, and the job has room", "exit-zero", (), placements=(V1_ROOT,))
def not_stuck(bench):
    group = bench.limited_group(60)
    (group.path / "memory.oom_control").write_text("1")
    bench.job(*bench.hog(20), group=group)


@scenario("the whole machine is out of memory", "memory-machine", (), advice="machine-full",
          placements=(V2_ROOT,))
def machine(bench):
    # The guest has 2 GiB and no swap.
    bench.assertLess(bench.machine_mib(), 4096, "this would harm an ordinary machine")
    bench.in_background(bench.limited_group(1000), *bench.hog(400, 200))
    bench.job(*bench.hog(1800))
