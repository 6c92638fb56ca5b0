"""The harness itself: a check that never fails would be worth nothing."""

import signal

from cgroups import ALL_PLACEMENTS, PLAIN
from harness import MapdiagTest, placements

WITH_GROUPS = [p for p in ALL_PLACEMENTS if p != PLAIN]


class Harness(MapdiagTest):
    def test_hog_leaves_with_its_status(self):
        self.assertEqual(self.run_command(*self.hog(1, children=2, status=7)),
                         (7, b"touched\n", b""))

    @placements(*WITH_GROUPS)
    def test_a_group_limit_really_kills(self):
        outcome = self.run_command(*self.hog(40), group=self.limited_group(20))
        self.assertEqual(outcome.status, -signal.SIGKILL)

    @placements(*WITH_GROUPS)
    def test_a_group_left_behind_is_found(self):
        (self.own_group().path / "forgotten").mkdir()
        (line,) = self.base.leaks(self._groups)
        self.assertRegex(line, r"^group left behind: t\d+/forgotten$")
        self.base.clear()
        self._groups.clear()

    @placements(*WITH_GROUPS)
    def test_a_process_left_behind_is_found(self):
        process = self.start("sleep", "60")
        (line,) = self.base.leaks(self._groups)
        self.assertRegex(line, rf"^process left behind in t\d+: {process.pid}$")
        process.kill()
        process.wait()
