#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the path of a run in KTAU's recording with that in ftrace's of the same run.

usage: ftrace.py KTAU DIRECTORY

DIRECTORY has both.ktau and trace.dat of tests/guest/ftrace. Both paths are compared from where
they leave the task that has started the recording for the last time: they follow the same tasks in
the same order, and each state has the same sum to 100 us.
"""

import collections
import csv
import io
import os
import re
import subprocess
import sys

MOST_NS = 100000


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def segments(ktau, path, tid):
    """What follows the last segment of ktau: duration, state and task of each."""
    rows = list(csv.DictReader(io.StringIO(
        run(ktau, 'path', f'--task={tid}', '--segments', '--csv', path))))
    last = max((i for i, row in enumerate(rows) if row['task'].startswith('ktau/')), default=-1)
    return [(int(row['time_ns']), row['state'], row['task']) for row in rows[last + 1:]]


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


def main():
    ktau, folder = sys.argv[1:]
    own, other = os.path.join(folder, 'both.ktau'), os.path.join(folder, 'ftrace.ktau')
    if os.path.exists(other):
        os.unlink(other)
    hz = re.search(r'\bhz=(\d+)', run(ktau, 'dump', own)).group(1)
    run(ktau, 'import', f'--hz={hz}', '-o', other, os.path.join(folder, 'trace.dat'))
    run(ktau, 'check', other)
    tid = re.search(r'path of [^/]*/(\d+)', run(ktau, 'path', own)).group(1)
    one, two = segments(ktau, own, tid), segments(ktau, other, tid)
    first, second = sums(one), sums(two)
    good = bool(one)
    for state in sorted(first | second):
        near = abs(first[state] - second[state]) <= MOST_NS
        good &= near
        print(f'{"ok" if near else "not ok"} - {state}: {first[state]} ns, by ftrace '
              f'{second[state]} ns')
    same = tasks(one) == tasks(two)
    print(f'{"ok" if same else "not ok"} - {len(one)} and {len(two)} segments, the same tasks')
    if not same:
        print('#', tasks(one), '\n#', tasks(two))
    print(f'1..{len(first | second) + 1}')
    sys.exit(0 if good and same else 1)


if __name__ == '__main__':
    main()
