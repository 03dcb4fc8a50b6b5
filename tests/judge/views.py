#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Judge the recordings of tests/guest/views.

    tests/judge/views.py BUILD FOLDER

FOLDER is the guest's /share. Works out the states of each rank from the tables of ktau export --csv,
without the engine of ktau view, and compares them with the intervals of ktau view, with the CPU time
that the program printed, and with what the barrier is known to do. Prints TAP.
"""

import collections
import csv
import os
import shutil
import subprocess
import sys

RANKS, CYCLES = 4, 8
number = 0


def test(what, condition, *details):
    global number
    number += 1
    print("ok -" if condition else "not ok -", what)
    if not condition:
        for detail in details:
            print("#", detail)


def within(intervals, spans):
    """Nanoseconds of @spans that are in @intervals."""
    return sum(max(0, min(to, end) - max(since, begin)) for since, to in intervals for begin, end in spans)


class Recording:
    """The tables of a recording; times in ns."""

    def __init__(self, build, folder, name):
        self.ktau = os.path.join(build, "tools/ktau/ktau")
        self.folder = os.path.join(folder, name)
        self.file = os.path.join(self.folder, name + ".ktau")
        self.tables = os.path.join(self.folder, "csv")
        shutil.rmtree(self.tables, ignore_errors=True)
        self.run("export", "--csv", "-o", self.tables)
        self.points = self.table("points")
        self.frames = self.table("frames")
        self.running = collections.defaultdict(list)
        for row in self.table("running"):
            self.running[row["serial"]].append(self.span(row))
        self.work = collections.defaultdict(list)
        self.polls = {}
        with open(os.path.join(self.folder, "out"), encoding="ascii") as f:
            for words in map(str.split, f):
                if words[0] == "work":
                    self.work[int(words[1])].append(int(words[3]))
                elif words[0] == "polls":
                    self.polls[int(words[1])] = int(words[2])

    def run(self, command, *words):
        return subprocess.run([self.ktau, command, *words, "--region-names=" + self.folder, self.file], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8").stdout

    def table(self, name):
        with open(os.path.join(self.tables, name + ".csv"), encoding="utf-8", newline="") as f:
            return list(csv.DictReader(f))

    @staticmethod
    def span(row):
        start = int(row["start_ns"])
        return start, start + int(row["duration_ns"])

    def marks(self, name):
        """Of each event of this name: time, value, serial; in time order."""
        return sorted((int(p["ns"]), int(p["value"]), p["serial"]) for p in self.points
                      if p["type"] == "MARK" and p["name"] == name)

    def spans(self, serial, routine):
        return [self.span(f) for f in self.frames if f["serial"] == serial and f["routine"].startswith(routine)]

    def view(self):
        """Intervals of each row by ktau view; times from the first event."""
        rows = collections.defaultdict(list)
        for row in csv.DictReader(self.run("view", "mpi", "--csv", "--intervals").splitlines()):
            if row["state"] != "-":
                rows[row["row"]].append((int(row["from_ns"]), int(row["to_ns"]), row["state"]))
        return rows

    def of_marks(self):
        """The states of each rank, and its serial, by the events that the threads noted."""
        states, serials = collections.defaultdict(list), {}
        for state in "work", "wait", "idle":
            for ns, rank, serial in self.marks(f"mpi:{state}(rank)"):
                states[rank].append((ns, state.upper()))
                serials[rank] = serial
        return {rank: [(ns, after[0], state) for (ns, state), after in zip(sorted(found), sorted(found)[1:])]
                for rank, found in states.items()}, serials

    def of_calls(self):
        """The same by the calls of MPI: the rank waits inside, and works between two of them."""
        states, serials = {}, {}
        for ns, rank, serial in self.marks("MPI rank"):
            calls = sorted(self.spans(serial, "MPI_"))
            waits = [(ns, calls[0][1], "WAIT")] + [(*span, "WAIT") for span in calls[1:]]
            works = [(a[1], b[0], "WORK") for a, b in zip(waits, waits[1:])]
            states[rank], serials[rank] = sorted(waits + works), serial
        return states, serials


def judge_view(name, recording, states):
    """ktau view has the same intervals. Its times count from the first event, which no table has."""
    shown = recording.view()
    test(f"{name}: ktau view has a row for each rank", sorted(shown) == [f"rank {rank}" for rank in range(RANKS)], shown)
    base = min(found[0][0] for found in states.values()) - min((row[0][0] for row in shown.values()), default=0)
    wrong = [(rank, a, b) for rank, found in sorted(states.items())
             for a, b in zip([(since - base, to - base, state) for since, to, state in found],
                             [i for i in shown[f"rank {rank}"] if i[2] != "IDLE"]) if a != b]
    test(f"{name}: with the same intervals", not wrong and all(
        len(found) == len([i for i in shown[f"rank {rank}"] if i[2] != "IDLE"]) for rank, found in states.items()), wrong[:5])


def judge_cycles(name, recording, states, serials):
    """The work and the wait of each cycle: by rank, a list of two spans."""
    cycles = {}
    for rank, found in sorted(states.items()):
        spans = {state: [i[:2] for i in found if i[2] == state] for state in ("WORK", "WAIT")}
        if name == "mpi":
            # MPI_Init() and the first barrier are before the first cycle, MPI_Finalize() after the last.
            spans["WAIT"] = spans["WAIT"][2:-1]
            spans["WORK"] = spans["WORK"][1:-1]
        cycles[rank] = list(zip(spans["WORK"], spans["WAIT"]))
        test(f"{name}: rank {rank} works and waits {CYCLES} times",
             len(spans["WORK"]) == CYCLES and len(spans["WAIT"]) == CYCLES, found)
    works = [(printed, within([work], recording.running[serials[rank]])) for rank in cycles
             for printed, (work, _) in zip(recording.work[rank], cycles[rank])]
    # The host may stop a virtual CPU between the event and the program's look at its clock.
    same = sum(abs(ns - printed) < printed / 100 + 2e5 for printed, ns in works)
    test(f"{name}: the CPU time of works is that of the thread's clock: {same} of {len(works)}", same > len(works) / 2, works)
    early = [(i, rank) for i in range(CYCLES) for rank in cycles
             if cycles[rank][i][1][1] < max(others[i][1][0] for others in cycles.values())]
    test(f"{name}: no rank leaves the barrier before the last one comes", not early, early)
    return cycles


def other_calls(recording, waits, serial):
    """Nanoseconds of the waits in system calls other than poll()."""
    return within(waits, [recording.span(f) for f in recording.frames if f["serial"] == serial
                          and f["group_name"] == "syscall" and f["routine"] != "sys_poll"])


def judge_waits(name, recording, cycles, serials):
    asleep = polls = total = other = 0
    for rank, found in cycles.items():
        waits = [wait for _, wait in found]
        serial = serials[rank]
        total += sum(to - since for since, to in waits)
        other += other_calls(recording, waits, serial)
        asleep += within(waits, recording.spans(serial, "schedule_vol"))
        mine = sum(since <= poll[0] < to for poll in recording.spans(serial, "sys_poll") for since, to in waits)
        polls += mine
        if name != "mpi":
            test(f"{name}: rank {rank} polls while it waits: {mine} times", abs(mine - recording.polls[rank]) <= 2,
                 recording.polls[rank])
    share, rate = asleep / total, polls / (total / 1e9)
    print(f"# {name}: while it waits, a rank is asleep for {100 * share:.1f} % of the time, {rate:.0f} polls/s")
    return share, rate, other / total


def judge(build, folder, name):
    recording = Recording(build, folder, name)
    states, serials = recording.of_calls() if name == "mpi" else recording.of_marks()
    judge_view(name, recording, states)
    cycles = judge_cycles(name, recording, states, serials)
    share, rate, other = judge_waits(name, recording, cycles, serials)
    if name == "futex":
        test("futex: the threads are asleep", share >= 0.9 and not rate, share, rate)
    elif name == "poll":
        test("poll: the threads poll", share < 0.01 and rate > 1000, share, rate)
    else:
        test("mpi: a rank waits in user mode and in poll(), and is not asleep", share < 0.05 and other < 0.05,
             share, other)


def main():
    for name in "futex", "poll", "mpi":
        judge(*sys.argv[1:3], name)
    print(f"1..{number}")


main()
