# SPDX-License-Identifier: GPL-2.0-only
"""Instructions and bytes for each traced system call that ktaud drains."""

import bench
from bench import Figure

POSITION_BYTES = 32	# the unit of positions in a ring


def per_call(raw, name):
    """Instructions of a program for each call that it has drained."""
    before, after, calls = raw[f"{name}.ns"][0]
    return (after - before) / calls


def measure(kind):
    """One boot. Neither program may lose a call, or it would look cheap."""
    raw = bench.boot(f"drain-{kind}", "drain", image=bench.kernel(kind), memory="2G")
    made = raw["ktaud.ns"][0][2]
    calls, positions, lost = raw["ktaud.slots"][0]
    if lost or calls < made:
        raise bench.Failed(f"ktaud has {calls:.0f} calls of {made:.0f}, lost {lost:.0f}")
    seen, lost = raw["trace_cmd.seen"][0]
    rival_made = raw["trace_cmd.ns"][0][2]
    if lost or seen < 2 * rival_made:
        raise bench.Failed(f"trace-cmd has {seen:.0f} records of {rival_made:.0f} calls")
    before, after = raw["ktaud.bytes"][0]
    ours, theirs = per_call(raw, "ktaud"), per_call(raw, "trace_cmd")
    return [Figure("ktaud_per_call", ours, "instructions/call", "trace-cmd", theirs,
                   ratio=ours / theirs),
            Figure("leaf_call_bytes_ring", POSITION_BYTES * positions / calls, "bytes",
                   reach="<= 16"),
            Figure("leaf_call_bytes_file", (after - before) / calls, "bytes", reach="<= 6")]
