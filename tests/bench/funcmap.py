# SPDX-License-Identifier: GPL-2.0-only
"""Resolve addresses: funcMap on a stream of 100 MB, and addr2line with the same symbols."""

import random
import subprocess

import bench
from bench import Figure

SYMBOLS = 150000
SPACING = 64
BASE = 0xffffffff81000000
BYTES = 100_000_000
LINE = 19			# 0x, 16 digits, end of line
RIVAL_ADDRESSES = 4000
SEED = 1


def make_vmlinux(out):
    """An ELF file with SYMBOLS functions at a kernel's address."""
    lines = [".text"]
    for i in range(SYMBOLS):
        name = "_stext" if not i else f"function_{i:06d}"
        lines += [f".globl {name}", f".type {name},@function", f".size {name},{SPACING}",
                  f"{name}: .skip {SPACING}, 0x90"]
    (out / "symbols.s").write_text("\n".join(lines) + "\n", encoding="ascii")
    bench.run(["as", "-o", out / "symbols.o", out / "symbols.s"])
    bench.run(["ld", "-e", "_stext", f"-Ttext={BASE:#x}", "-o", out / "vmlinux",
               out / "symbols.o"])
    return out / "vmlinux"


def make_stream(path, size):
    """Write random addresses in the functions, one per line."""
    rng = random.Random(SEED)
    block = "".join(f"{BASE + rng.randrange(SYMBOLS * SPACING):#018x}\n" for _ in range(200000))
    with open(path, "w", encoding="ascii") as stream:
        for _ in range(size // len(block)):
            stream.write(block)
        stream.write(block[:size % len(block) // LINE * LINE])
    return size // LINE


def timed(command, stdin, stdout):
    """Seconds and peak memory in MiB of a program."""
    with open(stdin, "rb") as source, open(stdout, "wb") as sink:
        process = subprocess.Popen(["/usr/bin/time", "-f", "%U %S %M", *map(str, command)],
                                   stdin=source, stdout=sink, stderr=subprocess.PIPE, text=True)
        said = process.communicate()[1]
    if process.returncode:
        raise bench.Failed(f"{command[0]}: {said}")
    user, system, kib = said.split()[-3:]
    return float(user) + float(system), int(kib) / 1024


def repeat(out, name, command, stream, addresses):
    """Run three times; returns rates in addresses a second, and the peak memory."""
    rates = []
    for _ in range(3):
        seconds, mib = timed(command, stream, out / "names")
        rates.append(addresses / seconds)
        with open(out / "raw", "a", encoding="ascii") as raw:
            raw.write(f"{name}\t{addresses} {seconds} {mib}\n")
    return rates, mib


def measure():
    """Measure on the host, in CPU time, so that other work there does not count."""
    out = bench.folder("funcmap")
    vmlinux = make_vmlinux(out)
    addresses = make_stream(out / "large", BYTES)
    make_stream(out / "small", BYTES // 10)
    few = make_stream(out / "few", RIVAL_ADDRESSES * LINE)
    funcmap = [bench.BUILD / "tools/funcmap/funcMap", "-m", vmlinux]
    ours, large = repeat(out, "funcmap", funcmap, out / "large", addresses)
    _, small = repeat(out, "funcmap_small", funcmap, out / "small", addresses // 10)
    theirs, _ = repeat(out, "addr2line", ["addr2line", "-f", "-e", vmlinux], out / "few", few)
    resolved = (out / "names").read_text(encoding="ascii").count("function_")
    if resolved < few * 9 // 10:
        raise bench.Failed(f"addr2line resolved {resolved} of {few} addresses")
    for name in ("large", "small", "few", "names", "symbols.s", "symbols.o", "vmlinux"):
        (out / name).unlink()
    rate, rival = sorted(ours)[1], sorted(theirs)[1]
    return [Figure("funcmap_rate", rate, "addresses/s", "addr2line", rival, ratio=rate / rival,
                   spread=(max(ours) - min(ours)) / rate, reach=">= 100 times"),
            Figure("funcmap_memory_100mb", large, "MiB", "10 MB of input", small,
                   ratio=large / small, reach="about 1")]
