"""A headless Chromium, driven by its DevTools protocol over a pair of pipes."""

import base64
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time


def find_chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    return None


class Chromium:
    """One browser process with one page. Messages are JSON, each ended by a NUL byte."""

    def __init__(self, path):
        self.folder = tempfile.mkdtemp(prefix="mapdiag-chromium.")
        to_browser, self.out = os.pipe()
        self.back, from_browser = os.pipe()

        def descriptors():
            # The protocol's places are 3 and 4. Copies first: one of the pipes may stand there.
            read, write = os.dup(to_browser), os.dup(from_browser)
            while read in (3, 4):
                read = os.dup(read)
            while write in (3, 4):
                write = os.dup(write)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-background-networking", "--disable-component-update",
             "--disable-extensions", "--hide-scrollbars", "--allow-file-access-from-files",
             "--remote-debugging-pipe", f"--user-data-dir={self.folder}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=descriptors, close_fds=False, start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.number = 0
        self.events = []
        target = self.wait_for_page()
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.page(f"{domain}.enable")
        self.page("Emulation.setDeviceMetricsOverride", width=1220, height=640,
                  deviceScaleFactor=1, mobile=False)

    def close(self):
        try:
            self.call("Browser.close")
        except (OSError, EOFError):
            pass
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.out)
        os.close(self.back)
        shutil.rmtree(self.folder, ignore_errors=True)

    def wait_for_page(self):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            for target in self.call("Target.getTargets")["targetInfos"]:
                if target["type"] == "page":
                    return target["targetId"]
        raise AssertionError("Chromium has no page after a minute")

    def message(self, timeout=60):
        while b"\0" not in self.buffer:
            if not select.select([self.back], [], [], timeout)[0]:
                raise AssertionError(f"Chromium said nothing for {timeout} s")
            piece = os.read(self.back, 1 << 20)
            if not piece:
                raise EOFError("Chromium is gone")
            self.buffer += piece
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, session=None, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def page(self, method, **params):
        return self.call(method, self.session, **params)

    def wait_event(self, name):
        for place, event in enumerate(self.events):
            if event.get("method") == name:
                del self.events[place]
                return event
        while True:
            event = self.message()
            if event.get("method") == name:
                return event
            self.events.append(event)

    def open(self, path, fragment=""):
        """Opens a file and waits until it is loaded."""
        self.events.clear()
        self.page("Page.navigate", url=pathlib.Path(path).resolve().as_uri() + fragment)
        self.wait_event("Page.loadEventFired")

    def run(self, script):
        """The value of a JavaScript expression in the page."""
        done = self.page("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise AssertionError(f"{script}: {done['exceptionDetails']}")
        return done["result"].get("value")

    def wait_until(self, script, timeout=60):
        """Waits until a JavaScript expression is true in the page."""
        deadline = time.monotonic() + timeout
        while not self.run(script):
            if time.monotonic() > deadline:
                raise AssertionError(f"never became true: {script}")
            time.sleep(0.05)

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.page("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def move(self, x, y):
        self.page("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def key(self, key, text=""):
        extra = {"text": text} if text else {}
        self.page("Input.dispatchKeyEvent", type="keyDown", key=key, **extra)
        self.page("Input.dispatchKeyEvent", type="keyUp", key=key)

    def type(self, text):
        for letter in text:
            self.key(letter, letter)

    def complaints(self):
        """What the page complained of, and what it asked for outside of itself, since open()."""
        self.run("1")  # what happened until now has come in with the answer
        said = []
        for event in self.events:
            params = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                said.append(params["exceptionDetails"].get("text", "an exception"))
            elif event.get("method") == "Log.entryAdded":
                said.append(params["entry"]["text"])
            elif event.get("method") == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if params.get("type") != "Document" and not url.startswith("data:"):
                    said.append(f"asked for {url}")
        return said

    def look(self, scheme):
        self.page("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self):
        return base64.b64decode(self.page("Page.captureScreenshot", format="png")["data"])
