#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the detours of ktau noise with the kernel's osnoise events of the same time.

    osnoise.py DETOURS TRACE [CLOSE_NS]

DETOURS is the output of  ktau noise --detours --format=csv , TRACE has all osnoise events, with the
clock "boot". Each detour must have the same interrupts, softirqs and preemptions as the trace, and
each of these that takes 3 us must be in a detour. With CLOSE_NS the times of each detour must be
those of the trace as well, to so many nanoseconds for each cause.

Prints a line "CAUSE CPU NUMBER" for each cause, and at most ten differences. Exit status 1 if there
are any.
"""

import collections
import csv
import re
import sys

EVENT = re.compile(r' *(.+)-\d+ +\[(\d+)\] \S+ +(\d+)\.(\d+): (irq|softirq|thread)_noise: +'
                   r'(.+):(\d+) start \S+ duration (\d+) ns')
WORKER = re.compile(r'ktau-noise/\d+$')
PREEMPTED = 'preempted by '
# The kernel's names of x86 vectors, and those of their handlers
VECTORS = {'local_timer': 'sysvec_apic_timer_interrupt', 'irq_work': 'sysvec_irq_work',
           'reschedule': 'sysvec_reschedule_ipi', 'call_function': 'sysvec_call_function',
           'call_function_single': 'sysvec_call_function_single'}
# KTAU initialises each page of its ring at the first slot there, inside the interrupt that writes it
NEW_PAGES = 8
NEW_PAGE_NS = 1000
# Shorter than the shortest detour
SHORT_NS = 3000

Cause = collections.namedtuple('Cause', 'at_us name ns')


def name_of(kind, name, number):
    if kind == 'softirq':
        return 'softirq:' + name
    return VECTORS.get(name, f'irq:{number}:{name}')


def read_trace(path):
    """The causes that hit the worker of each CPU, in order of time.

    A thread ends with an event, so a preemption is what lies between the end of the worker and
    that of the last thread that ran before the worker's next event.
    """
    causes, away, runs = collections.defaultdict(list), {}, {}
    with open(path, encoding='utf-8', errors='replace') as file:
        for match in filter(None, map(EVENT.match, file)):
            task, cpu, seconds, us, kind, name, number, ns = match.groups()
            cpu, at, worker = int(cpu), int(seconds) * 1000000 + int(us), WORKER.match(task)
            if worker and cpu in runs:
                begin, first = away[cpu]
                causes[cpu].append(Cause(begin, PREEMPTED + first, (runs.pop(cpu) - begin) * 1000))
            if kind != 'thread' and worker:
                causes[cpu].append(Cause(at, name_of(kind, name, number), int(ns)))
            elif worker:
                away[cpu] = at, None
            elif kind == 'thread' and cpu in away:
                away[cpu] = away[cpu][0], away[cpu][1] or name
                runs[cpu] = at
    for found in causes.values():
        found.sort()
    return causes


def read_detours(path):
    """(CPU, begin, end) in microseconds, and the rows of each detour."""
    detours = collections.defaultdict(list)
    with open(path, encoding='utf-8', newline='') as file:
        for row in csv.DictReader(file):
            key = int(row['cpu']), int(row['begin_ns']) // 1000, int(row['end_ns']) // 1000
            detours[key].append(Cause(int(row['at_ns']) // 1000, row['cause'], int(row['ns'])))
    return detours


def split(causes):
    """Names that osnoise knows, with their numbers; times preempted and in interrupts."""
    names = collections.Counter(cause.name for cause in causes if re.match(
        rf'{PREEMPTED}|irq:|sysvec_|softirq:', cause.name))
    away = sum(cause.ns for cause in causes if cause.name.startswith(PREEMPTED))
    inside = sum(cause.ns for cause in causes if not re.match(
        rf'{PREEMPTED}|\(|exit_to_user_mode_loop|task_work:', cause.name))
    return names, away, inside


def same_names(mine, theirs):
    """Whether the names are equal. A new kernel thread is called kthreadd until it has a name of
    its own; the trace has the name of that moment, ktau noise the last one."""
    others = theirs - mine
    unnamed = others.pop(PREEMPTED + 'kthreadd', 0)
    named = mine - theirs
    return not others and named.total() == unnamed and \
        all(name.startswith(PREEMPTED) for name in named)


def compare(rows, events, close_ns, new_page_ns=0):
    """How a detour differs from the trace, or None."""
    mine, away, inside = split(rows)
    theirs, want_away, want_inside = split(events)
    if not same_names(mine, theirs):
        return f'has {dict(mine)}, the trace {dict(theirs)}'
    if close_ns and abs(away - want_away) > close_ns + 1000:
        return f'was preempted for {away} ns, {want_away} in the trace'
    if close_ns and not 0 <= inside - want_inside <= close_ns * len(events) + new_page_ns:
        return f'has {inside} ns in interrupts, {want_inside} in the trace: {rows} {events}'
    return None


def main():
    detours, trace = read_detours(sys.argv[1]), read_trace(sys.argv[2])
    close_ns = int(sys.argv[3]) if len(sys.argv) > 3 else None
    total, differences, first, last = collections.Counter(), [], {}, {}
    new_pages = 0
    for (cpu, begin, end), rows in sorted(detours.items()):
        inside = [cause for cause in trace[cpu] if begin <= cause.at_us <= end]
        trace[cpu] = [cause for cause in trace[cpu] if not begin <= cause.at_us <= end]
        total.update((cause.name, cpu) for cause in inside)
        first.setdefault(cpu, begin)
        last[cpu] = end
        wrong = compare(rows, inside, close_ns)
        if wrong and new_pages < NEW_PAGES and not compare(rows, inside, close_ns, NEW_PAGE_NS):
            new_pages += 1
        elif wrong:
            differences.append(f'the detour on CPU {cpu} at {begin} us {wrong}')
    for cpu, causes in trace.items():
        differences += [f'no detour on CPU {cpu} has {cause}' for cause in causes
                        if cause.ns >= SHORT_NS and first.get(cpu, 0) < cause.at_us < last.get(cpu, 0)]
    for (name, cpu), number in sorted(total.items()):
        print(name, cpu, number)
    print(f'{len(detours)} detours, {len(differences)} differences', *differences[:10], sep='\n')
    return not total or bool(differences)


if __name__ == '__main__':
    sys.exit(main())
