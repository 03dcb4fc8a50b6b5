#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare what ktau vm says with what guests in a guest saw themselves.

usage: vm.py KTAU DIRECTORY hog|two|top|trace|stock|bpf

DIRECTORY has the files of tests/guest/vm. hog: each time in which the real-time task had the CPU,
by its own account, is a preemption by it of the same length, and each gap that the inner guest saw
overlaps one time outside of the guest. two: while the loops of both guests run, each is preempted
by the other, and there by its loop. top: so many screens of ktau top show the guest by its name,
with all of its time, some of which the real-time task took. stock: BPF programs measured the host;
its files pass ktau check, and the account of the guest's thread has the time of its frames in the
guest. trace, bpf: trace-cmd or BPF programs measured both sides: ktau vm and ktau path find the
guest's clock, to a millisecond.
"""

import csv
import io
import os
import re
import statistics
import subprocess
import sys

MATCH = re.compile(r'^(\w+) CPU 0 = virtual CPU 0 of .*, thread (\S+) \(offset (-?\d+) ticks, '
                   r'(?:ratio [\d.]+, )?exact: (\d+) of (\d+) slots in guest mode\)$', re.M)
SEARCHED = re.compile(r'^(?:imported-)?a CPU 0 = virtual CPU 0 of .* \(clock within ([\d.]+) us, '
                      r'by search: (\d+) of (\d+) slots in guest mode\)$', re.M)
LONG_NS, GAP_NS, HOG_NS = 1000000, 5000000, 15000000


class Judge:
    def __init__(self):
        self.tests = self.failed = 0

    def check(self, good, what):
        self.tests += 1
        self.failed += not good
        print(f'{"ok" if good else "not ok"} - {what}')

    def done(self):
        print(f'1..{self.tests}')
        return 1 if self.failed or not self.tests else 0


class Clock:
    """The counter of a recording, by the first stream in its dump."""

    def __init__(self, dump):
        line = dump.split('\n', 1)[0]
        self.ticks, self.hz, self.ns = (int(re.search(rf'\b{name}=(\d+)', line).group(1))
                                        for name in ('ticks', 'hz', 'monotonic_ns'))

    def ticks_at(self, ns):
        return self.ticks + round((ns - self.ns) * self.hz / 1e9)

    def length_ns(self, ticks):
        return ticks * 1e9 / self.hz


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


def tables(text):
    """The tables of ktau vm --csv by name."""
    return {name: table(rest) for name, rest in
            (part.split('\n', 1) for part in text.removeprefix('# ').split('\n# '))}


def pairs_of(path):
    with open(path, encoding='ascii') as lines:
        return [tuple(map(int, line.split())) for line in lines]


def slot_times(dump, word):
    """Times in nanoseconds of the slots whose lines have the word."""
    slot = re.compile(rf'^  (\d+)\.(\d{{9}}) cpu\d+ .*{word}', re.M)
    return [int(s) * 10**9 + int(ns) for s, ns in slot.findall(dump)]


def overlaps(a, b):
    return max(0, min(a[1], b[1]) - max(a[0], b[0]))


class Times:
    """The times outside of guests that ktau vm lists, and what the guests wrote, in the host's."""

    def __init__(self, ktau, folder, offsets):
        self.ktau, self.folder, self.offsets = ktau, folder, offsets
        host = self.path('host.ktau')
        dump = run(ktau, 'dump', host)
        self.clock = Clock(dump)
        self.first = self.clock.ticks_at(min(slot_times(dump, '')))
        files = [self.path(f'{name}.ktau') for name in offsets]
        self.rows = table(run(ktau, 'vm', '--csv', '--intervals=0', host, *files))

    def path(self, name):
        return os.path.join(self.folder, name)

    def host_ns(self, ticks):
        return self.clock.length_ns(ticks - self.first)

    def bursts(self):
        return [(self.host_ns(a), self.host_ns(b)) for a, b in pairs_of(self.path('bursts'))]

    def of_guest(self, name):
        """The time of the loop, and the gaps that it saw."""
        times = [tuple(self.host_ns(ticks - self.offsets[name]) for ticks in pair)
                 for pair in pairs_of(self.path(f'{name}.gaps'))]
        return times[0], times[1:]

    def switches(self, name):
        dump = run(self.ktau, 'dump', self.path(f'{name}.ktau'))
        clock = Clock(dump)
        return [self.host_ns(clock.ticks_at(ns) - self.offsets[name])
                for ns in slot_times(dump, ' switch ')]


def span(row):
    return int(row['from_ns']), int(row['to_ns'])


