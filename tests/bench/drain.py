# SPDX-License-Identifier: GPL-2.0-only
"""Instructions and bytes for each traced system call that ktaud drains."""

import bench
import rivals
from bench import Figure

POSITION_BYTES = 32	# the unit of positions in a ring


def per_call(raw, name):
    """Instructions of a program for each call that it has drained."""
    before, after, calls = raw[f"{name}.ns"][0]
    return (after - before) / calls


def check_ktaud(raw, name):
    """A run of ktaud that has lost a call would look cheap. Return: positions in the ring a call."""
    made = raw[f"{name}.ns"][0][2]
    calls, positions, lost = raw[f"{name}.slots"][0]
    if lost or calls < made:
        raise bench.Failed(f"{name} has {calls:.0f} calls of {made:.0f}, lost {lost:.0f}")
    return positions / calls


def lttng(raw):
    """What LTTng's consumer takes for a call, None if it was not measured."""
    if "lttng.seen" not in raw:
        return None
    made, seen = raw["lttng.ns"][0][2], raw["lttng.seen"][0][0]
    if seen < made:
        raise bench.Failed(f"LTTng has {seen:.0f} calls of {made:.0f}")
    return per_call(raw, "lttng")


def measure(kind):
    """One boot. No program may lose a call."""
    raw = bench.boot(f"drain-{kind}", "drain", *rivals.modules(kind), memory="2G",
                     image=bench.kernel(kind, *rivals.FRAGMENTS[kind]))
    positions = check_ktaud(raw, "ktaud")
    check_ktaud(raw, "ktaud_plain")
    calls = raw["ktaud.slots"][0][0]
    seen, lost = raw["trace_cmd.seen"][0]
    made = raw["trace_cmd.ns"][0][2]
    if lost or seen < 2 * made:
        raise bench.Failed(f"trace-cmd has {seen:.0f} records of {made:.0f} calls")
    before, after = raw["ktaud.bytes"][0]
    ours, plain = per_call(raw, "ktaud"), per_call(raw, "ktaud_plain")
    theirs, consumer = per_call(raw, "trace_cmd"), lttng(raw)
    return [Figure("ktaud_per_call", ours, "instructions/call", "trace-cmd", theirs,
                   ratio=ours / theirs, reach="<= 620"),
            Figure("ktaud_plain_per_call", plain, "instructions/call", "lttng", consumer,
                   ratio=consumer and plain / consumer, reach="<= 330"),
            Figure("leaf_call_bytes_ring", POSITION_BYTES * positions, "bytes", reach="<= 16"),
            Figure("leaf_call_bytes_file", (after - before) / calls, "bytes", reach="<= 6")]
