"""A terminal for the tests: programs that run on a pseudo-terminal, with a person typing."""

import os
import pty
import select
import signal
import time


class Terminal:
    """Runs a program as the leader of a session on a new terminal."""

    def __init__(self, command, folder, environment, group, patience):
        self._patience = patience
        self.seen = b""
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(folder)
                if group:
                    group.enter()
                os.execvpe(command[0], [os.fspath(word) for word in command], environment)
            finally:
                os._exit(99)
        self._ended = None

    def type(self, text):
        """Types characters; control characters act as on a keyboard."""
        os.write(self.master, text if isinstance(text, bytes) else text.encode())

    def expect(self, wanted):
        """Reads until `wanted` has come, and gives what came up to its end."""
        wanted = wanted.encode()
        end = time.monotonic() + self._patience
        while wanted not in self.seen:
            if not self._read(end):
                raise AssertionError(f"the terminal did not show {wanted!r}, but {self.seen!r}")
        at = self.seen.index(wanted) + len(wanted)
        before, self.seen = self.seen[:at], self.seen[at:]
        return before.decode(errors="replace")

    def _read(self, end):
        ready, _, _ = select.select([self.master], [], [], max(0, end - time.monotonic()))
        if not ready:
            return False
        try:
            got = os.read(self.master, 65536)
        except OSError:  # EIO: nobody has the other end any more
            return False
        self.seen += got
        return bool(got)

    def hang_up(self):
        """Closes the terminal, as when its window is closed or the network is gone."""
        if self.master >= 0:
            os.close(self.master)
            self.master = -1

    def wait(self):
        """The program's status; below 0 the number of the signal that ended it."""
        end = time.monotonic() + self._patience
        while self._ended is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._ended = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > end:
                raise AssertionError(f"still running on the terminal, which showed {self.seen!r}")
            elif self.master >= 0:
                self._read(time.monotonic() + 0.01)  # a full terminal would hold the program up
            else:
                time.sleep(0.005)
        return self._ended

    def close(self):
        """Ends what still runs."""
        self.hang_up()
        if self._ended is None:
            try:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
            except (ProcessLookupError, ChildProcessError):
                pass
