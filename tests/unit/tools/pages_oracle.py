# SPDX-License-Identifier: GPL-2.0-only
"""What ktau pages must print, computed in the simplest way: dictionaries that a fork copies."""

import collections
import random

SHARED = 8
WRITE, FIRST, KERNEL, FETCH, ZERO = 1, 2, 4, 16, 32
PAGE = 4096

Record = collections.namedtuple('Record', 'ticks letter number of_file flags thread')


class World:
    """Numbers the pages of a script's entries."""

    def __init__(self):
        self.last = 0
        self.files = {}                 # (identity, page of the file) -> number
        self.own = {}                   # space -> {page: number}
        self.maps = {}                  # space -> {page: (identity, page of the file, flags)}
        self.ended = set()
        self.ticks = {}
        self.threads = {}               # number -> [serial, tid, process]
        self.processes = {}             # pid -> (pid, serial)
        self.wrong = collections.Counter()
        self.records = []

    def new(self):
        self.last += 1
        return self.last

    def file_number(self, identity, page):
        if (identity, page) not in self.files:
            self.files[identity, page] = self.new()
        return self.files[identity, page]

    def space(self, ticks, number):
        if number not in self.own:
            self.wrong['unknown_space'] += 1
            return False
        if ticks < self.ticks[number]:
            self.wrong['time_back'] += 1
        self.ticks[number] = max(ticks, self.ticks[number])
        return True

    def thread(self, number):
        if number and number not in self.threads:
            self.wrong['unknown_thread'] += 1
        return self.threads.get(number)

    def reference(self, ticks, flags, page, space, thread):
        if not self.space(ticks, space):
            return
        thread = self.thread(thread)
        mapped = self.maps[space].get(page)
        self.wrong['unmapped_page'] += mapped is None
        number, of_file = self.own[space].get(page), False
        if not number and mapped and mapped[0] and (not flags & WRITE or mapped[2] & SHARED):
            number, of_file = self.file_number(*mapped[:2]), True
        if not number:
            number = self.own[space][page] = self.new()
        self.records.append(Record(ticks, 'rw'[flags & WRITE], number, of_file, flags,
                                   thread and tuple(thread)))

    def cow(self, ticks, flags, page, space, thread):
        del thread
        if self.space(ticks, space) and not (flags & ZERO and page in self.own[space]):
            self.own[space][page] = self.new()

    def unmap(self, ticks, flags, page, pages, space, thread):
        del flags, thread
        if self.space(ticks, space):
            for i in range(page, page + pages):
                self.own[space].pop(i, None)

    def move(self, ticks, flags, page, to, pages, space, thread):
        del flags, thread
        if not self.space(ticks, space):
            return
        own, maps = self.own[space], self.maps[space]
        numbers = {i: own.pop(page + i) for i in range(pages) if page + i in own}
        mapped = {i: maps[page + i] for i in range(pages) if page + i in maps}
        for i in range(pages):
            own.pop(to + i, None)
        own.update({to + i: number for i, number in numbers.items()})
        maps.update({to + i: m for i, m in mapped.items()})

    def map(self, ticks, flags, page, pages, space, pgoff=0, inode=0, dev=0, generation=0,
            vm_flags=0):
        del flags
        if self.space(ticks, space):
            identity = (dev, inode, generation) if dev else None
            for i in range(pages):
                self.maps[space][page + i] = (identity, pgoff + i, vm_flags)

    def begin(self, ticks, space, parent, reason):
        if space in self.own or space in self.ended:
            self.wrong['space_in_use'] += 1
            return
        copied = reason == 1 and self.space(ticks, parent)
        self.own[space] = dict(self.own[parent]) if copied else {}
        self.maps[space] = dict(self.maps[parent]) if copied else {}
        self.ticks[space] = ticks

    def follow_space(self, ticks, flags, space, reason=0, parent=0, thread=0):
        del flags, thread
        if reason != 3:
            self.begin(ticks, space, parent, reason)
        elif self.space(ticks, space):
            del self.own[space], self.maps[space]
            self.ended.add(space)

    def follow_thread(self, ticks, flags, thread, space, serial, tid, tgid):
        del flags
        self.space(ticks, space)
        if thread not in self.threads:
            if tid == tgid or tgid not in self.processes:
                self.processes[tgid] = (tgid, serial)
            self.threads[thread] = [serial, tid, self.processes[tgid]]
        self.threads[thread][:2] = serial, tid

    def file(self, ticks, flags, inode, pos, bytes, dev, generation, thread=0, size=0, op=0):
        del flags, size
        thread = self.thread(thread)
        for page in range(pos // PAGE, (pos + bytes - 1) // PAGE + 1):
            number = self.file_number((dev, inode, generation), page)
            self.records.append(Record(ticks, 'RW'[op], number, True, 0,
                                       thread and tuple(thread)))

    def truncate(self, ticks, flags, inode, size, dev, generation):
        del ticks, flags
        for key in [key for key in self.files
                    if key[0] == (dev, inode, generation) and key[1] * PAGE >= size]:
            del self.files[key]

    def follow(self, entries):
        for ticks, name, flags, fields in entries:
            if name in ('space', 'thread'):
                name = 'follow_' + name
            if name not in ('phase', 'evict', 'skipped'):
                getattr(self, name)(ticks, flags, **fields)
        return self


def lru(string, size):
    memory, misses = [], 0
    for page in string:
        if page in memory:
            memory.remove(page)
        else:
            misses += 1
            del memory[:max(0, len(memory) - size + 1)]
        memory.append(page)
    return misses


def fifo(string, size):
    memory, misses = [], 0
    for page in string:
        if page not in memory:
            misses += 1
            memory = memory[-size + 1:] if size > 1 else []
            memory.append(page)
    return misses


def clock(string, size):
    circle, misses = collections.deque(), 0          # [page, used], the hand is at the left
    for page in string:
        for entry in circle:
            if entry[0] == page:
                entry[1] = True
                break
        else:
            misses += 1
            while len(circle) == size and circle[0][1]:
                circle[0][1] = False
                circle.rotate(-1)
            if len(circle) == size:
                circle.popleft()
            circle.append([page, True])
    return misses


def opt(string, size):
    memory, misses = set(), 0
    for i, page in enumerate(string):
        if page in memory:
            continue
        misses += 1
        if len(memory) == size:
            later = string[i + 1:]
            memory.remove(max(memory, key=lambda p: later.index(p) if p in later else len(string)))
        memory.add(page)
    return misses


POLICIES = {'lru': lru, 'fifo': fifo, 'clock': clock, 'opt': opt}


def working_set(touches, tau, moment):
    """The pages that were used in the last tau: touches are (time, page)."""
    return {page for time, page in touches if moment - tau < time <= moment}


class Script:
    """Random entries about a few spaces, files and pages."""

    PAGES = 50

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.ticks = 1000
        self.spaces, self.threads, self.nr_spaces, self.nr_threads = [], [], 0, 0
        self.entries = []

    def put(self, name, flags=0, **fields):
        self.ticks += self.random.choice((0, 1, 3, 50))
        self.ticks -= 60 * (self.random.random() < 0.003)
        self.entries.append((self.ticks, name, flags, fields))

    def begin(self, reason, parent=0):
        if self.random.random() < 0.1:
            self.put('space', space=self.random.randrange(1, self.nr_spaces + 1), reason=reason)
            return
        self.nr_spaces += 1
        self.nr_threads += 1
        tid = self.random.choice((self.nr_threads, self.nr_threads, 3))
        tgid = self.random.choice((tid, tid, 2))
        self.put('space', space=self.nr_spaces, parent=parent, reason=reason)
        self.put('thread', thread=self.nr_threads, space=self.nr_spaces,
                 serial=1000 + self.nr_threads, tid=tid, tgid=tgid)
        self.spaces.append(self.nr_spaces)
        self.threads.append(self.nr_threads)

    def identity(self):
        return {'inode': self.random.randrange(3), 'dev': 1 + self.random.randrange(2),
                'generation': self.random.randrange(2)}

    def where(self):
        # Mostly a few pages, some with other levels of a tree
        page = self.random.randrange(self.PAGES)
        return self.random.choice((page, page, page + 4000, page + 8000, page + (1 << 34)))

    def some(self, numbers):
        """One of these, rarely one that is not."""
        return self.random.choice(numbers) if self.random.random() < 0.99 else 4000

    def step(self):
        r = self.random
        space = self.some(self.spaces)
        thread = self.some(self.threads)
        who = {'space': space, 'thread': thread}
        kind = r.choices(('reference', 'cow', 'unmap', 'move', 'map', 'begin', 'end', 'file',
                          'truncate', 'evict'), (70, 6, 3, 3, 6, 2, 4, 5, 1, 3))[0]
        if kind in ('reference', 'evict'):
            self.put(kind, r.randrange(64), page=self.where(), **who)
        elif kind == 'cow':
            self.put(kind, r.choice((0, ZERO)), page=self.where(), **who)
        elif kind == 'unmap':
            self.put(kind, page=self.where(), pages=r.choice((1, 1, 3, 70)), **who)
        elif kind == 'move':
            self.put(kind, page=self.where(), to=r.randrange(8000, 8060), pages=r.randrange(1, 90),
                     **who)
        elif kind == 'map':
            more = dict(self.identity(), pgoff=r.randrange(9)) if r.random() < 0.7 else {}
            self.put(kind, page=self.where(), pages=r.randrange(1, 60), space=space,
                     vm_flags=r.choice((1, 3, 11)), **more)
        elif kind == 'begin':
            self.begin(r.randrange(3), space)
        elif kind == 'end' and len(self.spaces) > 2:
            self.put('space', space=self.spaces.pop(0), reason=3)
        elif kind == 'file':
            self.put(kind, pos=r.randrange(100000), bytes=r.randrange(1, 20000), thread=thread,
                     op=r.randrange(2), **self.identity())
        elif kind == 'truncate':
            self.put(kind, size=r.randrange(100000), **self.identity())

    def write(self, steps):
        self.put('phase', armed=1, spaces=0, page_bytes=PAGE, window=16)
        while not self.spaces:
            self.nr_spaces += not self.nr_spaces
            self.begin(0)
        self.put('map', page=0, pages=self.PAGES, space=self.spaces[0], vm_flags=3)
        for _ in range(steps):
            self.step()
        return self.entries
