# SPDX-License-Identifier: GPL-2.0-only
"""Cost of reading many tasks' profiles, compared with /proc/PID/stat; cost of ktaud."""

import bench
from bench import Figure, median


def cpu(raw, name):
    """ktaud's percentage of a CPU with 1,000 million instructions per second; the seconds."""
    used = raw[f"{name}.ns"][1][0] - raw[f"{name}.ns"][0][0]
    passed = raw[f"{name}.s"][1][0] - raw[f"{name}.s"][0][0]
    return used / passed / 1e7, passed


def measure(kind):
    """One boot. The figure ktaud_awake is the same as ktaud_awake_cpu."""
    raw = bench.boot(f"many_tasks-{kind}", "many_tasks", image=bench.kernel(kind), memory="3G")
    figures = []
    for tasks in (1000, 10000):
        ours, theirs = (median(raw, f"read.{tasks}", column) / tasks for column in (0, 1))
        figures.append(Figure(f"snapshot_rate_{tasks}", ours, "instructions/task",
                              "/proc/PID/stat", theirs, ratio=ours / theirs,
                              spread=bench.spread(raw, f"read.{tasks}"), reach="<= 0.5"))
    one, ten = (median(raw, f"read.{tasks}") for tasks in (1000, 10000))
    figures.append(Figure("snapshot_linear", ten / one / 10, "of 10 times the time",
                          reach="about 1"))
    figures.append(Figure("ktaud_awake", cpu(raw, "ktaud_awake")[0], "% of 1,000 MIPS",
                          reach="<= 1.5"))
    for name in ("ktaud", "ktaud_awake", "ktaud_awake_plain"):
        used, passed = cpu(raw, name)
        figures += [Figure(f"{name}_cpu", used, "% of 1,000 MIPS",
                           reach="<= 0.5" if name == "ktaud" else ""),
                    Figure(f"{name}_rss", median(raw, f"{name}.kib") / 1024, "MiB",
                           reach="<= 32"),
                    Figure(f"{name}_file", median(raw, f"{name}.bytes") / passed / 1024,
                           "KiB/s")]
    return figures
