# SPDX-License-Identifier: GPL-2.0-only
"""The figures of the exact gate, and what trace events add to the same loads in the same boot."""

import bench
from bench import Figure

# Metric; its name in tests/progs/exact/cost; the load; the events that trace the same, if any; target.
ROWS = (
    ("syscall_pair_account", "syscall_pair_account", "getppid", "syscalls", "<= 66"),
    ("syscall_leaf_traced", "syscall_pair_profile_trace", "getppid", "syscalls", "<= 90"),
    ("nested_traced", "nested_traced", "read", "function_graph", "<= 148"),
    ("fault_pair", "fault_pair_profile", "page_fault", "faults", "<= 60"),
    ("irq_pair", "irq_pair", "interrupt", "interrupts", "<= 84"),
    ("irq_unselected", "irq_unselected", "interrupt", "interrupts", "<= 70"),
    ("irq_off_again", "irq_off_again", "interrupt", None, "<= 7"),
    ("irq_hrtimer", "irq_hrtimer", "interrupt", "hrtimers", "<= 220"),
    ("switch_pair", "switch_pair", "round_trip", "switches", "<= 250"),
)

# The least number of records that the events make of the 1,000 calls of a load.
SEEN = 1000


def measure(kind):
    """One boot, which traces the loads with events and then with KTAU."""
    raw = bench.boot(f"exact-{kind}", "exact", image=bench.kernel(kind), limit=3600)

    def value(key):
        return raw[key][0][0]

    figures = []
    for metric, name, load, events, reach in ROWS:
        ours = value(f"ktau.{name}")
        if not events:
            figures.append(Figure(metric, ours, "instructions", reach=reach))
            continue
        if value(f"{events}.seen") < SEEN:
            raise bench.Failed(f"{events}: {value(f'{events}.seen'):.0f} records")
        added = value(f"{events}.{load}") - value(f"bare.{load}")
        figures.append(Figure(metric, ours, "instructions", f"events:{events}", added,
                              reach=reach, ratio=added / ours))
    return figures
