#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The barriers of a snapshot, tested by exhaustion.

A CPU with weak ordering, such as arm64, may make stores visible in any order within the
limits of its barriers, and may execute loads in any order within the limits of its own.
This models the stores of profile.c and cpu.c and the loads of snapshot.c, and goes through
every order of both and every interleaving. Each copy that the reader accepts must be that
of a moment between two updates. Without a barrier, a torn copy must be found, so the
search can find one.
"""

# A store is (variable, add or set, value). A barrier is a string, its name.
ADD, SET = 0, 1

S, I, N = 'S', 'I', 'N'  # frames at fixed addresses, and their events
S_START, T = 100, 7     # when the system call began, length of an interrupt


def opens(frame, prev, start):
    """Interrupt @frame is opened: cpu.c, open()."""
    return [(f'{frame}.prev', SET, prev), (f'{frame}.start', SET, start),
            (f'{frame}.child', SET, 0), 'open', ('top', SET, frame)]


def enters(frame, start):
    """A system call is entered: profile.c, enter()."""
    return [(f'{frame}.prev', SET, None), (f'{frame}.start', SET, 0),
            (f'{frame}.child', SET, 0), 'enter', ('top', SET, frame),
            (f'{frame}.start', SET, start)]


def closes(frame, event, prev, incl, excl):
    """An interrupt is closed without @begin and @end: cpu.c, close()."""
    outside = f'{prev}.child' if prev else 'outer'
    return [(outside, ADD, incl), 'sum',
            (f'{event}.count', ADD, 1), (f'{event}.incl', ADD, incl), ('irq', ADD, incl),
            'unlink', ('top', SET, prev), 'excl', (f'{event}.excl', ADD, excl)]


def exits(event, incl, excl):
    """A system call is left: profile.c, exit_fast()."""
    return [('begin', ADD, 1), 'begin', ('top', SET, None), ('outer', ADD, incl),
            (f'{event}.count', ADD, 1), (f'{event}.incl', ADD, incl),
            'cell', (f'{event}.excl', ADD, excl), 'end', ('end', ADD, 1)]


def closes_cpu(event, excl):
    """The table of a CPU: cpu.c, close_cpu()."""
    return [('outer', ADD, excl), 'cpu', (f'{event}.count', ADD, 1),
            (f'{event}.incl', ADD, excl), ('irq', ADD, excl), 'cpu excl',
            (f'{event}.excl', ADD, excl)]


EVENTS = (S, I, N)
CPU = tuple('I')        # an object of its own
DEPTH = 2       # frames inside each other
FIELDS = ('start', 'child', 'prev')
SAME = {'begin1': 'end0', 'top1': 'top0', 'start1': 'start0', 'sum1': 'sum0'}
ZERO = {'begin': 0, 'end': 0, 'outer': 0, 'irq': 0, 'top': None}
for name in EVENTS:
    # The stack has old contents.
    ZERO.update({f'{name}.count': 0, f'{name}.incl': 0, f'{name}.excl': 0,
                 f'{name}.prev': None, f'{name}.start': 55, f'{name}.child': 3})
IN_CALL = dict(ZERO, top=S)
IN_CALL.update({'S.prev': None, 'S.start': S_START, 'S.child': 0})
IN_BOTH = dict(IN_CALL, top=I)
IN_BOTH.update({'I.prev': S, 'I.start': 200, 'I.child': T, 'N.count': 1, 'N.incl': T,
                'N.excl': T, 'irq': T})

# The events, the state at first, and the updates meanwhile. A task is copied, or a CPU.
SCENARIOS = {
    'two interrupts of user mode': ((I,), ZERO, [
        opens(I, None, 200), closes(I, I, None, T, T), opens(I, None, 300)]),
    'an interrupt of a system call that then ends': ((S, I), IN_CALL, [
        opens(I, S, 200), closes(I, I, S, T, T), exits(S, 400, 400 - T)]),
    'an interrupt without time of its own': ((I, N), IN_BOTH, [
        closes(I, I, S, T, 0)]),
    'two system calls': ((S,), ZERO, [
        enters(S, S_START), exits(S, 10, 10), enters(S, 120)]),
    'two interrupts in the table of a CPU': (CPU, ZERO, [
        closes_cpu(I, T), closes_cpu(I, T)]),
}


def segments(stores, without):
    """Stores between barriers, which may become visible in any order."""
    out = [[]]
    for item in stores:
        if not isinstance(item, str):
            out[-1].append(item)
        elif item != without and out[-1]:
            out.append([])
    return [tuple(segment) for segment in out if segment]


class Writer:
    """All states of the memory, and the steps from one to the next."""

    def __init__(self, first, updates, without):
        self.memory, self.next = [], []
        self.index = {}
        self.segments = segments([item for update in updates for item in update],
                                 without)
        self.state(first, 0, ())
        self.quiet = [dict(first)]
        for update in updates:
            memory = dict(self.quiet[-1])
            for item in update:
                if not isinstance(item, str):
                    self.store(memory, item)
            self.quiet.append(memory)

    @staticmethod
    def store(memory, item):
        variable, kind, value = item
        memory[variable] = memory[variable] + value if kind == ADD else value

    def state(self, memory, segment, done):
        key = segment, done
        if key in self.index:
            return self.index[key]
        number = self.index[key] = len(self.memory)
        self.memory.append(memory)
        self.next.append([])
        if segment == len(self.segments):
            return number
        items = self.segments[segment]
        for i, item in enumerate(items):
            # Stores to the same variable stay in order.
            if i in done or any(other[0] == item[0] and j not in done
                                for j, other in enumerate(items[:i])):
                continue
            after = dict(memory)
            self.store(after, item)
            finished = tuple(sorted(done + (i,)))
            where = (segment + 1, ()) if len(finished) == len(items) else \
                (segment, finished)
            self.next[number].append(self.state(after, *where))
        return number


def loads(events, without):
    """
    The loads of copy_once() between its barriers: (name, variable). A variable that begins
    with "top." belongs to the frame found first.
    """
    task = events is not CPU
    head = 'top.sum' if task else 'outer'
    parts = [('before', [])]
    for event in events:
        parts[-1][1].append((f'{event}.excl', f'{event}.excl'))
        parts.append(('cell', [(f'{event}.{field}', f'{event}.{field}')
                               for field in ('count', 'incl')]))
    parts[-1][1].append(('irq', 'irq'))
    parts.append(('outside', [('outer', 'outer')]))
    parts.append(('after', [('top1', 'top')] if task else []))
    parts.append(('linked', [('begin1', 'begin'), ('sum1', head)]))
    groups = [[('end0', 'end'), ('sum0', head)]]
    if task:
        groups[0] += [('top0', 'top'), ('start0', 'top.start')]
        # copy_frames() reads each frame's address from the frame before.
        parts[-3][1].extend((f'{depth}.{field}', f'{depth}.{field}')
                            for depth in range(DEPTH) for field in FIELDS
                            if depth + 1 < DEPTH or field != 'prev')
        parts[-1][1].append(('start1', 'top.start'))
    for barrier, group in parts:
        if barrier == without:
            groups[-1] += group
        elif group:
            groups.append(list(group))
    return groups


def address(variable, got):
    """The frame that @variable belongs to; '?' if its address is not known yet."""
    depth = variable.partition('.')[0]
    if depth == 'top':
        return got.get('top0', '?')
    frame = got.get('top0', '?')
    for nr in range(int(depth)):
        if frame not in (None, '?'):
            frame = got.get(f'{nr}.prev', '?')
    return frame


def find(memory, variable, got):
    """What a load of @variable finds; '?' if its address is not known yet."""
    part, _, field = variable.partition('.')
    if part != 'top' and not part.isdigit() or not field:
        return memory[variable]
    frame = address(variable, got)
    if frame == '?':
        return '?'
    if field == 'sum':
        return memory[f'{frame}.child'] if frame else memory['outer']
    return memory[f'{frame}.{field}'] if frame else None


def frames(got):
    """The frames that copy_frames() has found: (start, child) of each."""
    out = []
    for depth in range(DEPTH):
        if address(f'{depth}.', got):
            out.append((got[f'{depth}.start'], got[f'{depth}.child']))
    return out


def chain(memory):
    """The frames in @memory, in the same form."""
    out, frame = [], memory['top']
    while frame:
        out.append((memory[f'{frame}.start'], memory[f'{frame}.child']))
        frame = memory[f'{frame}.prev']
    return out


def accepts(events, got):
    """The tests at the end of copy_once()."""
    if got['begin1'] != got['end0'] or got['sum1'] != got['sum0']:
        return False
    excl, child = sum(got[f'{event}.excl'] for event in events), 0
    if events is not CPU:
        if got['top1'] != got['top0'] or got['start1'] != got['start0']:
            return False
        found = frames(got)
        if got['start0'] == 0 or any(start == 0 for start, _ in found):
            return False
        child = sum(child for _, child in found)
    return excl == got['outer'] + child


def is_whole(events, got, moments):
    """Whether what was copied was there at one moment between two updates."""
    names = ['outer', 'irq'] + [f'{e}.{f}' for e in events for f in ('count', 'incl', 'excl')]
    return any(all(got[name] == memory[name] for name in names) and
               (events is CPU or frames(got) == chain(memory))
               for memory in moments)


def torn(scenario, without=None):
    """Go through all executions. Return: an accepted copy that is torn, or None."""
    events, first, updates = SCENARIOS[scenario]
    writer = Writer(first, updates, without)
    groups = loads(events, without)
    seen, stack = set(), [(0, 0, frozenset(), ())]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        at, group, done, got = node
        stack += [(after, group, done, got) for after in writer.next[at]]
        if group == len(groups):
            values = dict(got)
            if accepts(events, values) and not is_whole(events, values, writer.quiet):
                return values
            continue
        for name, variable in groups[group]:
            if name in done:
                continue
            values = dict(got)
            found = find(writer.memory[at], variable, values)
            # The result of a test that has failed already does not change.
            if found == '?' or found != values.get(SAME.get(name), found):
                continue
            more = tuple(sorted(got + ((name, found),), key=lambda item: item[0]))
            now = done | {name}
            stack.append((at, group + 1, frozenset(), more) if
                         len(now) == len(groups[group]) else (at, group, now, more))
    return None


# A scenario in which a torn copy is accepted without the barrier.
NEEDED = (
    ('enter', 'two system calls'),
    ('begin', 'an interrupt of a system call that then ends'),
    ('cell', 'an interrupt of a system call that then ends'),
    ('linked', 'two interrupts of user mode'),
    ('outside', 'two interrupts of user mode'),
    ('unlink', 'an interrupt without time of its own'),
    ('cpu', 'two interrupts in the table of a CPU'),
    ('cpu excl', 'two interrupts in the table of a CPU'),
)


def main():
    number = 0
    for scenario in SCENARIOS:
        number += 1
        copy = torn(scenario)
        print(f'{"not ok" if copy else "ok"} {number} - no torn copy: {scenario}', flush=True)
        if copy:
            print(f'#   {copy}')
    for barrier, scenario in NEEDED:
        number += 1
        print(f'{"ok" if torn(scenario, barrier) else "not ok"} {number} - '
              f'a torn copy without the barrier "{barrier}": {scenario}', flush=True)
    print(f'1..{number}')


if __name__ == '__main__':
    main()
