#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make the picture of README.md from the trace of the demo.

    picture.py KTAU TRACE OUT.png

TRACE is build/demo/trace/*.ktau. The picture shows the CPUs, and tar and gzip, whose frames are
open by depth.
"""

import subprocess
import sys
import tempfile

from browser import Browser


def main():
    ktau, trace, out = sys.argv[1:]
    with Browser(1180, 470) as b, tempfile.NamedTemporaryFile(suffix=".html") as page:
        # The part of the workload in which they run
        subprocess.run([ktau, "report", "--html=" + page.name, "--from=+1.5", trace], check=True)
        b.open(page.name)
        b.key("3")
        b.run("""(() => {
            const last = (name) => lines.list.filter((line) => line.name === name && line.bytes).pop();
            const tar = last("tar"), gzip = last("gzip");

            for (const line of lines.list)
                if (line !== tar && line !== gzip)
                    line.bytes = 0;
            lines.open.add(tar);
            lines.open.add(gzip);
            listLines();
            const middle = gzip.woken[Math.floor(gzip.woken.length / 2)].ns;

            setWindow(middle - 12e6, middle + 12e6);
        })()""")
        b.run("new Promise((done) => setTimeout(done, 200))")
        b.screenshot(out)


main()
