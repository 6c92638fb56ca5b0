#!/usr/bin/env python3
"""What mapdiag draws and exports, in the programs that people open it with.

run.py --mapdiag BIN [--speedscope FOLDER] [--go GO] [--pictures FOLDER]

The flame graph in a headless Chromium: zoom, search, keys, what the page then shows. The speedscope
export in speedscope itself, the pprof export in `go tool pprof`. Ends with
"N passed, N failed, N skipped". --pictures keeps screenshots for a person to look at.
"""

import argparse
import base64
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from chromium import Chromium, find_chromium  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/stacks/data"

# m: 10 of 16 samples, with a (4, recursive), b (6); n: 6.
FOLDED = b"m (job.py:1);a (job.py:2);a (job.py:2) 4\nm (job.py:1);b (job.py:3) 6\nn (other.py:9) 6\n"

BLOCKS = """
Array.from(document.querySelectorAll('#frames rect')).filter(r => r.style.display !== 'none').map(r => ({
  name: r.querySelector('title').textContent.split('\\n')[0],
  title: r.querySelector('title').textContent,
  x: Number(r.getAttribute('x')), width: Number(r.getAttribute('width')),
  label: r.nextElementSibling && r.nextElementSibling.tagName === 'text' &&
    r.nextElementSibling.style.display !== 'none' ? r.nextElementSibling.textContent : '',
  hit: r.classList.contains('hit'), now: r.classList.contains('now'), up: r.classList.contains('up')
}))
"""


class Options:
    mapdiag = speedscope = go = pictures = None


class InBrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        path = find_chromium()
        if path is None:
            raise unittest.SkipTest("there is no chromium here")
        cls.browser = Chromium(path)
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="mapdiag-browser."))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def mapdiag(self, *words):
        done = subprocess.run([Options.mapdiag, *words], cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def profile(self, text=FOLDED, name="p.folded"):
        (self.folder / name).write_bytes(text)
        return name


class FlameGraph(InBrowser):
    def draw(self, *words, text=FOLDED):
        self.mapdiag("flamegraph", self.profile(text), "-o", "p.svg", *words)
        self.browser.open(self.folder / "p.svg")
        return self.blocks()

    def blocks(self):
        return self.browser.run(BLOCKS)

    def named(self, name, which=0):
        return [block for block in self.blocks() if block["name"].startswith(name)][which]

    def centre(self, name, which=0):
        return self.browser.run(f"""(() => {{
          const r = Array.from(document.querySelectorAll('#frames rect')).filter(r =>
            r.style.display !== 'none' && r.querySelector('title').textContent.startsWith('{name}'))[{which}];
          const b = r.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; }})()""")

    def click(self, name, which=0):
        self.browser.click(*self.centre(name, which))

    def text(self, name):
        return self.browser.run(f"document.getElementById('{name}').textContent")

    def visible(self, name):
        return self.browser.run(
            f"getComputedStyle(document.getElementById('{name}')).visibility") == "visible"

    def search(self, text):
        self.browser.key("/", "/")
        self.browser.type(text)

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])

    def test_it_shows_all_frames_with_labels_and_hover_texts(self):
        blocks = self.draw()
        self.assertEqual([block["name"] for block in blocks],
                         ["all", "m (job.py:1)", "a (job.py:2)", "a (job.py:2)", "b (job.py:3)",
                          "n (other.py:9)"])
        self.assertEqual(blocks[1]["title"], "m (job.py:1)\n10 samples, 62.50 %")
        self.assertEqual(blocks[1]["label"], "m (job.py:1)")
        self.assertFalse(self.visible("reset"))
        self.browser.move(*self.centre("b ("))
        self.assertEqual(self.text("details"), "b (job.py:3), 6 samples, 37.50 %")

    def test_a_click_zooms_and_reset_goes_back(self):
        before = self.draw()
        whole = before[0]["width"]
        self.click("m (")
        self.assertEqual([block["name"] for block in self.blocks()],
                         ["all", "m (job.py:1)", "a (job.py:2)", "a (job.py:2)", "b (job.py:3)"])
        self.assertAlmostEqual(self.named("m (")["width"], whole)
        self.assertAlmostEqual(self.named("a (")["width"], whole * 4 / 10, delta=0.01)
        self.assertAlmostEqual(self.named("b (")["x"], before[0]["x"] + whole * 4 / 10, delta=0.01)
        self.assertTrue(self.named("all")["up"])
        self.assertTrue(self.visible("reset"))
        self.click("b (")
        self.assertEqual(len(self.blocks()), 3)
        self.assertIn("100.00 % of the zoomed frame", self.text("details"))
        self.browser.click(*self.browser.run(
            "(() => { const b = document.getElementById('reset').getBoundingClientRect();"
            " return [b.left + b.width / 2, b.top + b.height / 2]; })()"))
        after = self.blocks()
        self.assertEqual([(b["name"], b["label"]) for b in after],
                         [(b["name"], b["label"]) for b in before])
        for one, two in zip(before, after):
            self.assertAlmostEqual(one["x"], two["x"], delta=0.001)
            self.assertAlmostEqual(one["width"], two["width"], delta=0.001)
        self.assertFalse(self.visible("reset"))

    def test_search_marks_matches_and_counts_recursion_once(self):
        self.draw()
        self.search("^a ")
        self.assertEqual(self.text("matched"), "Matched: 25.00 % (2 blocks)")
        self.assertEqual([b["name"] for b in self.blocks() if b["hit"]], ["a (job.py:2)"] * 2)
        self.browser.key("Escape")
        self.assertEqual(self.text("matched"), "")
        self.assertFalse(any(b["hit"] for b in self.blocks()))
        self.search("job")
        self.assertEqual(self.text("matched"), "Matched: 62.50 % (4 blocks)")
        self.browser.key("Escape")
        self.search("(")
        self.assertEqual(self.text("matched"), "Not a regular expression")
        self.assertEqual(self.browser.run("document.getElementById('find').className"), "bad")
        self.browser.key("Escape")
        self.search("nowhere")
        self.assertEqual(self.text("matched"), "Matched: 0.00 % (0 blocks)")

    def test_search_stays_while_zooming(self):
        self.draw()
        self.search("other")
        self.browser.key("Enter", "\r")
        self.assertEqual(self.text("matched"), "Matched: 37.50 % (1 block)")
        self.click("n (")
        self.assertTrue(self.named("n (")["hit"])

    def test_it_can_be_used_by_keyboard_alone(self):
        self.draw()
        self.browser.run("document.documentElement.focus()")
        self.browser.key("ArrowUp")
        self.assertTrue(self.named("all")["now"])
        self.browser.key("ArrowUp")
        self.assertTrue(self.named("m (")["now"])
        self.browser.key("ArrowRight")
        self.assertTrue(self.named("n (")["now"])
        self.browser.key("ArrowLeft")
        self.browser.key("ArrowUp")
        self.assertTrue(self.named("b (")["now"])
        self.browser.key("ArrowDown")
        self.browser.key("Enter", "\r")
        self.assertEqual(self.text("details"),
                         "m (job.py:1), 10 samples, 62.50 %, 100.00 % of the zoomed frame")
        self.assertNotIn("n (other.py:9)", [b["name"] for b in self.blocks()])
        self.browser.key("Escape")
        self.assertEqual(len(self.blocks()), 6)

    def test_an_icicle_and_a_picture_of_a_difference_work_as_well(self):
        self.draw("--icicle", "--title", "Upside <down>")
        self.assertEqual(self.browser.run("document.title"), "Upside <down>")
        self.assertEqual(self.text("title"), "Upside <down>")
        self.browser.run("document.documentElement.focus()")
        self.browser.key("ArrowDown")
        self.browser.key("ArrowDown")
        self.assertTrue(self.named("m (")["now"])
        self.profile(b"m (job.py:1);a (job.py:2) 10\n", "before.folded")
        self.draw("--diff", "before.folded")
        self.assertEqual(self.named("b (")["title"],
                         "b (job.py:3)\n6 samples, 37.50 % (before 0.00 %, change +37.50 points, new)")
        self.click("m (")
        self.assertEqual(len(self.blocks()), 5)

    def test_others_are_shown_and_are_no_frames_of_a_search(self):
        blocks = self.draw("--min-width", "30")
        self.assertEqual([b["name"] for b in blocks],
                         ["all", "m (job.py:1)", "b (job.py:3)", "[1 others]", "n (other.py:9)"])
        self.search("others")
        self.assertEqual(self.text("matched"), "Matched: 0.00 % (0 blocks)")

    def test_names_with_markup_and_wide_letters(self):
        name = "<b>&\"'变換größe😀"
        self.draw(text=f"m;{name} 3\n".encode())
        self.assertEqual(self.named("<b>")["label"], name)
        self.search("größe")
        self.assertEqual(self.text("matched"), "Matched: 100.00 % (1 block)")

    def test_letters_can_be_read_in_light_and_dark(self):
        """Contrast of the text to each block's colour, as WCAG 2.2 asks for: 4.5 to 1."""
        script = """(() => {
          const light = c => { const [r, g, b] = c.match(/[0-9.]+/g).slice(0, 3).map(v => {
            v /= 255; return v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); });
            return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
          let worst = 99;
          document.querySelectorAll('#frames rect').forEach(r => {
            const next = r.nextElementSibling, hit = r.classList.contains('hit');
            if (hit && (!next || next.tagName !== 'text')) { return; }
            const t = hit ? next : document.querySelector('#frames rect:not(.hit) + text');
            const a = light(getComputedStyle(r).fill), b = light(getComputedStyle(t).fill);
            worst = Math.min(worst, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
          });
          return worst; })()"""
        text = (DATA / "full.folded").read_bytes() + b"k_[k];j_[j];i_[i];plain 200\n" + b"".join(
            b"f%d (m%d.py:1) 30\n" % (i, i) for i in range(40))
        self.profile(DATA.joinpath("plain.folded").read_bytes(), "before.folded")
        for words in (["--palette", name] for name in ("warm", "cool", "module", "grey")):
            self.check_contrast(script, text, words)
        self.check_contrast(script, text, ["--diff", "before.folded"])

    def check_contrast(self, script, text, words):
        for scheme in ("light", "dark"):
            self.browser.look(scheme)
            self.draw(*words, text=text)
            self.search("listcomp|plain")
            if Options.pictures:
                name = f"{'-'.join(words).strip('-').replace('.', '-')}-{scheme}.png"
                (Options.pictures / name).write_bytes(self.browser.picture())
            self.assertGreaterEqual(self.browser.run(script), 4.5, f"{words} {scheme}")
        self.browser.look("")


