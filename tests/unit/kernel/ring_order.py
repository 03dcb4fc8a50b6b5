#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The barriers of a ring, tested by exhaustion.

As order.py, with the stores of a writer (ring.h, ktau_ring_make_ready()) and the loads of a
reader (snapshot_trace.c, copy_one()). The ring has one position, whose memory has the contents
of another ring. The writer prepares it and writes slots 0 and 1 there. If the reader accepts
its copy of slot 0, that must be slot 0.
"""
from order import SET, Writer

SIZE = 1
FIRST = {'head': 0, 'seq': 7, 'data': 'another ring'}


def writes(number):
    """Slot @number is written."""
    return [('head', SET, number + 1), 'reserve', ('data', SET, number), 'commit',
            ('seq', SET, number + SIZE)]


# ktau_ring_make_ready(), and two writes.
UPDATES = [[('seq', SET, 0), 'ready'], writes(0), writes(1)]

# The loads, each with the barrier before it. @head is read again in the end.
LOADS = ((None, 'head', 'head'), ('head', 'seq', 'seq'), ('committed', 'data', 'data'),
         ('copied', 'end', 'head'))


def loads(without):
    """Loads between barriers, which may be executed in any order: (name, variable)."""
    groups = [[]]
    for barrier, name, variable in LOADS:
        if barrier != without and groups[-1]:
            groups.append([])
        groups[-1].append((name, variable))
    return groups


def accepts(got):
    """The tests of copy_slots() and copy_one() for slot 0."""
    return got['head'] > 0 and got['seq'] > 0 and got['end'] - SIZE <= 0


def torn(without=None):
    """Go through all executions. Return: an accepted copy that is not slot 0, or None."""
    writer = Writer(FIRST, UPDATES, without)
    groups = loads(without)
    seen, stack = set(), [(0, 0, ())]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        at, group, got = node
        stack += [(after, group, got) for after in writer.next[at]]
        values = dict(got)
        if group == len(groups):
            if accepts(values) and values['data'] != 0:
                return values
            continue
        for name, variable in groups[group]:
            if name in values:
                continue
            more = tuple(sorted(got + ((name, writer.memory[at][variable]),)))
            done = all(other in dict(more) for other, _ in groups[group])
            stack.append((at, group + done, more))
    return None


def main():
    copy = torn()
    print(f'{"not ok" if copy else "ok"} 1 - no copy of another slot')
    if copy:
        print(f'#   {copy}')
    barriers = 'ready', 'reserve', 'commit', 'head', 'committed', 'copied'
    for number, barrier in enumerate(barriers, 2):
        print(f'{"ok" if torn(barrier) else "not ok"} {number} - '
              f'a copy of another slot without the barrier "{barrier}"')
    print(f'1..{len(barriers) + 1}')


if __name__ == '__main__':
    main()
