# SPDX-License-Identifier: GPL-2.0-only
"""Write traces of references to pages, from one line of text for each slot.

    TICKS TYPE [FLAG,...] FIELD=VALUE...

TYPE is the name of a slot in <linux/ktau_references.h>, in lower case; fields that are not named
are 0. "lost N" counts slots that were lost before the next one; "cut" shortens the payload of the
slot before it by its last word.
"""

import struct

MAGIC = 0x5541544b
FLAGS = {'write': 1, 'first': 2, 'kernel': 4, 'remote': 8, 'fetch': 16, 'zero': 32, 'again': 64}
REASONS = {'start': 0, 'fork': 1, 'exec': 2, 'end': 3}

REFERENCE = 'Qpage Ispace Ithread'
MAP = 'Qpage Qpages Qpgoff Qinode Idev Igeneration Ispace Ivm_flags'
TYPES = {
    'reference': (32, REFERENCE), 'cow': (33, REFERENCE),
    'unmap': (34, 'Qpage Qpages Ispace Ithread'),
    'move': (35, 'Qpage Qto Qpages Ispace Ithread'), 'map': (36, MAP),
    'space': (37, 'Ispace Iparent Ireason Ithread'),
    'thread': (38, 'Ithread Ispace Qserial itid itgid'),
    'file': (39, 'Qinode Qpos Qbytes Qsize Idev Igeneration Ithread Iop'),
    'truncate': (40, 'Qinode Qsize Idev Igeneration'), 'skipped': (41, MAP),
    'phase': (42, 'Iarmed Ispaces Ipage_bytes Iwindow'), 'evict': (43, REFERENCE),
    'counted': (44, 'Qpages Qstores Ispace Ithread'),
}


def slot(order, ticks, name, flags=0, cut=0, **fields):
    number, layout = TYPES[name]
    words = [(word[0], word[1:]) for word in layout.split()]
    unknown = set(fields) - {name for _, name in words}
    assert not unknown, unknown
    payload = struct.pack(order + ''.join(code for code, _ in words),
                          *(fields.get(field, 0) for _, field in words))
    payload = payload[:len(payload) - 8 * cut]
    return struct.pack(order + 'QHBBHBB', ticks, 65535, number, 2 + len(payload) // 8, 0, 0,
                       flags) + payload


def stream(order='<', boot=1, hz=1000000000):
    head = struct.pack(order + 'IHHIHBBIIIIIIIIQII', 384, 1, 384, MAGIC, 2, 64, 0, 3, 0, 0, 0, 0,
                       0, 0, 0, hz, 1, 1)
    return head + struct.pack(order + '13Q', *[0] * 13) + bytes([boot] * 16) + bytes(
        384 - len(head) - 13 * 8 - 16)


def trace(slots, order='<', lost=0, first=0, session=1):
    data = b''.join(slots)
    head = struct.pack(order + 'IHH7Q4IQ', 88 + len(data), 3, 88, session, first, first + len(slots),
                       lost, 0, 0, first + len(slots), 1 << 20, 0, len(slots), len(data), 0)
    return head + data


def end(order='<', lost_no_ring=0):
    return struct.pack(order + 'IHH28Q', 232, 4, 232, *[0] * 17, lost_no_ring, *[0] * 10)


def parse(text):
    """Each line of a script: (ticks, type, flags, fields), ('lost', number), ('cut',)."""
    for line in text.splitlines():
        words = line.split('#')[0].split()
        if not words:
            continue
        if words[0] in ('lost', 'cut'):
            yield (words[0], *map(int, words[1:]))
            continue
        flags, fields = 0, {}
        for word in words[2:]:
            name, is_field, value = word.partition('=')
            if is_field:
                fields[name] = REASONS.get(value) if name == 'reason' else int(value, 0)
            else:
                flags |= sum(FLAGS[flag] for flag in word.split(','))
        yield int(words[0]), words[1], flags, fields


def encode(entries, order='<', boot=1, per_record=1000, session=1):
    """The stream of a script's entries."""
    out, slots, lost, nr, last = [stream(order, boot)], [], 0, 0, ()
    for entry in entries:
        if entry[0] == 'cut':
            slots[-1] = slot(order, *last[:3], cut=1, **last[3])
            continue
        if entry[0] == 'lost' or len(slots) == per_record:
            if slots:
                out.append(trace(slots, order, lost, nr, session))
                nr += len(slots)
                slots, lost = [], 0
        if entry[0] == 'lost':
            lost += entry[1]
            nr += entry[1]
            continue
        last = entry
        slots.append(slot(order, *entry[:3], **entry[3]))
    return b''.join(out) + trace(slots, order, lost, nr, session) + end(order)


def window(touches, size):
    """The touches that a window leaves: (time, page, write) that entered it, a FIFO."""
    inside = []
    for time, page, write in touches:
        if page not in inside:
            inside = inside[-size + 1:] + [page]
            yield time, page, write


def sort_program(draw):
    """A program that sorts: (time, page, write). Input from page 0x100, heap from 0x1000."""
    time = 0
    for i in range(240):
        for page, write in ((0x100 + i // 2, False), (0x1000 + i, True)):
            time += 50000
            yield time, page, write
    for block in range(0, 240, 40):
        for _ in range(2000):
            time += 5000
            yield time, 0x1000 + block + draw(40), draw(2) == 0
    for _ in range(2):
        for i in range(240):
            for page in (0x1000 + i, 0x2000 + i):
                time += 20000
                yield time, page, page >= 0x2000


def session():
    """A trace of sort_program() with a window of 16 pages, for examples."""
    state = [12345]

    def draw(below):
        state[0] = (state[0] * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (state[0] >> 33) % below

    entries = list(parse('0 phase armed=1 spaces=1 page_bytes=4096 window=16\n'
                         '0 space space=1 reason=start\n'
                         '0 thread thread=1 space=1 serial=90233 tid=4711 tgid=4711\n'
                         '0 map page=0x100 pages=120 inode=7 dev=8 space=1 vm_flags=1\n'
                         '0 map page=0x1000 pages=0x2000 space=1 vm_flags=3'))
    for time, page, write in window(sort_program(draw), 16):
        entries.append((time, 'reference', FLAGS['write'] * write,
                        {'page': page, 'space': 1, 'thread': 1}))
    return encode(entries)
