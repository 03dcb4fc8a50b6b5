#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the paths of programs with what they are made of.

usage: paths.py KTAU DIRECTORY

DIRECTORY has the recordings of tests/guest/paths. The programs compute for known CPU times; in each
path the segments follow one another, and add up to its time. Prints TAP.
"""

import collections
import csv
import io
import os
import subprocess
import sys

from stock_trace import Judge

MS = 1000000
# A program computes a little longer than it wants to, and starts and ends outside of that.
SHARE, REST_MS = .05, 40
PROGRAM_SHARE, PROGRAM_REST_MS = .1, 60


class Paths(Judge):
    """Reads the recordings of a folder."""

    def __init__(self, ktau, folder):
        super().__init__()
        self.ktau, self.folder = ktau, folder

    def rows(self, name, *options):
        path = os.path.join(self.folder, name + '.ktau')
        text = subprocess.run((self.ktau, 'path', '--csv', *options, path), capture_output=True,
                              text=True, check=True).stdout
        return list(csv.DictReader(io.StringIO(text)))

    def path(self, name, *options):
        """
        Time in ms by state and name of the task; all segments are checked. The first one is the
        command's own: the recorder has let it run.
        """
        rows = self.rows(name, '--segments', *options)
        at = start = int(rows[0]['from_ns'])
        gaps = 0
        times = collections.Counter()
        for row in rows:
            gaps += int(row['from_ns']) != at
            at += int(row['time_ns'])
            times[row['state'], row['task'].rsplit('/', 1)[0]] += int(row['time_ns']) / MS
        table = sum(int(row['time_ns']) for row in self.rows(name, *options))
        self.need(not gaps and table == at - start and table,
                  f'{name} {options}: {len(rows)} segments add up', gaps, table, at - start)
        recorder = [row for row in rows if row['task'].startswith('ktau/')]
        self.need(not recorder, f'{name} {options}: none of it is the recorder', recorder)
        return times

    def near(self, what, value, expected, share=SHARE, rest=REST_MS):
        self.need(abs(value - expected) <= share * expected + rest,
                  f'{what}: {value:.1f} ms, made of {expected:.1f}')

    def start(self, name, burnt):
        """The CPU time in ms that the first task needed besides what it burnt on purpose."""
        with open(os.path.join(self.folder, name), encoding='utf-8') as printed:
            return int(printed.read()) / MS - burnt

    def running(self, name, expected, *options):
        times = self.path(name, *options)
        for task, ms in expected.items():
            self.near(f'{name} {options}: {task} runs', times['RUNNING', task], ms)
        return times

    def waits(self):
        start = self.start('family', 1000)
        self.running('family', {'master': 1000 + start, 'c1': 200, 'c2': 0})
        self.running('family', {'master': 200 + start, 'c1': 600, 'c2': 400}, '--mode=full')
        times = self.running('early', {'active': 200 + self.start('early', 200)})
        others = sum(ms for (state, task), ms in times.items() if task != 'active')
        self.need(others <= 1, f'nobody else is on the path: {others:.1f} ms', times)
        times = self.path('timer')
        self.near('a timer', times['TIMER', 'active'], 50, 0, 5)
        times = self.path('user')
        self.near('a timer of another user', times['TIMER', 'active'], 50, 0, 5)
        self.running('mutex', {'owner': 150})
        self.running('pipeline', {'stage1': 10, 'stage2': 200, 'sink': 5}, '--mode=full')

    def script(self):
        for options, expected in (
                (('--mode=full',), {'A': 400, 'B': 0, 'C': 350, 'E': 100, 'F': 0}),
                ((), {'A': 400, 'B': 200, 'C': 150, 'E': 100, 'F': 0})):
            tree = self.rows('script', '--tree', *options)
            total = sum(int(row['time_ns']) for row in self.rows('script', *options))
            shown = sum(int(row['path_ns']) for row in tree)
            self.need(shown == total > 0, f'the programs of a script add up {options}', shown,
                      total)
            found = collections.Counter()
            for row in tree:
                found[row['program']] += int(row['path_ns']) / MS
            for program, ms in expected.items():
                self.near(f'{program} on the path {options}', found[program], ms, PROGRAM_SHARE,
                          PROGRAM_REST_MS)

    def programs_of(self, name):
        """The command and what descends from it, without other tasks on its path."""
        rows = self.rows(name, '--tree')
        return [row for i, row in enumerate(rows) if not i or int(row['depth'])]

    def programs(self):
        runs = collections.Counter()
        for row in self.programs_of('many'):
            runs[row['program']] += int(row['runs'])
        self.need(runs['true'] == 100, f'{runs["true"]} of 100 programs', runs)
        runs = collections.Counter()
        for row in self.programs_of('parts'):
            runs[row['program']] += int(row['runs'])
        with open(os.path.join(self.folder, 'execs'), encoding='utf-8') as lines:
            execs = collections.Counter(line.rstrip('\n') for line in lines)
        self.need(runs == execs and sum(execs.values()) > 30,
                  f'{sum(execs.values())} execs of {len(execs)} programs are those of strace',
                  runs, execs)


def main():
    judge = Paths(*sys.argv[1:])
    judge.waits()
    judge.script()
    judge.programs()
    return judge.end()


if __name__ == '__main__':
    sys.exit(main())