def judge_hog(j, times):
    rows = [row for row in times.rows if int(row['time_ns']) >= LONG_NS]
    hogs = [span(row) for row in rows if row['cause'].startswith('host hog/')]
    bursts = times.bursts()
    near = sum(sum(abs(h[0] - b[0]) < LONG_NS and
                   -0.01 <= (h[1] - h[0]) / (b[1] - b[0]) - 1 <= 0.1 for h in hogs) == 1
               for b in bursts)
    # Another time may be that in which the task began.
    j.check(near == len(bursts) > 0 and len(hogs) <= near + 1,
            f'{len(bursts)} times in which the task had the CPU, {len(hogs)} preemptions by it, '
            f'{near} at the same time and as long')
    gaps = [gap for gap in times.of_guest('a')[1] if gap[1] - gap[0] > GAP_NS]
    ones = sum(sum(overlaps(gap, span(row)) > 0 for row in rows) == 1 for gap in gaps)
    j.check(gaps and ones == len(gaps),
            f'{ones} of {len(gaps)} gaps of more than 5 ms overlap one time outside of the guest')
    whole = sum(gap[1] - gap[0] for gap in gaps)
    part = sum(overlaps(gap, span(row)) for gap in gaps for row in rows)
    j.check(whole and 0.95 <= part / whole <= 1.001,
            f'{100 * part / max(whole, 1):.2f} % of their time are explained')
    inside = sum(any(gap[0] < ns < gap[1] for gap in gaps) for ns in times.switches('a'))
    j.check(not inside, f'{inside} switches of the guest in them')


def judge_two(j, times, threads):
    """Who took the CPU while both loops ran: the other machine, and inside it the loop.

    The rest of its time is that of its thread in the host, longer if this machine is busy.
    """
    loops = [times.of_guest(name)[0] for name in 'ab']
    both = max(loop[0] for loop in loops), min(loop[1] for loop in loops)
    j.check(both[1] - both[0] > 1e9, f'both loops run for {(both[1] - both[0]) / 1e6:.0f} ms')
    for name, other in ('ab', 'ba'):
        whole = thread = inside = loop = 0
        for row in times.rows:
            if row['state'] == 'PREEMPTED' and row['victim'].startswith(f'{name} detector/'):
                ns = overlaps(span(row), both)
                whole += ns
                inside += ns if row['cause'].startswith(f'{other} ') else 0
                loop += ns if row['cause'].startswith(f'{other} detector/') else 0
                thread += ns if row['cause'] == f'host {threads[other]}' else 0
        j.check(whole and (inside + thread) / whole >= 0.9,
                f'guest {name}: preempted for {whole / 1e6:.0f} ms, of which '
                f'{100 * (inside + thread) / max(whole, 1):.2f} % by {other}, '
                f'{100 * loop / max(whole, 1):.2f} % by its detector')
        j.check(inside and loop / inside >= 0.95 and loop / whole > 0.5,
                f'{100 * loop / max(inside, 1):.2f} % of the time inside {other} is its detector')


def follow(apart, starts):
    """Whether some of the times @starts, the first among them, are as far apart, to 15 %."""
    for distance in apart:
        later = [i for i, start in enumerate(starts)
                 if i and abs(start - starts[0] - distance) < 0.15 * (starts[i] - starts[i - 1])]
        if not later:
            return False
        starts = starts[later[0]:]
    return True


def judge_search(j, ktau, files, bursts):
    """What is known without the counter of the guest; a real-time task took the CPU for 20 ms."""
    found = SEARCHED.search(run(ktau, 'vm', *files))
    band, inside, nr = found.groups() if found else ('inf', '0', '0')
    j.check(inside == nr and int(nr) > 1000 and float(band) < 1000,
            f'guest a: {inside} of {nr} slots in guest mode, its clock is known to {band} us')
    if not found:
        return
    judge_sums(j, ktau, files)
    path = run(ktau, 'path', '--task=dd', files[1], files[0])
    j.check(f'clock by search, within {band} us: all {nr} slots' in path and
            'PREEMPTED BY HOST' in path, 'ktau path finds the same clock')
    hogs = [span(row)[0] for row in table(run(ktau, 'vm', '--csv', '--intervals=0', *files))
            if row['cause'].startswith('host hog/') and int(row['time_ns']) > HOG_NS]
    # The guest may end first, and the task also has the CPU when it starts. A burst is 20 ms, of a
    # counter whose rate is not known; one that is interrupted takes longer.
    tick_ns = 20e6 / statistics.median(end - begin for begin, end in bursts)
    starts = [begin * tick_ns for begin, _ in bursts]
    apart = [b - a for a, b in zip(hogs, hogs[1:])]
    j.check(len(hogs) >= 4 and any(follow(apart[skip:], starts[i:]) for skip in (0, 1)
                                   for i in range(len(starts))),
            f'{len(hogs)} preemptions by a task that had the CPU {len(bursts)} times, as far apart '
            f'as these: {", ".join(f"{n / 1e6:.1f} ms" for n in apart)}')


