# SPDX-License-Identifier: GPL-2.0-only
"""Cost of programs with KTAU off, partly on, all on and tracing, over a kernel without it."""

import pathlib
import re
import shutil
import statistics
import subprocess

import bench
from bench import Figure, median

# State: kernel with KTAU, words for its command line.
ALL = f"ktau={bench.ORIGINAL_GROUPS}"
STATES = {
    "n": (False, ""),
    "off": (True, ""),
    "sched": (True, "ktau=sched"),
    "all": (True, ALL),
    "wait": (True, f"{ALL},wait"),
    "account": (True, f"{ALL},account"),
    "trace": (True, f"{ALL} ktau.trace=1"),
}
LOADS = ("hackbench", "compile", "archive", "tcp_stream", "tcp_request")
REACH = {
    ("fork", "all"): "<= 1.2 %",
    ("fork", "trace"): "<= 2.4 %",
    ("hackbench", "all"): "<= 8 %",
    ("hackbench", "trace"): "<= 14 %",
    ("compile", "all"): "<= 1.5 %",
    ("tcp_stream", "all"): "<= 3 %",
    ("tcp_request", "off"): "<= 0.6 %",
    ("tcp_request", "all"): "<= 10 %",
    ("tcp_request", "trace"): "<= 18 %",
    ("numeric", "all"): "<= 0.1 %",
}
REACH_STATE = {"off": "<= 0.1 %", "wait": "<= all + 4 %", "account": "<= all + 4 %"}

PROGRAMS = "sh tar gzip cat sleep as hackbench mpirun orted hpcc".split()
MPI = ("/usr/lib/x86_64-linux-gnu/openmpi/lib/openmpi3", "/usr/share/openmpi", "/etc/openmpi",
       "/usr/share/pmix", "/usr/lib/x86_64-linux-gnu/pmix2", "/etc/pmix")
# Modules for networks that the guest does not have, and their libraries
NO_MODULE = re.compile(r"ofi|openib|ucx|usnic|psm|portals|monitoring|verbs|cuda|ugni")


