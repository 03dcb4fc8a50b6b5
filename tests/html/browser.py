# SPDX-License-Identifier: GPL-2.0-only
"""A headless Chromium, driven by its DevTools protocol over a pair of pipes."""

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

NAMES = ("chromium-headless-shell", "chromium")


class PageError(Exception):
    """The page threw an exception, or the browser rejected a command."""


def find():
    """Path of the browser, or None."""
    for name in NAMES:
        path = shutil.which(name)
        if path:
            return path
    return None


class Browser:
    """One page of one browser; use it in a with statement."""

    def __init__(self, width=1280, height=800):
        self.size = (width, height)
        self.number = 0
        self.buffer = b""
        self.session = None
        self.events = []

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="ktau-browser-")
        to_browser, self.to = os.pipe()
        self.come, from_browser = os.pipe()

        def pipes():
            # The browser reads commands from 3 and answers on 4.
            commands, answers = os.dup(to_browser), os.dup(from_browser)
            os.dup2(commands, 3)
            os.dup2(answers, 4)

        self.process = subprocess.Popen(
            [find(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-pipe",
             f"--user-data-dir={self.folder}",
             f"--window-size={self.size[0]},{self.size[1]}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=pipes, close_fds=False, start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(domain + ".enable")
        return self

    def __exit__(self, *_):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def message(self, deadline):
        """The next message of the browser."""
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.come], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self.come, 1 << 20)
            if not data:
                raise PageError("the browser has exited")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def take(self, message):
        """Keep events of the page."""
        if "method" in message:
            self.events.append(message)

    def send(self, method, timeout=60, **params):
        """Send a command and return its result."""
        self.number += 1
        command = {"id": self.number, "method": method, "params": params}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.to, json.dumps(command).encode() + b"\0")
        deadline = time.monotonic() + timeout
        while True:
            message = self.message(deadline)
            if message.get("id") == self.number:
                break
            self.take(message)
        if "error" in message:
            raise PageError(f"{method}: {message['error']['message']}")
        return message["result"]

    def run(self, expression):
        """The value of an expression in the page; a promise is awaited."""
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise PageError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def wait(self, expression, timeout=60):
        """Wait until an expression is true."""
        deadline = time.monotonic() + timeout
        while not self.run(expression):
            if time.monotonic() > deadline:
                raise TimeoutError(expression)
            time.sleep(0.02)

    def open(self, path, dark=False):
        """Load a file and return the seconds until its first view was drawn."""
        self.events = []
        self.send("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        start = time.monotonic()
        self.send("Page.navigate", url="file://" + os.path.abspath(path))
        self.wait("document.body !== null && 'readyMs' in document.body.dataset")
        return time.monotonic() - start

    def problems(self):
        """Errors in the page, and its requests to the network."""
        self.run("0")
        found = []
        for event in self.events:
            params = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                found.append(details.get("exception", {}).get("description", details["text"]))
            elif event["method"] == "Log.entryAdded":
                found.append(params["entry"]["text"])
            elif event["method"] == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not url.startswith(("file:", "about:", "data:")):
                    found.append("request for " + url)
        return found

    def mouse(self, kind, x, y, **more):
        """A mouse event of the browser itself."""
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, selector):
        """Click in the middle of an element."""
        x, y = self.run("(() => { const r = document.querySelector(%s).getBoundingClientRect();"
                        "return [r.x + r.width / 2, r.y + r.height / 2]; })()"
                        % json.dumps(selector))
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def key(self, key):
        """Press a key that types a character."""
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, text=key)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key)

    def screenshot(self, path):
        """Save a picture of the visible part as PNG."""
        data = self.send("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
