#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Judge the traces of tests/guest/stock-trace: rules of docs/dev/abi.md, and what strace saw.

    tests/judge/stock_trace.py DIRECTORY

DIRECTORY is the guest's /share. Prints TAP.
"""

import collections
import pathlib
import re
import sys

sys.path.insert(0, 'tests/unit/libktau')
# pylint: disable=wrong-import-position
from abi_decoder import PAGE, Bad, Page, Rules, records

UNISTD = '/usr/include/x86_64-linux-gnu/asm/unistd_64.h'
SYSCALL, HARDIRQ = 0, 2


class Trace:
    """The slots of each task of a file."""

    def __init__(self, page, path):
        self.owners = {}
        self.events = {}
        self.slots = collections.defaultdict(list)
        self.lost = collections.Counter()
        self.bad = None
        rules = Rules(page)
        types = {number: name for name, number in page.named('KTAU_TRACE_').items()}
        try:
            for _, record in records(page, path.read_bytes(), rules):
                self.record(record, types)
        except Bad as bad:
            self.bad = bad

    def record(self, record, types):
        f = record.fields
        if record.name == 'OWNER':
            self.owners[f['serial']] = f
        elif record.name == 'EVENT':
            self.events[f['id']] = (f['source'], f['key'], record.strings[0][:-1].decode())
        elif record.name == 'TRACE':
            self.lost[f['serial']] += f['lost']
            for slot in record.slots:
                payload = slot.payload[1] if slot.payload else ()
                self.slots[f['serial']].append((types[slot.fields['type']], slot.fields, payload))

    def serials(self, tid):
        return [s for s, f in self.owners.items() if f['tid'] == tid and s in self.slots]

    def named(self, comm):
        return [s for s, f in self.owners.items() if f['comm'].rstrip(b'\0') == comm.encode()]

    def kinds(self, serial):
        return [kind for kind, _, _ in self.slots[serial]]

    def calls(self, serial):
        """Numbers of the system calls of a task, in order."""
        return [f['id'] for kind, f, _ in self.slots[serial]
                if kind == 'ENTER' and self.events[f['id']][0] == SYSCALL]


def strace_calls(path):
    """Numbers of the system calls of each tid, in order."""
    with open(UNISTD, encoding='utf-8') as lines:
        numbers = {name: int(n) for name, n in
                   re.findall(r'^#define __NR_(\w+) (\d+)', lines.read(), re.M)}
    calls = collections.defaultdict(list)
    for line in path.read_text(encoding='utf-8', errors='replace').splitlines():
        match = re.match(r'(\d+) +(\w+)\(', line)
        if match:
            calls[int(match[1])].append(numbers[match[2]])
    return calls


class Judge:
    """Prints a line for each test."""

    def __init__(self):
        self.number = 0
        self.failed = False

    def need(self, condition, what, *details):
        self.number += 1
        self.failed |= not condition
        print('ok' if condition else 'not ok', '-', what)
        if not condition:
            print('#  ', *details)

    def calls(self, trace, expected):
        wrong = []
        for tid, wanted in expected.items():
            got = [call for serial in trace.serials(tid) for call in trace.calls(serial)]
            # strace attaches to the first task just before its exec.
            if got[-len(wanted):] != wanted or (tid != min(expected) and len(got) != len(wanted)):
                wrong.append((tid, got, wanted))
        nr = sum(map(len, expected.values()))
        self.need(not wrong and len(expected) > 15 and nr > 500,
                  f'{nr} calls of {len(expected)} tasks are those that strace saw, in order',
                  wrong[:1], len(expected), nr)

    def lives(self, trace, expected):
        forks = collections.Counter(payload[0] for slots in trace.slots.values()
                                    for kind, _, payload in slots if kind == 'FORK')
        tasks = [serial for tid in expected for serial in trace.serials(tid)]
        self.need(all(forks[serial] == 1 for serial in tasks),
                  'each task has been forked once', forks)
        self.need(all(trace.kinds(serial).count('TASK_EXIT') == 1 and
                      trace.kinds(serial)[-1] == 'TASK_EXIT' for serial in tasks),
                  'the last slot of each is its exit', [trace.kinds(s)[-3:] for s in tasks])
        execs = {payload[0].rstrip(b'\0') for serial in tasks
                 for kind, _, payload in trace.slots[serial] if kind == 'EXEC'}
        self.need(execs == {b'sh', b'cat', b'wc', b'sleep', b'ls'}, 'their programs are named',
                  execs)

    def waits(self, trace):
        """A timer wakes sleep, and the one that writes to a pipe wakes the one that reads."""
        wakers = [payload for serial in trace.named('sleep')
                  for kind, _, payload in trace.slots[serial] if kind == 'WOKEN']
        self.need(any(payload[3] == HARDIRQ for payload in wakers),
                  'a timer wakes a program that sleeps', wakers)
        woken = [trace.owners.get(payload[0], {}).get('comm', b'').rstrip(b'\0')
                 for serial in trace.named('wc')
                 for kind, _, payload in trace.slots[serial] if kind == 'WOKEN']
        self.need(b'cat' in woken or b'strace' in woken, 'the waker of a program is named', woken)
        wakings = sum(kinds.count('WAKING') for kinds in map(trace.kinds, list(trace.slots)))
        woken = sum(kinds.count('WOKEN') for kinds in map(trace.kinds, list(trace.slots)))
        self.need(wakings >= .9 * woken > 100, 'wakeups are in the traces of both tasks',
                  wakings, woken)

    def changes(self, trace, group):
        """One task renames itself; two get another control group; an exec is no new name."""
        names = [(payload[0].rstrip(b'\0'), trace.owners[serial]['comm'].rstrip(b'\0'))
                 for serial, slots in trace.slots.items()
                 for kind, _, payload in slots if kind == 'COMM']
        self.need(names.count((b'new name', b'new name')) == 1, 'a task renames itself', names)
        execs = [serial for serial in trace.slots if 'EXEC' in trace.kinds(serial)]
        self.need(sum('COMM' in trace.kinds(serial) for serial in execs) == 1 < len(execs),
                  'an exec is no new name', names, len(execs))
        moves = [(trace.owners[serial]['comm'].rstrip(b'\0'), payload[0], fields['ticks'])
                 for serial, slots in trace.slots.items()
                 for kind, fields, payload in slots if kind == 'CGROUP']
        self.need(sorted(move[:2] for move in moves) == [(b'sh', group), (b'sleep', group)],
                  'each task that is moved has its new control group, once', moves, group)

    def interrupts(self, trace):
        names = {trace.events[f['id']][2] for slots in trace.slots.values()
                 for kind, f, _ in slots if kind == 'ENTER' and f['ctx']}
        self.need('sysvec_apic_timer_interrupt' in names and
                  any(name.startswith('softirq:') for name in names),
                  'interrupts and softirqs have slots', names)

    def losses(self, trace, calls):
        """What a task has lost and what it has kept is all that it did."""
        serial = max(trace.slots, key=lambda s: trace.lost[s])
        nr = len(trace.slots[serial]) + trace.lost[serial]
        self.need(trace.owners[serial]['comm'].startswith(b'dd') and trace.lost[serial] > calls and
                  nr >= 4 * calls, 'each lost slot is counted for its task', nr, trace.lost[serial])

    def end(self):
        print(f'1..{self.number}')
        return self.failed


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """The fields of a message in Protocol Buffers."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = 8 if key & 7 == 1 else 4
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def slices(data):
    """The number of slices that begin in a trace of Perfetto: TracePacket.track_event.type 1."""
    return sum((9, 1) in fields(event) for number, packet in fields(data) if number == 1
               for field, event in fields(packet) if field == 11)


