#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make the pictures of README.md, from the trace of the demo, and of docs/user/views.md.

    picture.py KTAU TRACE OUT.png
    picture.py KTAU TRACE OUT.png VIEW

TRACE is build/demo/trace/*.ktau. The picture shows the CPUs, and tar and gzip, whose frames are
open by depth. With VIEW, TRACE is a file that boot-regions records, in a folder with the traces of
the program. The picture shows the rows of the view, the CPUs, and the ranks, one with its frames.
"""

import os
import subprocess
import sys
import tempfile

from browser import Browser


def picture_of_view(ktau, trace, out, view):
    with Browser(1180, 470) as b, tempfile.NamedTemporaryFile(suffix=".html") as page:
        subprocess.run([ktau, "report", "--html=" + page.name, "--view=" + view, "--region-names=" + os.path.dirname(trace),
                        trace], check=True)
        b.open(page.name)
        b.key("3")
        b.run("""(() => {
            const noted = (line) => line.bytes && decode(line).marks.some((m) => m.type >= USER.MARK);

            for (const line of lines.list)
                if (!noted(line))
                    line.bytes = 0;
            lines.open.add(lines.list.find(noted));
            listLines();
            // The states of each row, without the last one, in which the program ends
            const all = lines.views.flatMap((row) => row.states.slice(0, -1));

            setWindow(Math.min(...all.map((s) => s.start)), Math.max(...all.map((s) => s.end)));
        })()""")
        b.run("new Promise((done) => setTimeout(done, 200))")
        b.screenshot(out)


def main():
    if len(sys.argv) == 5:
        picture_of_view(*sys.argv[1:])
        return
    ktau, trace, out = sys.argv[1:]
    with Browser(1180, 470) as b, tempfile.NamedTemporaryFile(suffix=".html") as page:
        subprocess.run([ktau, "report", "--html=" + page.name, trace], check=True)
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
