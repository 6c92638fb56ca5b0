"""The control groups that the end-to-end tests run in, on cgroup v1 and v2 alike.

The runner makes one base group for itself. All groups of the tests, and all that mapdiag makes,
lie below it, so a leak check sees nothing of what else happens on the machine.
"""

import errno
import os
import pathlib
import signal
import time

# Where a job can be measured from, as far as the tests must tell places apart.
PLAIN = "plain"  # no group can be made
V1_ROOT = "v1-root"  # root, a writable v1 memory controller
V2_ROOT = "v2-root"  # root, cgroup v2 with the memory controller
V2_USER = "v2-user"  # an ordinary user with a delegated v2 subtree
ALL_PLACEMENTS = (PLAIN, V1_ROOT, V2_ROOT, V2_USER)

MIB = 1 << 20


def _mounts():
    """(mount point, root of the mount, kind, options) of every cgroup mount."""
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        # 36 35 98:0 / /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory
        before, after = line.split(" - ", 1)
        fields, kind = before.split(), after.split()
        if kind[0] in ("cgroup", "cgroup2"):
            yield pathlib.Path(fields[4]), fields[3], kind[0], kind[2].split(",")


def _own_path(controller):
    """This process's path in the hierarchy of `controller`; "" names cgroup v2."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return path
    return None


class Hierarchy:
    """The hierarchy with the memory controller, and this process's own group in it."""

    def __init__(self):
        self.version = 0
        self.mount = None
        self.own = None
        for mount, root, kind, options in _mounts():
            if not mount.is_dir():
                continue
            if kind == "cgroup" and "memory" in options:
                self._take(1, mount, root, _own_path("memory"))
            elif kind == "cgroup2" and self._has_memory(mount):
                self._take(2, mount, root, _own_path(""))

    @staticmethod
    def _has_memory(mount):
        controllers = mount / "cgroup.controllers"
        return controllers.exists() and "memory" in controllers.read_text().split()

    def _take(self, version, mount, root, own):
        if own is None:
            return
        inside = os.path.relpath(own, root) if own.startswith(root) else own.lstrip("/")
        self.version, self.mount, self.own = version, mount, (mount / inside).resolve()

    def placement(self):
        """What this machine and user offer the tests."""
        if self.version == 0 or not self.own.is_dir():
            return PLAIN
        root = os.geteuid() == 0
        if self.version == 1:
            return V1_ROOT if root and os.access(self.own, os.W_OK) else PLAIN
        if root:
            return V2_ROOT if os.access(self.mount, os.W_OK) else PLAIN
        owned = os.access(self.own, os.W_OK) and os.access(self.own / "cgroup.procs", os.W_OK)
        return V2_USER if owned else PLAIN


def members(group):
    """The process ids in the group; none where it is gone."""
    try:
        return [int(pid) for pid in (group / "cgroup.procs").read_text().split()]
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENODEV):
            return []
        raise


class Group:
    """One group of the tests."""

    def __init__(self, version, path):
        self.version, self.path = version, path

    def limit(self, mib):
        """Sets the memory limit; swap, where it is accounted, must not stretch it."""
        if self.version == 1:
            (self.path / "memory.limit_in_bytes").write_text(str(mib * MIB))
            both = self.path / "memory.memsw.limit_in_bytes"
            if both.exists():
                both.write_text(str(mib * MIB))
        else:
            (self.path / "memory.max").write_text(str(mib * MIB))
            swap = self.path / "memory.swap.max"
            if swap.exists():
                swap.write_text("0")

    def limit_swap(self, mib):
        """Sets the limit of swap (v2), or of memory and swap together (v1); False: not accounted."""
        name = "memory.memsw.limit_in_bytes" if self.version == 1 else "memory.swap.max"
        if not (self.path / name).exists():
            return False
        (self.path / name).write_text(str(mib * MIB))
        return True

    def make_below(self, name):
        """A group below this one."""
        if self.version == 2:
            (self.path / "cgroup.subtree_control").write_text("+memory")
        path = self.path / name
        path.mkdir()
        return Group(self.version, path)

    def enter(self):
        """Moves the calling process into the group: for a child before it starts its program."""
        # v1: writing to cgroup.procs waits for RCU, to tasks it does not.
        (self.path / ("tasks" if self.version == 1 else "cgroup.procs")).write_text("0")


class Base:
    """The group below which everything of one runner happens. Use it in a `with`."""

    def __init__(self):
        self.hierarchy = Hierarchy()
        self.version = self.hierarchy.version if self.hierarchy.placement() != PLAIN else 0
        self.path = None
        self._number = 0

    def __enter__(self):
        if self.version == 0:
            return self
        h = self.hierarchy
        name = f"mapdiag-e2e-{os.getpid()}"
        # On v2 a group with processes can't have controllers for its children. Root makes its
        # base at the top of the tree; an ordinary user empties the group delegated to it.
        above = h.own if self.version == 1 or h.placement() == V2_USER else h.mount
        if self.version == 2 and above == h.own and above != h.mount:
            keeper = above / f"{name}-runner"
            keeper.mkdir()
            for pid in members(above):
                (keeper / "cgroup.procs").write_text(str(pid))
            self._home = keeper
        else:
            self._home = h.own
        if self.version == 2:
            _hand_down(above)
        self.path = above / name
        self.path.mkdir()
        if self.version == 2:
            _hand_down(self.path)
        self.runner = self._make("runner")
        self.runner.enter()
        return self

    def __exit__(self, *_):
        if self.version == 0:
            return
        Group(self.version, self._home).enter()
        self.clear()
        for folder in (self.runner.path, self.path):
            folder.rmdir()

    def _make(self, name):
        path = self.path / name
        path.mkdir()
        return Group(self.version, path)

    def new_group(self):
        """A fresh group beside the runner's own."""
        self._number += 1
        return self._make(f"t{self._number}")

    def new_group_in(self, group, name):
        """A fresh group below that one."""
        path = group.path / name
        path.mkdir()
        return Group(self.version, path)

    def _strangers(self):
        """Every group below the base but the runner's, the deepest first."""
        found = [pathlib.Path(folder) for folder, _, _ in os.walk(self.path, topdown=False)]
        return [group for group in found if group not in (self.path, self.runner.path)]

    def leaks(self, given):
        """What lies below the base beyond the groups `given`: one line for each."""
        if self.version == 0:
            return []
        known = {group.path for group in given}
        lines = [f"group left behind: {p.relative_to(self.path)}"
                 for p in self._strangers() if p not in known]
        for folder in [*self._strangers(), self.runner.path]:
            lines += [f"process left behind in {folder.relative_to(self.path)}: {pid}"
                      for pid in members(folder) if pid not in _own_line()]
        return lines

    def clear_below(self, groups):
        """Removes what lies, empty, below these groups: what mapdiag had no chance to remove."""
        known = {group.path for group in groups}
        for group in self._strangers():
            if group not in known and any(path in known for path in group.parents):
                group.rmdir()

    def clear(self):
        """Kills and removes everything below the base but the runner."""
        if self.version == 0:
            return
        for group in self._strangers():
            for _ in range(200):
                for pid in members(group):
                    _kill(pid)
                try:
                    group.rmdir()
                    break
                except OSError:
                    time.sleep(0.01)


def _hand_down(group):
    """Lets the groups below have the controllers that the tests need."""
    for name in (group / "cgroup.controllers").read_text().split():
        if name in ("memory", "cpu", "pids"):
            (group / "cgroup.subtree_control").write_text(f"+{name}")


def _own_line():
    """The runner and its parents, which may share its group."""
    return {os.getpid(), os.getppid()}


def _kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