def main(directory):
    judge = Judge()
    page = Page(PAGE)
    share = pathlib.Path(directory)
    traces = {}
    for path in sorted(share.glob('**/*.ktau')):
        trace = traces[str(path.relative_to(share))] = Trace(page, path)
        judge.need(not trace.bad and trace.slots, f'{path.name} keeps the rules of the page',
                   trace.bad)
    trace = traces['calls.ktau']
    expected = strace_calls(share / 'calls')
    judge.calls(trace, expected)
    judge.lives(trace, expected)
    judge.waits(trace)
    judge.interrupts(trace)
    judge.need(not sum(trace.lost.values()), 'nothing is lost in large rings', trace.lost)
    judge.losses(traces['lossy.ktau'], 20000)
    judge.changes(traces['changes.ktau'], int((share / 'moved').read_text().split()[0]))
    trace = traces['syscall.ktau']
    kinds = {kind for serial in trace.slots for kind in trace.kinds(serial)}
    judge.need(kinds <= {'ENTER', 'EXIT', 'COUNT', 'COMM', 'EXEC', 'TASK_EXIT'} and
               {trace.events[f['id']][0] for slots in trace.slots.values()
                for kind, f, _ in slots if kind == 'ENTER'} == {SYSCALL},
               'a trace has the groups that were chosen', kinds)
    frames = int(re.search(r'(\d+) frames', (share / 'perfetto.log').read_text())[1])
    nr = slices((share / 'calls.perfetto').read_bytes())
    judge.need(nr >= frames > 1000, 'Perfetto has a slice for each frame', nr, frames)
    return judge.end()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
