#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make the picture of README.md from the page of the demo.

    picture.py PAGE OUT.png     tar and gzip at the end of the traced part
"""

import sys

from browser import Browser


def main():
    with Browser(1180, 470) as b:
        b.open(sys.argv[1])
        b.key("3")
        b.run("""(() => {
            const tar = lines.list.filter((line) => line.name === "tar" && line.bytes).pop();
            const gzip = lines.list.filter((line) => line.name === "gzip" && line.bytes).pop();
            decode(tar);
            decode(gzip);
            lines.open.add(tar);
            lines.open.add(gzip);
            listLines();
            const middle = gzip.woken[Math.floor(gzip.woken.length / 2)].ns;
            setWindow(middle - 12e6, middle + 12e6);
            document.getElementById("time-box").scrollTop = gzip.y - 210;
        })()""")
        b.run("new Promise((done) => setTimeout(done, 200))")
        b.screenshot(sys.argv[2])


main()
