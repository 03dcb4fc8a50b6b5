# SPDX-License-Identifier: GPL-2.0-only
"""Read large recordings, on the host: CPU time and memory, and how they grow with the size."""

import math
import os
import pathlib
import shlex
import subprocess

import bench
from bench import Figure

# Periods of the smaller recording of TASKS tasks; the larger one has ten times as many.
TASKS = 10000
PERIODS = int(os.environ.get("READING_PERIODS", "864"))
EXITED = 360000
SLOTS = 10_000_000
MINUTE = ("--from=+3600", "--to=+3660")

# Name, what to write ("periods", "exited", "slots" or "vms"), command, targets of seconds and MiB.
ROWS = (
    ("report", "periods", ("report",), 15, 64),
    ("minute", "periods", ("report", *MINUTE), 0.5, 64),
    ("check", "periods", ("check",), 10, 64),
    ("top", "periods", ("top", "-d", "1000"), 0.5, None),
    ("over_time", "periods", ("report", "--over-time"), 20, None),
    ("over_time_process", "periods", ("report", "--over-time", "--by=process"), None, 256),
    ("hours", "periods", ("export", "--csv", "--hours", "-o", "OUT"), None, None),
    ("exited", "exited", ("report", "--by=process"), None, 256),
    ("details", "exited", ("report", "--details"), None, 256),
    ("exited_over_time", "exited", ("report", "--over-time", "--by=process"), None, 256),
    ("page", "exited", ("report", "--html=OUT"), None, 256),
    ("exited_csv", "exited", ("export", "--csv", "-o", "OUT"), None, 256),
    ("exited_sqlite", "exited", ("export", "--sqlite", "-o", "OUT"), None, 256),
    ("perfetto", "slots", ("export", "--perfetto", "-o", "OUT"), 1.8, None),
    ("chrome", "slots", ("export", "--chrome", "-o", "OUT"), 6.6, None),
    ("sqlite", "slots", ("export", "--sqlite", "-o", "OUT"), 9.6, None),
    ("vm", "vms", ("vm",), 10, None),
)


def write(path, kind, size):
    """Write recordings with so many periods, exited tasks or slots in all. Returns the files."""
    tests = bench.BUILD / "tests"
    commands = {
        "periods": [tests / "bench/recording", path, TASKS, size],
        "exited": [tests / "unit/tools/test_many", path, size],
        "slots": [tests / "unit/tools/crowd", path, TASKS, size],
        "vms": [tests / "bench/vms", path, size],
    }
    if kind != "vms":
        bench.run(commands[kind])
        return [path]
    path.mkdir()
    bench.run(commands[kind])
    return [path / f"{name}.ktau" for name in ("host", "guest1", "guest2")]


def measured(out, command):
    """User and system seconds, elapsed seconds, and MiB."""
    status = pathlib.Path(f"{out}.time")
    target = pathlib.Path(f"{out}.out")
    bench.remove(target)
    words = [bench.BUILD / "tools/ktau/ktau"] + [word.replace("OUT", str(target))
                                                for word in map(str, command)]
    run = ["/usr/bin/time", "-o", status, "-f", "%U %S %e %M", *words]
    if command[0] == "top":
        # It ends by a key, which it reads after the first screen.
        line = shlex.quote(shlex.join(map(str, run)))
        run = ["sh", "-c", f"(sleep 2; printf q; sleep 2) | script -qfec {line} /dev/null"]
    done = subprocess.run(list(map(str, run)), check=False, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, env={**os.environ, "TERM": "xterm"})
    if done.returncode:
        raise bench.Failed(f"{command}: {done.stderr.decode(errors='replace')}")
    bench.remove(target)
    user, system, elapsed, kib = status.read_text(encoding="ascii").split()
    return float(user) + float(system), float(elapsed), int(kib) / 1024


def exponent(small, large):
    """By which power of the size a figure grows, from sizes that differ by ten."""
    return math.log10(large / small) if small > 0 and large > 0 else None


def figures_of(row, small, large):
    """The figures of one row."""
    name, _, _, seconds, mib = row
    figures = []
    for what, unit, k, limit in (("seconds", "s", 0, seconds), ("memory", "MiB", 2, mib)):
        figures.append(Figure(f"reading_{name}_{what}", large[k], unit, "a tenth of it", small[k],
                              ratio=exponent(small[k], large[k]),
                              reach=f"<= {limit}" if limit else "",
                              note=f"{large[1]:.1f} s elapsed" if what == "seconds" else ""))
    return figures


def measure():
    """Each command with two files; the ratio in the table is the exponent of growth."""
    out = bench.folder("reading")
    sizes = {"periods": 10 * PERIODS, "exited": EXITED, "slots": SLOTS, "vms": SLOTS}
    figures = []
    for kind, size in sizes.items():
        pair = [write(out / f"{kind}-{n}.ktau", kind, n) for n in (size // 10, size)]
        for row in [row for row in ROWS if row[1] == kind]:
            bench.say(f"reading: {row[0]}")
            small, large = (measured(out / row[0], (*row[2], *files)) for files in pair)
            with open(out / "raw", "a", encoding="ascii") as raw:
                raw.write(f"{row[0]} {' '.join(f'{n:.2f}' for n in (*small, *large))}\n")
            figures += figures_of(row, small, large)
        for file in pair[0] + pair[1]:
            file.unlink()
    return figures
