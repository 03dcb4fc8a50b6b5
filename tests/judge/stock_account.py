#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Judge the recording of tests/guest/stock-account: rules of docs/dev/abi.md, and known loads.

    tests/judge/stock_account.py DIRECTORY

DIRECTORY is the guest's /share. Prints TAP. Each rule is judged for all profiles, after the
differences in the file have been added up.
"""

import pathlib
import re
import sys

sys.path.insert(0, 'tests/unit/libktau')
# pylint: disable=wrong-import-position
from abi_decoder import ACCOUNT, MODES, PAGE, PARTS, Bad, Page, Rules, records

TASK, EXITED, CPU, EVICTED = range(4)
CALLS = {'sleeper': 'sys_clock_nanosleep', 'reader': 'sys_read'}


class Judge:
    """Findings by rule, and the profiles of the known tasks."""

    def __init__(self, pids):
        self.groups = group_bits()
        self.wrong = {}
        self.pids = pids
        self.known = {name: [] for name in pids.values()}
        self.clocks = []
        self.before = {}
        self.names = {}
        self.cgroups = {}
        self.nr = {}

    def need(self, condition, rule, *details):
        self.nr[rule] = self.nr.get(rule, 0) + 1
        if not condition:
            self.wrong.setdefault(rule, []).append(' '.join(str(d) for d in details))

    def file(self, page, path):
        rules = Rules(page)
        try:
            for _, record in records(page, path.read_bytes(), rules):
                self.record(rules, record)
        except Bad as bad:
            self.need(False, 'the stream keeps the rules of the page', bad)

    def record(self, rules, record):
        if record.name == 'STREAM':
            f = record.fields
            self.clocks.append((f['boottime_ns'] - f['monotonic_ns'],
                                f['realtime_ns'] - f['monotonic_ns']))
        elif record.name == 'EVENT':
            self.names[record.fields['id']] = record.strings[0][:-1].decode()
        elif record.name == 'CGROUP':
            self.cgroups[record.fields['id']] = record.strings[0][:-1].decode()
        elif record.name in ('PROFILE', 'DIFF'):
            total, entries = rules.profiles[record.fields['serial']]
            if record.name == 'PROFILE':
                total = record.fields
                entries = {e['id']: e for e in record.entries}
            self.profile(rules.owner, dict(record.fields, **{
                key: total[key] for key in ('outer_ticks', 'open_child_ticks', *ACCOUNT)}),
                         entries, record.open)

    def profile(self, owner, f, entries, frames):
        who = f"{owner['comm'].rstrip(bytes(1)).decode()}/{owner['tid']} kind {owner['kind']}"
        kind = owner['kind']
        self.need(not f['groups_throughout'] & MODES, 'no modes in groups_throughout', who)
        self.need(kind == TASK or not f['groups'], 'only live tasks have groups', who)
        for e in entries.values():
            self.entry(kind, who, e)
        for frame in frames:
            self.need(frame['asleep_ticks'] + frame['runq_ticks'] + frame['irq_ticks'] <=
                      f['ticks'] - frame['start_ticks'], 'times inside a frame fit', who, frame)
        if kind != EVICTED:
            self.account(kind, who, f)
        if kind in (TASK, EXITED, CPU):
            self.growth(f, who, entries)
        if kind == TASK and owner['tid'] in self.pids and owner['tid'] == owner['tgid']:
            name, group = self.pids[owner['tid']], self.cgroups.get(owner['cgroup'])
            self.need(group == ('/loads' if name == 'old_sleeper' else '/'),
                      'the known tasks are in their control groups', name, group)
            self.known[self.pids[owner['tid']]].append((f, frames))

    def entry(self, kind, who, e):
        name = self.names[e['id']]
        if kind == CPU:
            self.need(e['flags'] == PARTS['longest'] and not e['irq'],
                      "a CPU's events have only longest", who, name, e['flags'])
        if e['kind']:
            return
        self.need(e['longest'] <= e['incl'] <= e['longest'] * e['count'],
                  'longest is between incl / count and incl', who, name, e)
        self.need(e['asleep'] + e['runq'] + e['irq'] <= e['incl'], 'parts of incl fit', who, name,
                  e)

    def account(self, kind, who, f):
        parts, life = sum(f[key] for key in ACCOUNT), f['ticks'] - f['start_ticks']
        text = {key: f[key] for key in ACCOUNT}
        self.need(parts <= life, 'no parts exceed a life', who, life, text)
        wanted = sum(self.groups[name] for name in ('account', 'sched', 'irq', 'bh'))
        if kind != CPU and f['groups_throughout'] & wanted == wanted:
            self.need(parts == life, 'the parts are the life', who, life, text)

    def growth(self, f, who, entries):
        before = self.before.get(f['serial'])
        self.before[f['serial']] = (f, entries)
        if not before:
            return
        for key in ('ticks', *ACCOUNT):
            self.need(f[key] >= before[0][key], 'no part of an account decreases', who, key,
                      f[key] - before[0][key])
        for e in before[1].values():
            now = entries.get(e['id'], {})
            for key in ('count', 'incl', 'asleep', 'runq', 'irq'):
                self.need(now.get(key, -1) >= e[key], 'no entry decreases', who, key)

    def loads(self):
        for name, seen in self.known.items():
            self.need(len(seen) > 3, 'the known tasks are in the recording', name, len(seen))
            start = None
            if name.startswith('new'):
                # Without the start of the program.
                start = next((f for f, _ in seen if f['ticks'] - f['start_ticks'] > 10 ** 9), None)
                self.need(start, 'the new tasks are in the recording', name)
            for f, frames in seen:
                if not start or f['ticks'] > start['ticks']:
                    self.load(name, f, frames, start)

    def load(self, name, f, frames, start):
        life = f['ticks'] - (start['ticks'] if start else f['start_ticks'])
        if life < 200_000_000:
            return
        share = {key: (f[key] - (start[key] if start else 0)) / life for key in ACCOUNT}
        what = name.split('_')[-1]
        # In which mode a running task was before its first event is not known until then.
        if not f['groups_throughout'] & self.groups['account']:
            self.need(not start and not share['user_ticks'], 'an unknown mode is neither', name,
                      share)
        elif what in CALLS:
            self.waiting(name, CALLS[what], f, frames, share)
        elif what == 'spinner':
            sure = share['user_ticks'] + share['runq_ticks'] + share['irq_ticks']
            self.need(sure >= .9 and share['user_ticks'] >= .1, f'{name} runs in user mode', share)
        elif what == 'copier':
            self.need(share['kernel_ticks'] >= max(.1, 1.3 * share['user_ticks']),
                      f'{name} runs in the kernel', share)

    def waiting(self, name, call, f, frames, share):
        inside = [self.names[frame['id']].replace('__x64_', '') for frame in frames]
        self.need(share['asleep_ticks'] >= .999, f'{name} is asleep', share)
        self.need(call in inside, f'{name} is in {call}', inside)
        for frame in frames:
            took = f['ticks'] - frame['start_ticks']
            self.need(frame['asleep_ticks'] >= .95 * took, f'{name} is asleep in its frames',
                      self.names[frame['id']], frame['asleep_ticks'], took)

    def text(self):
        offsets = list(zip(*self.clocks))
        for what, values in zip(('boottime', 'realtime'), offsets):
            self.need(max(values) - min(values) < 200_000, f'{what} agrees with monotonic',
                      max(values) - min(values))
        number = 0
        for number, rule in enumerate(self.nr, 1):
            wrong = self.wrong.get(rule, [])
            print(f"{'not ok' if wrong else 'ok'} - {rule}: {len(wrong)} of {self.nr[rule]} wrong")
            for line in wrong[:3]:
                print('#  ', line)
        print(f'1..{number}')
        return bool(self.wrong)


def group_bits():
    """The bits of the groups, from their header."""
    with open('kernel-ext/include/uapi/linux/ktau_groups.h', encoding='utf-8') as lines:
        rows = re.findall(r'^KTAU_(?:TASK_)?GROUP\(\w+, (\w+), (\d+)\)', lines.read(), re.M)
    return {name: 1 << int(bit) for name, bit in rows}


def main(directory):
    with open(f'{directory}/tasks', encoding='utf-8') as lines:
        pids = {int(pid): name for name, pid in (line.split() for line in lines)}
    page = Page(PAGE)
    judge = Judge(pids)
    for path in sorted(pathlib.Path(directory).glob('*.ktau')):
        judge.file(page, path)
    # Tasks of short recordings are only judged by the rules.
    judge.pids = {}
    short = sorted(pathlib.Path(directory).glob('rounds/*.ktau'))
    judge.need(len(short) == 3, 'the programs have come and gone', len(short))
    for path in short:
        judge.file(page, path)
    judge.loads()
    return judge.text()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
