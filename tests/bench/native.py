# SPDX-License-Identifier: GPL-2.0-only
"""Cycles that a pair of hooks and a trace slot take on this machine's CPU, in User-mode Linux."""

import re
import subprocess

import bench
from bench import Figure

RUNS = 5
TIMEOUT = 120
LINE = re.compile(r"ktau_bench (\w+) (\d+) (\d+)")


def run(kernel, log):
    """One boot: minimum and median of each kind, in ticks."""
    command = [kernel, "mem=256M", "kunit_shutdown=halt", "kunit.filter_glob=ktau_bench",
               "printk.time=0", "con0=fd:0,fd:1", "con=null"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired as late:
        raise bench.Failed(f"the kernel did not finish within {TIMEOUT} s") from late
    text = done.stdout.decode("utf-8", "replace")
    log.write_text(text, encoding="utf-8")
    if not re.search(r"^ok \d+ ktau_bench", text, re.MULTILINE):
        raise bench.Failed(f"the kernel's test failed; see {log}")
    return {name: (int(least) / 1000, int(median) / 1000)
            for name, least, median in LINE.findall(text)}


def measure():
    """Minima over all boots and their ratio to bare readings, with the medians."""
    kernel = bench.run(["tests/kernel/build", "-k", bench.VERSION, "um"]).splitlines()[-1]
    out = bench.folder("native")
    runs = []
    for i in range(RUNS):
        bench.say(f"native: User-mode Linux, {i + 1} of {RUNS}")
        runs.append(run(kernel, out / f"console.{i}"))
    (out / "raw").write_text("".join(
        f"{name} {least} {median}\n" for one in runs for name, (least, median) in one.items()),
        encoding="ascii")

    def least(name):
        return min(one[name][0] for one in runs)

    def median(name):
        return sorted(one[name][1] for one in runs)[RUNS // 2]

    def figure(metric, value, clocks, middle, reach):
        rival = least(clocks)
        return Figure(metric, value, "ticks", clocks, rival, ratio=value / rival, reach=reach,
                      note=f"{middle / median(clocks):.3g} times in the median")

    added = (least("pair_traced") - least("pair")) / 2
    added_median = (median("pair_traced") - median("pair")) / 2
    return [
        figure("pair_native", least("pair"), "two_clocks", median("pair"), "<= 1.5 times"),
        figure("pair_traced_native", least("pair_traced"), "two_clocks", median("pair_traced"),
               ""),
        figure("trace_native", added, "one_clock", added_median, "<= 1.5 times"),
        figure("slot_native", least("slot"), "one_clock", median("slot"), ""),
    ]
