# SPDX-License-Identifier: GPL-2.0-only
"""Shared code of the bench's parts: guests, raw figures, tables."""

import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import threading
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("B", TOP / "build")).resolve()
OUT = BUILD / "bench"
VERSION = os.environ.get("KERNEL", "6.1")

# The kernels of the parts that boot a guest: the boot tests' kernel, and one with Debian's flags.
KERNELS = {"plain": "x86_64", "distro": "x86_64-distro"}

# "All groups" in the tables: the nine of the original KTAU. The word "all" enables more.
ORIGINAL_GROUPS = "syscall,irq,bh,sched,exception,signal,socket,tcp,icmp"

# With exact time, one tick of the cycle counter is one instruction, and one ns.
EXACT_WORDS = "mitigations=off quiet"


class Failed(Exception):
    """A part cannot be measured; the text is the reason."""


class Figure:
    """One line of bench.tsv. A value that was not measured is None, with the reason in note."""

    def __init__(self, metric, value, unit, rival="-", rival_value=None, *, ratio=None,
                 spread=None, reach="", note=""):
        self.metric = metric
        self.value = value
        self.unit = unit
        self.rival = rival
        self.rival_value = rival_value
        self.ratio = ratio
        self.spread = spread
        self.reach = reach
        self.note = note

    def tsv(self, kernel):
        """The line of bench.tsv; kernel is one of KERNELS, or "-"."""
        return "\t".join((self.metric, number(self.value), self.unit, self.rival,
                          number(self.rival_value), number(self.ratio), kernel)) + "\n"


def number(value):
    """Four significant digits, whole numbers in full, - for a missing value."""
    if value is None:
        return "-"
    if value == int(value) or abs(value) >= 1000:
        return str(round(value))
    return f"{value:.4g}"


def say(text):
    """Print progress."""
    print(f"  {text}", flush=True)


def run(command, **options):
    """Run a program in the top folder; an error has the end of its output."""
    done = subprocess.run([str(word) for word in command], cwd=TOP, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise Failed(f"{command[0]} ended with {done.returncode}:\n{tail}")
    return done.stdout


def kernel(kind, *fragments, ktau=True):
    """Build one of KERNELS if necessary, with KTAU or without, and return its path."""
    name = "-".join([KERNELS[kind], *fragments, *([] if ktau else ["noktau"])])
    command = ["tests/kernel/build", "-k", VERSION, "-n", name, KERNELS[kind], *fragments]
    done = subprocess.run(command, cwd=TOP, check=False, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "KTAU": "y" if ktau else "n"})
    if done.returncode:
        raise Failed("the kernel cannot be built")
    return done.stdout.splitlines()[-1]


def wait_for(command):
    """Run a program that prints progress; returns its status. On Ctrl-C it can clean up."""
    process = subprocess.Popen(command, cwd=TOP)
    try:
        return process.wait()
    except BaseException:
        process.terminate()
        process.wait()
        raise


def folder(name):
    """An empty folder for the raw figures of a part."""
    path = OUT / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def remove(path):
    """Remove a file or a folder, if it exists."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def boot(name, script, *arguments, image, words="", cpus=1, memory="1G", limit=1800):
    """Run a script of guest/, or another one, and return its raw figures."""
    out = folder(name)
    # QEMU counts for one CPU only
    options = ["-e", "-a", f"{EXACT_WORDS} {words}"] if cpus == 1 else ["-a", words]
    command = ["tests/boot/run", "-k", image, "-c", str(cpus), "-m", memory, "-t", str(limit),
               "-o", str(out), *options,
               script if "/" in script else f"tests/bench/guest/{script}", *arguments]
    say(f"{name}: a guest, {cpus} CPU{'s' if cpus > 1 else ''}")
    with Clock(name):
        status = wait_for(command)
    if status:
        raise Failed(f"{name}: the guest's script ended with {status}; see {out}")
    return raw(out / "raw") if (out / "raw").exists() else {}


class Clock:
    """Prints a line each minute while a long command runs."""

    def __init__(self, name):
        self.name = name
        self.done = threading.Event()
        self.start = time.monotonic()

    def report(self):
        """Print until stopped."""
        while not self.done.wait(60):
            say(f"{self.name}: {(time.monotonic() - self.start) / 60:.0f} min")

    def __enter__(self):
        threading.Thread(target=self.report, daemon=True).start()

    def __exit__(self, *_):
        self.done.set()


def raw(path):
    """Lines "KEY VALUE...": a list of rows of numbers for each key."""
    figures = {}
    for line in path.read_text(encoding="ascii").splitlines():
        key, *values = line.split()
        figures.setdefault(key, []).append([float(value) for value in values])
    return figures


def median(figures, key, column=0):
    """The median of the repetitions, or None without any."""
    rows = figures.get(key)
    return statistics.median(row[column] for row in rows) if rows else None


def spread(figures, key, column=0):
    """Largest minus smallest repetition, as a share of the median."""
    values = [row[column] for row in figures[key]]
    return (max(values) - min(values)) / statistics.median(values)


def table(head, rows, file=None):
    """Print columns, the first one left-aligned, the others right-aligned."""
    text = [[str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(len(row[i]) for row in text) for i in range(len(head))]
    for row in text:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        print("  " + "  ".join(cells).rstrip(), file=file or sys.stdout)
