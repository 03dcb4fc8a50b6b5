# SPDX-License-Identifier: GPL-2.0-only
"""Records a second that a reader on the other CPU drains without a loss."""

import bench
import rivals
from bench import Figure


def best(raw, key):
    """The highest rate, or 0 if even the lowest lost records."""
    return max((row[0] for row in raw.get(key, [])), default=0)


def measure(kind):
    """One boot with two CPUs. Each system call makes two records in both tracers."""
    raw = bench.boot(f"records-{kind}", "records", *rivals.modules(kind), cpus=2, memory="2G",
                     image=bench.kernel(kind, *rivals.FRAGMENTS[kind]))
    rival = 2 * best(raw, "rate_trace_cmd")
    figures = []
    for name, key in (("trace_loss_rate", "rate_ktaud_plain"),
                      ("trace_loss_rate_compressed", "rate_ktaud")):
        ours = 2 * best(raw, key)
        figures.append(Figure(name, ours, "records/s", "trace-cmd", rival,
                              ratio=ours / rival if rival else None,
                              reach=">= trace-cmd" if name == "trace_loss_rate" else ""))
    figures.append(Figure("trace_loss_rate_lttng", 2 * best(raw, "rate_lttng"), "records/s",
                          note="" if "try_lttng" in raw else "its modules cannot be built"))
    fastest = 2 * max(row[1] for row in raw["try_trace_cmd"] + raw["try_ktaud_plain"])
    figures.append(Figure("trace_writer_limit", fastest, "records/s"))
    return figures
