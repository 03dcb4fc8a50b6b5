#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write a large CTF trace like one of LTTng: traces of ctf_encode.py again and again.

usage: ctf_large.py DIRECTORY EVENTS

In each repetition a task wakes one of 1,000 others, which sleeps, and wakes the first one. A packet
of a stream has 32 of them, so that it is as large as the smallest of LTTng, which are the size of a
page. The number of events is printed.
"""

import os
import struct
import sys

import ctf_encode

STEP_NS = 1000
CHILDREN = 1000
TOGETHER = 32
# Where a packet has its times, after the magic, the UUID and the id of the stream.
BEGIN, END = 24, 32


def repeat(event, number):
    """The event of a repetition."""
    return (event[0] + STEP_NS * number, *event[1:])


class Pattern:
    """A packet of some repetitions, whose times and children can be changed."""

    def __init__(self, cpu, events):
        each = len(events)
        events = tuple(repeat(event, i) for i in range(TOGETHER) for event in events)
        self.data = bytearray(ctf_encode.packet(cpu, events))
        self.times = [(BEGIN, events[0][0]), (END, events[-1][0])]
        self.children = []
        at = ctf_encode.HEAD.size
        for nr, event in enumerate(events):
            data = ctf_encode.encode(event)
            self.times.append((at + 2, event[0]))
            # The child is the number 11, as 32 bits, behind the head of 10 bytes.
            where = data.find(struct.pack('<i', 11), 10)
            while where >= 0:
                self.children.append((at + where, nr // each))
                where = data.find(struct.pack('<i', 11), where + 4)
            at += len(data)

    def packet(self, number):
        for at, ns in self.times:
            struct.pack_into('<Q', self.data, at, ns + STEP_NS * number)
        for at, nr in self.children:
            struct.pack_into('<i', self.data, at, 11 + (number + nr) % CHILDREN)
        return self.data


def steady(event):
    """The event of a task that neither begins nor ends."""
    ns, name, fields = event
    if name == 'sched_wakeup_new':
        name = 'sched_waking'
    if name == 'sched_switch' and fields[:2] == ctf_encode.CHILD:
        fields = fields[:3] + (1,) + fields[4:]
    return ns, name, fields


def main():
    folder, wanted = sys.argv[1], int(sys.argv[2])
    family = [tuple(steady(event) for event in events
                    if 1000 < event[0] < 1500 and not event[1].startswith('sched_process_'))
              for events in ctf_encode.FAMILY]
    family[0] += ((1510, 'sched_switch',
                   ctf_encode.switch(ctf_encode.PARENT, 1, ctf_encode.IDLE0)),)
    ranks = (ctf_encode.RANKS[0], ctf_encode.RANKS[1][1:2])
    ctf_encode.write(os.path.join(folder, 'kernel'),
                     ctf_encode.metadata('kernel', ctf_encode.EVENTS), ())
    ctf_encode.write(os.path.join(folder, 'ust'),
                     ctf_encode.metadata('ust', ctf_encode.NOTED, ctf_encode.CONTEXT), ())
    each = sum(map(len, family)) + sum(map(len, ranks))
    number = (wanted // each // TOGETHER + 1) * TOGETHER
    for domain, streams in (('kernel', family), ('ust', ranks)):
        for cpu, events in enumerate(streams):
            pattern = Pattern(cpu, events)
            with open(os.path.join(folder, domain, f'channel_{cpu}'), 'wb') as file:
                for i in range(0, number, TOGETHER):
                    file.write(pattern.packet(i))
    print(number * each)


if __name__ == '__main__':
    main()