class Exports(InBrowser):
    def test_speedscope_reads_the_export_with_equal_totals(self):
        if not Options.speedscope:
            self.skipTest("speedscope is not at hand")
        page = pathlib.Path(Options.speedscope) / "node_modules/speedscope/dist/release/index.html"
        self.mapdiag("export", self.profile(), "--to", "speedscope", "-o", "p.json")
        # As speedscope's own command line hands a file to its page.
        packed = base64.b64encode((self.folder / "p.json").read_bytes()).decode()
        script = self.folder / "p.js"
        script.write_text(f"speedscope.loadFileFromBase64('p.json', '{packed}')", encoding="utf-8")
        self.browser.open(page, f"#localProfilePath={script}")
        self.browser.wait_until("document.body.innerText.includes('p.folded')")
        # Its "sandwich" view has a table of all functions: total and self weight, then the name.
        self.browser.run("window.dispatchEvent(new KeyboardEvent('keypress', {key: '3'}))")
        self.browser.wait_until("document.querySelectorAll('table tr').length > 4")
        rows = self.browser.run("Array.from(document.querySelectorAll('table tr')).map(r => r.innerText)")
        if Options.pictures:
            (Options.pictures / "speedscope.png").write_bytes(self.browser.picture())
        shown = {}
        for row in rows:
            if found := re.match(r"\s*([\d.]+) \([<\d.]+%\)\s+([\d.]+) \([<\d.]+%\)\s+(\w+)", row):
                shown[found[3]] = (float(found[1]), float(found[2]))
        self.assertEqual(shown, {"m": (10, 0), "a": (4, 4), "b": (6, 6), "n": (6, 6)}, rows)


class Pprof(unittest.TestCase):
    def test_go_tool_pprof_reads_the_export_with_equal_totals(self):
        if not Options.go:
            self.skipTest("go is not at hand")
        folder = pathlib.Path(tempfile.mkdtemp(prefix="mapdiag-browser."))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        (folder / "p.folded").write_bytes(FOLDED)
        subprocess.run([Options.mapdiag, "export", "p.folded", "--to", "pprof", "-o", "p.pb.gz"],
                       cwd=folder, check=True)
        done = subprocess.run([Options.go, "tool", "pprof", "-top", "p.pb.gz"], cwd=folder,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Type: samples", done.stdout)
        self.assertIn("Showing nodes accounting for 16, 100% of 16 total", done.stdout)
        rows = dict((words[5], (words[0], words[3])) for words in
                    (line.split() for line in done.stdout.splitlines()) if len(words) == 6)
        self.assertEqual(rows, {"a": ("4", "4"), "b": ("6", "6"), "n": ("6", "6"), "m": ("0", "10")})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mapdiag", required=True)
    parser.add_argument("--speedscope", help="a folder with node_modules/speedscope")
    parser.add_argument("--go", help="a go that has pprof among its tools")
    parser.add_argument("--pictures", type=pathlib.Path)
    parser.add_argument("words", nargs="*", help="only tests whose name holds one of them")
    options = parser.parse_args(namespace=Options)
    Options.mapdiag = str(pathlib.Path(options.mapdiag).resolve())
    if Options.pictures:
        Options.pictures.mkdir(parents=True, exist_ok=True)
    loader = unittest.TestLoader()
    if options.words:
        loader.testNamePatterns = [f"*{word}*" for word in options.words]
    result = unittest.TextTestRunner(verbosity=2).run(loader.loadTestsFromModule(sys.modules["__main__"]))
    failed = len(result.failures) + len(result.errors)
    skipped = len(result.skipped)
    print(f"{result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped")
    sys.exit(bool(failed) or not result.testsRun)


if __name__ == "__main__":
    main()
