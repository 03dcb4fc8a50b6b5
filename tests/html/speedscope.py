# SPDX-License-Identifier: GPL-2.0-only
"""speedscope in a headless Chromium: what it reads from a file."""

import base64
import json
import os

from browser import Browser


def console(browser):
    """What speedscope wrote to the console."""
    return [str(argument.get("value")) for event in browser.events
            if event["method"] == "Runtime.consoleAPICalled" for argument in event["params"]["args"]]


def read(release, path, picture):
    """Open a file as speedscope's own command does, and let speedscope save what it has read.

    Returns the saved profiles, the text of the sandwich view of the first one, and the console.
    """
    script = picture + ".js"
    with open(path, "rb") as file:
        data = base64.b64encode(file.read()).decode()
    with open(script, "w", encoding="utf-8") as file:
        file.write(f'speedscope.loadFileFromBase64("profile", "{data}")')
    with Browser() as browser:
        browser.send("Page.navigate", url="file://" + os.path.join(release, "index.html") +
                     "#localProfilePath=" + script)
        browser.wait("document.title.startsWith('profile')")
        browser.screenshot(picture)
        browser.run("URL.createObjectURL = (blob) => { window.saved = blob; return '#'; }; 0")
        browser.send("Input.dispatchKeyEvent", type="keyDown", key="s", code="KeyS", modifiers=2,
                     windowsVirtualKeyCode=83)
        browser.wait("window.saved !== undefined")
        saved = json.loads(browser.run("window.saved.text()"))
        browser.key("3")
        # The rows come after the head of the table
        browser.wait("/Symbol Name\\s+\\S/.test(document.body.innerText)")
        return saved, browser.run("document.body.innerText"), console(browser)