def imported(ktau, folder):
    """Import what trace-cmd has recorded."""
    files = {name: os.path.join(folder, f'imported-{name}.ktau') for name in ('host', 'a')}
    for name, file in files.items():
        if os.path.exists(file):
            os.unlink(file)
        run(ktau, 'import', '-o', file, os.path.join(folder, f'{name}.dat'))
    return list(files.values())


def judge_top(j, folder):
    row = re.compile(r'^a +qemu-system-x86 +\d+ +([\d.]+)% +([\d.]+)% +([\d.]+)% +([\d.]+)%$', re.M)
    with open(os.path.join(folder, 'screens'), encoding='utf-8') as screens:
        rows = [tuple(map(float, found)) for found in row.findall(screens.read())]
    j.check(len(rows) >= 3, f'{len(rows)} screens with the thread of the guest')
    whole = sum(abs(sum(shares) - 100) < 0.3 for shares in rows)
    j.check(whole == len(rows), f'{whole} of them with 100 % of its time')
    taken = sum(guest >= 20 and preempted >= 8 for guest, _, preempted, _ in rows)
    j.check(taken >= 2, f'{taken} of them while its loop runs and loses its CPU')


def judge_sums(j, ktau, files):
    states = tables(run(ktau, 'vm', '--csv', *files))['states']
    for row in states:
        whole = int(row['time_ns'])
        parts = sum(int(row[f'{name}_ns']) for name in
                    ('in_guest', 'vmm', 'preempted', 'idle', 'polling', 'unknown'))
        j.check(abs(whole - parts) <= 1000,
                f'{row["cpu"]}: its states are {parts} ns of {whole}')


def judge_stock(j, ktau, host, files):
    """The account of the thread, the routine of its frames in the guest, and the trace of those."""
    j.check(not subprocess.run([ktau, 'check', host], check=False,
                               stdout=subprocess.DEVNULL).returncode, 'ktau check accepts it')
    by_thread = {name: table(run(ktau, 'report', '--by=thread', '--format=csv',
                                 f'--tables={name}', host)) for name in ('account', 'processes')}
    routines = {row['tid']: int(row['excl_ns']) for row in by_thread['processes']
                if row['routine'] == 'guest'}
    accounts = {row['tid']: row for row in by_thread['account'] if row['guest_ns'] not in ('', '0')}
    j.check(len(routines) == len(accounts) == 1, f'{len(accounts)} thread was in a guest')
    for tid, row in accounts.items():
        guest, rest = int(row['guest_ns']), int(row['rest_ns'])
        j.check(guest == routines.get(tid) and rest == 0,
                f'{guest} ns in the guest, of frames {routines.get(tid)}; {rest} ns unexplained')
        seen = sum(int(cpu['in_guest_ns'])
                   for cpu in tables(run(ktau, 'vm', '--csv', host, *files))['states'])
        j.check(0 < seen <= guest, f'{seen} ns of them since the recording in the guest began')


def main():
    ktau, folder, how = sys.argv[1:]
    names = ('a', 'b') if how == 'two' else ('a',)
    files = [os.path.join(folder, f'{name}.ktau') for name in ('host', *names)]
    j = Judge()
    if how in ('trace', 'bpf'):
        if how == 'trace':
            files = imported(ktau, folder)
        judge_search(j, ktau, files, pairs_of(os.path.join(folder, 'bursts')))
        sys.exit(j.done())
    found = {name: (int(offset), inside, nr, thread) for name, thread, offset, inside, nr in
             MATCH.findall(run(ktau, 'vm', *files))}
    for name in names:
        offset, inside, nr, _ = found.get(name, (0, '0', '0', ''))
        j.check(inside == nr and int(nr) > 1000,
                f'guest {name}: {inside} of {nr} slots in guest mode, offset {offset}')
    if len(found) == len(names):
        judge_sums(j, ktau, files)
    if how == 'top':
        judge_top(j, folder)
    elif how == 'stock':
        judge_stock(j, ktau, files[0], files[1:])
    elif len(found) == len(names):
        times = Times(ktau, folder, {name: found[name][0] for name in names})
        if how == 'two':
            judge_two(j, times, {name: found[name][3] for name in names})
        else:
            judge_hog(j, times)
    sys.exit(j.done())


if __name__ == '__main__':
    main()
