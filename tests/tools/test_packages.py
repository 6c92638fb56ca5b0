"""scripts/lib/packages.sh: what it says, installs and leaves alone, with stand-ins for dpkg and apt."""

import os
import pathlib

from harness import MapdiagTest

ROOT = pathlib.Path(__file__).resolve().parents[2]

STAND_INS = {
    # Knows the packages in the file "installed".
    "dpkg-query": 'shift 2; for p in "$@"; do grep -qxF "$p" "$WORLD/installed" && echo "installed $p"; done; exit 0',
    # Knows the packages in the file "archive".
    "apt-cache": 'grep -qxF "$2" "$WORLD/archive" && echo "  Candidate: 1.0"; exit 0',
    "apt-get": 'echo "apt-get $*" >>"$WORLD/calls"; case $* in *install*) exit "$(cat "$WORLD/status")" ;; esac',
    "id": 'cat "$WORLD/uid"',
    "env": 'while case $1 in *=*) true ;; *) false ;; esac; do shift; done; exec "$@"',
}


class Packages(MapdiagTest):
    def setUp(self):
        super().setUp()
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        for name, text in STAND_INS.items():
            self.program(name, text)
        # Nothing but these and the tools that the script itself takes: no sudo by accident.
        for tool in ("bash", "sed", "sort", "grep", "cat", "tr", "dirname", "mktemp"):
            os.symlink(f"/usr/bin/{tool}" if os.path.exists(f"/usr/bin/{tool}") else f"/bin/{tool}",
                       self.bin / tool)
        lists = self.folder / "scripts/lib/packages"
        lists.mkdir(parents=True)
        for name in ("common.sh", "packages.sh"):
            (lists.parent / name).write_text((ROOT / "scripts/lib" / name).read_text())
        (lists / "one").write_text("alpha   # why\n\nnew-beta | old-beta\n# nothing\n")
        self.world(installed="", archive="alpha\nold-beta\n", uid="0", status="0")

    def program(self, name, text):
        path = self.bin / name
        path.write_text(f"#!/bin/bash\n{text}\n")
        path.chmod(0o755)

    def world(self, **files):
        for name, text in files.items():
            (self.folder / name).write_text(text)

    def install(self, **env):
        # common.sh adds sbin to PATH, never bin: the stand-ins stay in front.
        script = ". scripts/lib/common.sh; . scripts/lib/packages.sh; install_packages one"
        return self.run_command("/bin/bash", "-c", script,
                                env={"PATH": os.fspath(self.bin), "WORLD": os.fspath(self.folder),
                                     **env})

    def calls(self):
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def test_nothing_missing_calls_no_apt_and_says_nothing(self):
        self.world(installed="alpha\nnew-beta\n")
        self.assertEqual(self.install(), (0, b"", b""))
        self.assertEqual(self.calls(), [])

    def test_says_what_it_installs_before_it_does(self):
        outcome = self.install()
        self.assertEqual(outcome.status, 0, outcome.talk)
        self.assertIn("then installing with apt-get: alpha old-beta\n", outcome.talk)
        self.assertEqual(self.calls(), ["apt-get update -qq",
                                        "apt-get install -y -qq --no-install-recommends alpha old-beta"])

    def test_the_first_name_that_can_be_had_is_taken(self):
        self.world(installed="alpha\n", archive="new-beta\nold-beta\n")
        self.install()
        self.assertIn("recommends new-beta", self.calls()[-1])

    def test_where_apt_fails_the_missing_is_named(self):
        self.world(status="100")
        outcome = self.install()
        self.assertNotEqual(outcome.status, 0)
        self.assertIn("missing: alpha old-beta; install it with: apt-get install alpha old-beta\n",
                      outcome.talk)

    def test_without_root_and_sudo_the_missing_is_named_and_apt_not_called(self):
        self.world(uid="1000")
        outcome = self.install()
        self.assertNotEqual(outcome.status, 0)
        self.assertIn("missing: alpha old-beta; install it with: apt-get install alpha old-beta (as root",
                      outcome.talk)
        self.assertEqual(self.calls(), [])

    def test_without_root_it_goes_through_sudo(self):
        self.world(uid="1000")
        self.program("sudo", 'echo "sudo" >>"$WORLD/calls"; exec "$@"')
        self.assertEqual(self.install().status, 0)
        self.assertEqual(self.calls().count("sudo"), 2)

    def test_without_dpkg_the_needs_are_named(self):
        (self.bin / "dpkg-query").unlink()
        outcome = self.install()
        self.assertNotEqual(outcome.status, 0)
        self.assertIn("missing: dpkg", outcome.talk)
        self.assertIn("alpha new-beta|old-beta", outcome.talk)
        self.assertEqual(self.install(MAPDIAG_NO_INSTALL="1").status, 0)
