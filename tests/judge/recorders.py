#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare KTAU's recording of a run with another tracer's of the same run.

usage: recorders.py KTAU RECORDING TRACE

TRACE is imported beside RECORDING. The paths of the run are compared from where they leave the task
that has started the recording for the last time: they follow the same tasks in the same order, and
each state has the same sum to 100 us. Of every task that both have seen from its fork to its exit,
the system calls are the same in the same order and the switches as many; its time on a CPU differs
by 100 us at most, all such times by 1 %. LTTng reads the clock at another point of each event than KTAU, so the sums of the
path may differ by 1 % if TRACE is its session. Prints TAP.
"""

import collections
import csv
import io
import pathlib
import re
import subprocess
import sys

from stock_trace import Judge, Trace
from abi_decoder import PAGE, Page

MOST_NS = 100000
MOST_SHARE = .01


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def rows(*words):
    return list(csv.DictReader(io.StringIO(run(*words, '--csv'))))


def segments(ktau, path, tid):
    """What follows the last segment of ktau: duration, state and task of each."""
    path = rows(ktau, 'path', path, f'--task={tid}', '--segments')
    last = max((i for i, row in enumerate(path) if row['task'].startswith('ktau/')), default=-1)
    return [(int(row['time_ns']), row['state'], row['task']) for row in path[last + 1:]]


def sums(path):
    found = collections.Counter()
    for ns, state, _ in path:
        found[state] += ns
    return found


def tasks(path):
    """The tasks in order, without those that have less than the difference that is allowed."""
    order = []
    for ns, _, task in path:
        if ns > MOST_NS and (not order or order[-1] != task):
            order.append(task)
    return order


def calls(trace, serial):
    """Names of the system calls of a task, in order."""
    return [re.sub('^.*?sys_(enter_)?', '', trace.events[call][2]) for call in trace.calls(serial)]


def same_calls(own, other):
    """LTTng has no names for some calls."""
    return len(own) == len(other) and all(b in (a, 'unknown') for a, b in zip(own, other))


def switches(trace, serial):
    """How often a task leaves the CPU before it exits."""
    kinds = trace.kinds(serial)
    return kinds[:kinds.index('TASK_EXIT')].count('SWITCH')


def lives(trace):
    """The serials of the tasks that were seen from their fork to their exit, by tid."""
    forked = {payload[0] for slots in trace.slots.values()
              for kind, _, payload in slots if kind == 'FORK'}
    return {trace.owners[s]['tid']: s for s in trace.slots
            if s in forked and 'TASK_EXIT' in trace.kinds(s)}


def running(ktau, path):
    """The time on a CPU in ns, by tid."""
    return {int(row['row'].rsplit('/', 1)[1]): int(row['time_ns'])
            for row in rows(ktau, 'view', 'waits', path) if row['state'] == 'RUNNING'}


class Recorders(Judge):
    """Compares two recordings of one run."""

    def __init__(self, ktau, own, other, share):
        super().__init__()
        self.ktau, self.own, self.other, self.share = ktau, own, other, share

    def paths(self):
        tid = re.search(r'path of [^/]*/(\d+)', run(self.ktau, 'path', self.own)).group(1)
        one, two = segments(self.ktau, self.own, tid), segments(self.ktau, self.other, tid)
        first, second = sums(one), sums(two)
        self.need(one and two, f'{len(one)} and {len(two)} segments of the path')
        for state in sorted(first | second):
            self.need(abs(first[state] - second[state]) <= max(MOST_NS, self.share * first[state]),
                      f'{state}: {first[state]} ns, by the other {second[state]} ns')
        self.need(tasks(one) == tasks(two), 'the path has the same tasks', tasks(one), tasks(two))

    def lives(self):
        page = Page(PAGE)
        one, two = (Trace(page, path) for path in (self.own, self.other))
        self.need(not one.bad and not two.bad, 'both keep the rules of the page', one.bad, two.bad)
        first, second = lives(one), lives(two)
        self.need(set(first) <= set(second) and len(first) >= 5,
                  f'{len(first)} tasks lived and died in both', first, second)
        tids = sorted(set(first) & set(second))
        found = {tid: (calls(one, first[tid]), calls(two, second[tid])) for tid in tids}
        self.need(all(same_calls(own, other) for own, other in found.values()),
                  f'{sum(len(own) for own, _ in found.values())} system calls are the same',
                  [(tid, both) for tid, both in found.items() if not same_calls(*both)][:1])
        found = {tid: (switches(one, first[tid]), switches(two, second[tid])) for tid in tids}
        self.need(all(own == other for own, other in found.values()),
                  f'{sum(own for own, _ in found.values())} switches', found)
        own, other = (running(self.ktau, path) for path in (self.own, self.other))
        times = [(tid, own.get(tid, 0), other.get(tid, 0)) for tid in tids]
        first, second = sum(a for _, a, _ in times), sum(b for _, _, b in times)
        self.need(abs(first - second) <= MOST_SHARE * first and
                  all(abs(a - b) <= MOST_NS for _, a, b in times),
                  f'{first} ns on a CPU, by the other {second} ns', times)


def main():
    ktau, own, trace = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    other = own.with_name('other.ktau')
    other.unlink(missing_ok=True)
    hz = re.search(r'\bhz=(\d+)', run(ktau, 'dump', own)).group(1)
    run(ktau, 'import', f'--hz={hz}', '-o', other, trace)
    run(ktau, 'check', other)
    judge = Recorders(ktau, own, other, MOST_SHARE if trace.is_dir() else 0)
    judge.paths()
    judge.lives()
    return judge.end()


if __name__ == '__main__':
    sys.exit(main())
