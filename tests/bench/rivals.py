# SPDX-License-Identifier: GPL-2.0-only
"""Other tracers on the same system call and the same pipe, in the same boot as KTAU."""

import bench
from bench import Figure, median

CALLS = 60 * 2000	# one batch warms up

# The distribution's kernel gets the tracers that its configuration does not have.
FRAGMENTS = {"plain": [], "distro": ["rivals"]}

# Target for each: how many times cheaper KTAU is on one getppid().
RIVALS = {
    "raw_syscalls": 15,
    "function_graph": 15,
    "function_profile": 5,
    "kretprobe": 15,
    "hist_trigger": 15,
    "perf_trace": 15,
    "bpftrace": 15,
    "lttng": 5,
    "sysdig": 5,
    "uftrace": 15,
}

# These lose calls at full speed on one CPU, so only a batch without a reader is a figure.
LOSERS = ("sysdig",)


def least(raw, name):
    """Instructions of one getppid(), from a batch without interrupts."""
    return min(row[0] for row in raw[f"getppid.{name}"])


def own(raw):
    """KTAU's cost for one getppid(), which has an entry and an exit."""
    bare = least(raw, "bare")
    pairs = [("syscall_pair_profile", "ktau_syscall", 1, "<= 49"),
             ("syscall_pair_profile_trace", "ktau_syscall_trace", 1, "<= 90"),
             ("hook_unselected", "ktau_unselected", 2, "<= 4.5"),
             ("hook_off_again", "ktau_off", 2, "<= 2")]
    return [Figure(name, (least(raw, key) - bare) / hooks, "instructions", "bare getppid", bare,
                   spread=bench.spread(raw, f"getppid.{key}"), reach=reach)
            for name, key, hooks, reach in pairs]


def rival(raw, name, times, pair, where):
    """One rival's figure; it must have seen each call."""
    added = median(raw, f"getppid.{name}")
    if added is None:
        return Figure(f"rival_{name}", pair, "instructions", name, reach=f">= {times} times",
                      note=f"does not run in the guest; see output in build/bench/{where}")
    added -= median(raw, "getppid.bare")
    seen = max(row[0] for row in raw[f"{name}.seen"])
    if name in LOSERS:
        added = least(raw, name) - least(raw, "bare")
        return Figure(f"rival_{name}", pair, "instructions", name, added, ratio=added / pair,
                      reach=f">= {times} times",
                      note=f"the least batch; it saw {seen:.0f} calls of {CALLS}")
    if seen < CALLS:
        raise bench.Failed(f"{name} saw {seen:.0f} calls of {CALLS}")
    return Figure(f"rival_{name}", pair, "instructions", name, added, ratio=added / pair,
                  spread=bench.spread(raw, f"getppid.{name}"), reach=f">= {times} times")


def share(raw, name):
    """Cost added by a tracer to a round trip, in percent."""
    bare = median(raw, "pipe.bare")
    traced = median(raw, f"pipe.{name}")
    return None if traced is None else 100 * (traced / bare - 1)


def modules(kind):
    """The folder with modules of tracers that have some; none if they cannot be built."""
    name = "-".join([bench.KERNELS[kind], *FRAGMENTS[kind]])
    try:
        lines = bench.run(["tests/kernel/tracers", "-k", bench.VERSION, "-n", name,
                           bench.KERNELS[kind], *FRAGMENTS[kind]]).splitlines()
    except bench.Failed as reason:
        bench.say(str(reason))
        return []
    return lines[-1:]


def measure(kind):
    """One boot."""
    where = f"rivals-{kind}"
    raw = bench.boot(where, "rivals", bench.ORIGINAL_GROUPS, *modules(kind), memory="4G",
                     image=bench.kernel(kind, *FRAGMENTS[kind]))
    pair = least(raw, "ktau_syscall") - least(raw, "bare")
    figures = own(raw) + [rival(raw, name, times, pair, where)
                            for name, times in RIVALS.items()]
    for name in ("raw_syscalls", "hist_trigger", "perf_trace", "bpftrace", "lttng", "uftrace"):
        ours, theirs = share(raw, "ktau_all"), share(raw, name)
        figures.append(Figure("pipe_all", ours, "%", name, theirs, reach="<= 6 %",
                              ratio=theirs and theirs / ours,
                              spread=bench.spread(raw, "pipe.ktau_all")))
    figures.append(Figure("pipe_off_again", median(raw, "pipe.ktau_off") - median(raw, "pipe.bare"),
                          "instructions", reach="<= 10"))
    return figures + [Figure("pipe_all_trace", share(raw, "ktau_trace"), "%", reach="<= 11 %"),
                      Figure("pipe_wait", share(raw, "ktau_wait"), "%",
                             reach="<= pipe_all + 4 %"),
                      Figure("pipe_account", share(raw, "ktau_account"), "%",
                             reach="<= pipe_all + 4 %")]