def libraries(path):
    """The libraries of a program or a module."""
    listed = subprocess.run(["ldd", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            text=True, check=False).stdout
    return re.findall(r"(/\S+)", listed)


class Root:
    """A folder that becomes the root file system of the loads."""

    def __init__(self):
        self.path = bench.folder("root")
        for link in ("bin", "lib", "lib64"):
            (self.path / "usr" / link).mkdir(parents=True)
            (self.path / link).symlink_to(f"usr/{link}")
        for folder in ("tmp", "dev", "proc", "sys", "root", "src", "etc"):
            (self.path / folder).mkdir()

    def put(self, source, target):
        """Add a file with its libraries."""
        to = self.path / str(target).lstrip("/")
        to.parent.mkdir(parents=True, exist_ok=True)
        if not to.exists():
            shutil.copy(source, to)
            for library in libraries(source):
                self.put(library, library)

    def put_program(self, path):
        """Add a program to /bin."""
        self.put(path, f"bin/{pathlib.Path(path).name}")

    def put_folder(self, path):
        """Add a folder of modules with their libraries."""
        for file in pathlib.Path(path).rglob("*"):
            if file.is_file() and not NO_MODULE.search(file.name):
                self.put(file, file)


def source_to_compile(root):
    """Preprocess a source file of this tree, so that the guest needs no headers."""
    text = bench.run(["gcc", "-E", "-P", "-D_GNU_SOURCE", "-Ilibktau/include",
                      "-Ikernel-ext/include/uapi", "libktau/decode.c"])
    (root.path / "tmp/source.i").write_text(text, encoding="utf-8")


def hpcc_input(root):
    """The input of hpcc's example, with a problem small enough for an emulator."""
    text = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt").read_text(encoding="ascii")
    text = re.sub(r"^1000 ", "200 ", text, flags=re.M)
    text = re.sub(r"^2( +Ps)", r"1\1", text, flags=re.M)
    (root.path / "tmp/hpccinf.txt").write_text(text, encoding="ascii")


def make_root():
    """Write build/bench/root.tar, the programs of the loads."""
    root = Root()
    for program in PROGRAMS:
        path = shutil.which(program)
        if not path:
            raise bench.Failed(f"{program}: not found: tests/setup bench")
        root.put(path, f"usr/bin/{program}")
    root.put_program(bench.run(["gcc", "-print-prog-name=cc1"]).strip())
    for program in ("bench/micro", "progs/loads/tcp_stream"):
        root.put_program(bench.BUILD / "tests" / program)
    root.put(bench.BUILD / "tests/bench/span.so", "lib/span.so")
    for folder in MPI:
        root.put_folder(folder)
    for folder in ("kernel-ext", "libktau", "tools"):
        shutil.copytree(bench.TOP / folder, root.path / "src" / folder)
    for name, text in (("passwd", "root:x:0:0:root:/root:/bin/sh\n"), ("group", "root:x:0:\n"),
                       ("hosts", "127.0.0.1 localhost guest\n")):
        (root.path / "etc" / name).write_text(text, encoding="ascii")
    source_to_compile(root)
    hpcc_input(root)
    bench.run(["tar", "cf", bench.OUT / "root.tar", "-C", root.path, "."])
    shutil.rmtree(root.path)


def boots(script, repetitions, kind):
    """Run the same script in each state; returns the raw figures of each."""
    make_root()
    images = {True: bench.kernel(kind), False: bench.kernel(kind, ktau=False)}
    return {state: bench.boot(f"{script}-{state}-{kind}", script, repetitions, image=images[ktau],
                              words=words, memory="2G", limit=3600)
            for state, (ktau, words) in STATES.items()}


def added(raws, key, state, column=0):
    """Cost added by a state over the kernel without KTAU, in percent."""
    bare = median(raws["n"], key, column)
    value = median(raws[state], key, column)
    return 100 * (value / bare - 1) if bare else None


def reach(load, state):
    """The target for a load in a state."""
    return REACH.get((load, state), REACH_STATE.get(state, ""))


def system_ms(raw, key):
    """System time by the kernel's tick-based accounting."""
    return median(raw, key, 2) / 1000


def load_figures(raws, load):
    """Instructions and system time, for each state."""
    key = f"load_{load}"
    figures = []
    for state in list(STATES)[1:]:
        figures.append(Figure(f"{key}_{state}", added(raws, key, state), "% instructions",
                              "KTAU=n", median(raws["n"], key),
                              spread=bench.spread(raws[state], key),
                              reach=reach(load, state)))
    if load != "numeric":
        for state in list(STATES)[1:]:
            figures.append(Figure(f"{key}_{state}_system", system_ms(raws[state], key), "ms",
                                  "KTAU=n", system_ms(raws["n"], key)))
    return figures


def memory_figures(raws, kind):
    """Bytes of the tables of each task of the loads."""
    sizes = []
    for load in LOADS:
        text = bench.run([bench.BUILD / "tests/bench/tables",
                          bench.OUT / f"loads-all-{kind}" / f"profile.{load}"])
        sizes += [int(line) for line in text.split()]
    off = max(median(raws["off"], f"memory_{load}") for load in LOADS)
    if off:
        raise bench.Failed(f"{off:.0f} bytes in use with KTAU off")
    return [Figure("mem_task_median", statistics.median(sizes), "bytes", reach="<= 8192"),
            Figure("mem_task_max", max(sizes), "bytes"),
            Figure("mem_task_off", off, "bytes", reach="0")]


def hook_off(raws):
    """A system call has two hooks. The minimum is the batch with the fewest interrupts."""
    bare, off = (min(row[0] for row in raws[state]["getppid"]) for state in ("n", "off"))
    return Figure("hook_off", (off - bare) / 2, "instructions", "KTAU=n: getppid()", bare,
                  reach="<= 2")


def fork_figures(raws):
    """Instructions of fork, exit and wait; fork_exit is the figure with all groups."""
    def figure(metric, state):
        return Figure(metric, added(raws, "fork", state), "% instructions", "KTAU=n",
                      median(raws["n"], "fork"), spread=bench.spread(raws[state], "fork"),
                      reach=reach("fork", state))

    return [figure("fork_exit", "all")] + [figure(f"fork_exit_{state}", state)
                                           for state in list(STATES)[1:]]


def measure(kind):
    """One boot for each state, identical otherwise."""
    raws = boots("loads", "3", kind)
    figures = [hook_off(raws)] + fork_figures(raws)
    for load in LOADS:
        figures += load_figures(raws, load)
    return figures + memory_figures(raws, kind)


def numeric(kind):
    """hpcc on two ranks that share the CPU; from MPI_Init() to MPI_Finalize()."""
    return load_figures(boots("numeric", "2", kind), "numeric")
