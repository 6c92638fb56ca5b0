"""Makefile.example, run with a stand-in for linkml-map and the real mapdiag."""

import os
import pathlib
import stat

from harness import MapdiagTest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Ends the way that the environment says for its entity: STUB_Alpha=7, STUB_Beta=KILL.
STUB = """#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in
    --entity) entity=$2 ;;
    -o) output=$2 ;;
  esac
  shift
done
echo "mapping $entity"
echo "talk of $entity" >&2
echo half >"$output"
eval "how=\\${STUB_$entity:-0}"
case $how in
  [0-9]*) exit "$how" ;;
  *) kill -s "$how" $$; sleep 60 ;;
esac
"""

SPEC = """# A spec.
- class_derivations:
    {name}:
      populated_from: rows
      slot_derivations:
        depth:
          class_derivations:
            Quantity:
              populated_from: rows
"""


class MakefileExample(MapdiagTest):
    def setUp(self):
        super().setUp()
        self.stub = self.folder / "linkml-map"
        self.stub.write_text(STUB)
        self.stub.chmod(self.stub.stat().st_mode | stat.S_IXUSR)
        (self.folder / "specs").mkdir()
        for name in ("Alpha", "Beta", "Gamma"):
            (self.folder / "specs" / f"{name.lower()}.yaml").write_text(SPEC.format(name=name))
        self.mapped = self.folder / "out" / "mapped-data"

    def make(self, *words, on=False, **stub):
        """Runs the recipe; the keywords say how each entity's stand-in ends."""
        settings = [f"MAPDIAG={self.mapdiag_path}", f"LINKML_MAP={self.stub}", "DM_OUTPUT_DIR=out"]
        if on:
            settings.append("DM_MAP_PROFILE=true")
        env = {f"STUB_{name}": str(how) for name, how in stub.items()}
        # The stand-in is no Python, and looking for a py-spy is not what is tested here.
        env["MAPDIAG_PYSPY"] = "/bin/false"
        env["MAKEFLAGS"] = None
        return self.run_command("make", "-f", ROOT / "Makefile.example", "map-data", *settings,
                                *words, env=env)

    def sentinels(self):
        return sorted(path.name for path in self.mapped.glob(".*_complete"))

    def log(self, entity):
        return (self.mapped / "logs" / f"{entity}.log").read_text()

    def test_all_good_makes_every_sentinel_and_log(self):
        for on in (False, True):
            with self.subTest(on=on):
                outcome = self.make("-B", on=on)
                self.assertEqual(outcome.status, 0, outcome.talk)
                self.assertEqual(self.sentinels(),
                                 [".Alpha_complete", ".Beta_complete", ".Gamma_complete"])
                for entity in ("Alpha", "Beta", "Gamma"):
                    self.assertIn(f"mapping {entity}\n", self.log(entity))
                    self.assertIn(f"talk of {entity}\n", self.log(entity))
                    self.assertEqual(f"[diag {entity}] " in self.log(entity), on)

    def test_a_finished_entity_is_not_mapped_again(self):
        self.assertEqual(self.make().status, 0)
        outcome = self.make(Alpha=1, Beta=1, Gamma=1)
        self.assertEqual(outcome.status, 0, outcome.talk)

    def test_strict_a_status_of_1_fails_and_leaves_no_sentinel(self):
        for on in (False, True):
            with self.subTest(on=on):
                outcome = self.make("-k", on=on, Beta=1)
                self.assertEqual(outcome.status, 2)
                self.assertIn("map-data 'Beta': exited with code 1\n", outcome.talk)
                self.assertEqual(self.sentinels(), [".Alpha_complete", ".Gamma_complete"])

    def test_not_strict_a_status_of_1_is_reported_and_the_others_go_on(self):
        for on in (False, True):
            with self.subTest(on=on):
                outcome = self.make("DM_MAP_STRICT=false", on=on, Alpha=1)
                self.assertEqual(outcome.status, 0, outcome.talk)
                self.assertIn("map-data 'Alpha': exited with code 1; going on", outcome.talk)
                self.assertEqual(self.sentinels(), [".Beta_complete", ".Gamma_complete"])

    def test_a_death_by_signal_is_fatal_even_when_not_strict(self):
        for how, number in (("KILL", 9), ("TERM", 15), ("SEGV", 11), (137, 9), (143, 15)):
            for on in (False, True):
                with self.subTest(how=how, on=on):
                    outcome = self.make("-k", "-j", "3", "DM_MAP_STRICT=false", on=on, Gamma=how)
                    self.assertEqual(outcome.status, 2)
                    self.assertIn(f"map-data 'Gamma': FATAL: killed by signal {number};",
                                  outcome.talk)
                    self.assertEqual(self.sentinels(), [".Alpha_complete", ".Beta_complete"])

    def test_in_parallel_each_log_holds_its_own_entity_only(self):
        outcome = self.make("-j", "3", on=True)
        self.assertEqual(outcome.status, 0, outcome.talk)
        for entity in ("Alpha", "Beta", "Gamma"):
            for other in {"Alpha", "Beta", "Gamma"} - {entity}:
                self.assertNotIn(other, self.log(entity))

    def test_mapdiag_may_stand_in_run_too(self):
        outcome = self.make(f"RUN={self.mapdiag_path} run --", on=True)
        self.assertEqual(outcome.status, 0, outcome.talk)
        self.assertEqual((self.mapped / ".entities").read_text(), "Alpha\nBeta\nGamma\n")
        self.assertEqual(len(self.sentinels()), 3)

    def test_diagnosis_off_prints_nothing_of_ours(self):
        self.make()
        self.assertNotIn("[diag", self.log("Alpha"))
        self.assertEqual([p.name for p in self.mapped.glob("logs/*") if p.suffix != ".log"], [])
        self.assertNotIn(os.fspath(self.mapdiag_path), self.log("Alpha"))
