#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write a small CTF trace like one of LTTng.

usage: ctf_encode.py DIRECTORY family|old|lost|program|empty|packets|session|other|twice|unknown|narrow|moved

`family`: a task creates another, waits for it, and the other sleeps in between. `old`: the same
with the names of LTTng 2.1, whose packets overlap. `lost`: two switches of the other are missing,
and counted as discarded. `program`: the events of a program, whose threads are not known. `empty`:
no events. `packets`: the metadata is in packets. `session`: directories with the trace of the
kernel and with events that the two tasks have noted, of which some are discarded. `other`: the
same, but the clock of the program is that of another boot. `twice`: more events are discarded later,
when only one of the tasks has noted another one. `unknown`: a system call that LTTng
knows by its number only, `narrow`: on a machine of 32 bits. `moved`: the first task moves itself to a control group, and is
moved to another one by the task that it has created, while it runs, and to one without a path.
"""

import os
import struct
import sys

SWITCH = (('s', 'prev_comm'), ('i', 'prev_tid'), ('i', 'prev_prio'), ('q', 'prev_state'),
          ('s', 'next_comm'), ('i', 'next_tid'), ('i', 'next_prio'))
WAKE = (('s', 'comm'), ('i', 'tid'), ('i', 'prio'), ('i', 'target_cpu'))
EVENTS = {
    'sched_switch': SWITCH,
    'sched_waking': WAKE,
    'sched_wakeup': WAKE,
    'sched_wakeup_new': WAKE,
    'sched_process_fork': (('s', 'parent_comm'), ('i', 'parent_tid'), ('s', 'child_comm'),
                           ('i', 'child_tid'), ('i', 'child_pid')),
    'sched_process_exit': (('s', 'comm'), ('i', 'tid'), ('i', 'prio')),
    'lttng_statedump_process_state': (('i', 'tid'), ('i', 'pid'), ('i', 'ppid'), ('s', 'name'),
                                      ('i', 'type')),
    'irq_handler_entry': (('i', 'irq'), ('s', 'name')),
    'irq_handler_exit': (('i', 'irq'), ('i', 'ret')),
    'x86_irq_vectors_local_timer_entry': (('i', 'vector'),),
    'x86_irq_vectors_local_timer_exit': (('i', 'vector'),),
    'timer_hrtimer_expire_entry': (('q', 'hrtimer'), ('q', 'function')),
    'timer_hrtimer_expire_exit': (('q', 'hrtimer'),),
    'hrtimer_expire_entry': (('q', 'hrtimer'), ('q', 'function')),
    'hrtimer_expire_exit': (('q', 'hrtimer'),),
    'kvm_x86_entry': (('i', 'vcpu_id'),),
    'kvm_x86_exit': (('i', 'exit_reason'), ('i', 'vcpu_id')),
    'power_cpu_idle': (('i', 'state'),),
    'exit_syscall': (('q', 'ret'),),
}
for call in ('clone', 'wait4', 'nanosleep'):
    EVENTS['syscall_entry_' + call] = EVENTS['sys_' + call] = (('i', 'argument'),)
    EVENTS['syscall_exit_' + call] = (('q', 'ret'),)
EVENTS['syscall_entry_unknown'] = (('i', 'id'),)
EVENTS['syscall_exit_unknown'] = (('q', 'ret'), ('i', 'id'))
EVENTS['cgroup_attach_task'] = (('q', 'dst_id'), ('s', 'dst_path'), ('i', 'tid'))
# Events of a program: their fields, and what has noted them
NOTED = {
    'mpi:work': (('i', 'rank'), ('Q', 'big'), ('s', 'where'), ('d', 'share'), ('a', 'two'),
                 ('S', 'inner')),
    'mpi:wait': (('i', 'rank'),),
    'mpi:nothing': (),
}
CONTEXT = (('i', 'vtid'), ('i', 'vpid'), ('s', 'procname'))
TYPES = {'i': 'int32_t _{}', 'q': 'int64_t _{}', 's': 'string _{}', 'Q': 'uint64_t _{}',
         'd': 'floating_point {{ exp_dig = 11; mant_dig = 53; align = 8; }} _{}',
         'a': 'int32_t _{}[2]', 'S': 'struct {{ int32_t _a; string _b; }} _{}'}
HEAD = struct.Struct('<I16sI5QI')
UUID = bytes(range(1, 17))


def switch(previous, state, following):
    """Fields of a switch between two tasks of (name, tid)."""
    return previous + (20, state) + following + (20,)


IDLE0, IDLE1, PARENT, CHILD = ('swapper/0', 0), ('swapper/1', 0), ('parent', 10), ('child', 11)

# The events of each CPU: ns, name, fields
FAMILY = (
    ((1000, 'lttng_statedump_process_state', (10, 10, 1, 'parent', 0)),
     (1010, 'sched_switch', switch(IDLE0, 0, PARENT)),
     (1050, 'syscall_entry_clone', (0,)),
     (1060, 'sched_process_fork', PARENT + CHILD + (11,)),
     (1065, 'sched_wakeup_new', CHILD + (20, 1)),
     (1070, 'syscall_exit_clone', (11,)),
     (1100, 'syscall_entry_wait4', (11,)),
     (1110, 'sched_switch', switch(PARENT, 1, IDLE0)),
     (1430, 'sched_switch', switch(IDLE0, 0, PARENT)),
     (1440, 'syscall_exit_wait4', (11,)),
     (1450, 'kvm_x86_entry', (3,)),
     (1480, 'kvm_x86_exit', (0x7b, 3)),
     (1500, 'syscall_entry_wait4', (0,))),
    ((1080, 'sched_switch', switch(IDLE1, 0, CHILD)),
     (1090, 'syscall_exit_clone', (0,)),
     (1200, 'syscall_entry_nanosleep', (0,)),
     (1210, 'sched_switch', switch(CHILD, 1, IDLE1)),
     (1215, 'power_cpu_idle', (1,)),
     (1300, 'x86_irq_vectors_local_timer_entry', (236,)),
     (1305, 'timer_hrtimer_expire_entry', (7, 0x1234)),
     (1310, 'sched_waking', CHILD + (20, 1)),
     (1311, 'sched_wakeup', CHILD + (20, 1)),
     (1315, 'timer_hrtimer_expire_exit', (7,)),
     (1320, 'x86_irq_vectors_local_timer_exit', (236,)),
     (1330, 'sched_switch', switch(IDLE1, 0, CHILD)),
     (1340, 'syscall_exit_nanosleep', (0,)),
     (1400, 'sched_process_exit', CHILD + (20,)),
     (1410, 'sched_waking', PARENT + (20, 0)),
     (1420, 'sched_switch', switch(CHILD, 16, IDLE1))),
)


def old_name(name):
    """The name of an event in LTTng 2.1; None: it has no such event."""
    if name in ('sched_waking', 'x86_irq_vectors_local_timer_entry',
                'x86_irq_vectors_local_timer_exit'):
        return None
    if name.startswith('syscall_exit_'):
        return 'exit_syscall'
    return name.replace('syscall_entry_', 'sys_').replace('timer_hrtimer', 'hrtimer')


def old(events):
    """The events as by LTTng 2.1."""
    renamed = [(ns, old_name(name), fields) for ns, name, fields in events]
    if any(name == 'sched_process_exit' for _, name, _ in events):
        renamed.append((1410, 'sched_wakeup', PARENT + (20, 0)))
    return sorted(event for event in renamed if event[1])


def pack(fields, values):
    """The values of fields as bytes."""
    data = b''
    for (kind, _), value in zip(fields, values):
        if kind == 's':
            data += value.encode() + b'\0'
        elif kind == 'a':
            data += struct.pack('<2i', *value)
        elif kind == 'S':
            data += pack((('i', 'a'), ('s', 'b')), value)
        else:
            data += struct.pack('<' + kind, value)
    return data


def encode(event):
    """An event as bytes; those of programs begin with the thread."""
    ns, name, *context, fields = event
    known = NOTED if name in NOTED else EVENTS
    data = struct.pack('<HQ', list(known).index(name), ns)
    return data + pack(CONTEXT, context) + pack(known[name], fields)


def worked(rank, where):
    """The fields of an event."""
    return (rank, 2**64 - 1, where, 0.5 + rank, (rank, -1), (7, 'in'))


# The events of two threads of a program
RANKS = (
    ((1045, 'mpi:work', 10, 10, 'parent', worked(0, 'here')),
     (1095, 'mpi:wait', 10, 10, 'parent', (0,))),
    ((1095, 'mpi:work', 11, 11, 'child', worked(1, 'x' * 5000)),
     (1195, 'mpi:wait', 11, 11, 'child', (1,)),
     (1345, 'mpi:work', 11, 11, 'child', worked(1, ''))),
    ((1390, 'mpi:nothing', 11, 11, 'child', ()),
     (1395, 'mpi:wait', 11, 11, 'child', (1,))),
)


def packet(cpu, events, discarded=0, early_ns=0):
    """A packet; @early_ns: it begins so much before its first event."""
    data = b''.join(map(encode, events))
    bits = 8 * (HEAD.size + len(data))
    return HEAD.pack(0xc1fc1fc1, UUID, 0, events[0][0] - early_ns, events[-1][0], bits, bits,
                     discarded, cpu) + data


def dashed(uuid):
    """A UUID as text."""
    text = uuid.hex()
    return '-'.join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def members(fields):
    """The members of a structure."""
    return ' '.join(TYPES[kind].format(field) + ';' for kind, field in fields)


def unknown(event):
    """The event as by a tracer that knows no nanosleep."""
    ns, name, fields = event
    if not name.endswith('nanosleep'):
        return event
    return ns, name.replace('nanosleep', 'unknown'), (35,) if '_entry_' in name else fields + (35,)


def metadata(domain, events, context=(), clock=UUID, bits=64):
    """The description of the trace."""
    text = '/* CTF 1.8 */\n'
    for size in (8, 16, 32, 64):
        for sign, name in (('false', 'uint'), ('true', 'int')):
            text += (f'typealias integer {{ size = {size}; align = 8; signed = {sign}; }} := '
                     f'{name}{size}_t;\n')
    uuid = dashed(UUID)
    text += (f'trace {{ major = 1; minor = 8; uuid = "{uuid}"; byte_order = le; packet.header := '
             'struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; }; };\n'
             f'env {{ hostname = "box"; domain = "{domain}"; kernel_release = "6.6.0"; '
             f'architecture_bit_width = {bits}; }};\n'
             f'clock {{ name = "monotonic"; uuid = "{dashed(clock)}"; freq = 1000000000; '
             'offset = 1700000000000000000; };\n'
             'typealias integer { size = 64; align = 8; signed = false; '
             'map = clock.monotonic.value; } := uint64_clock_t;\n'
             'stream { id = 0; event.header := struct { uint16_t id; uint64_clock_t timestamp; };\n'
             'packet.context := struct { uint64_clock_t timestamp_begin; '
             'uint64_clock_t timestamp_end; uint64_t content_size; uint64_t packet_size; '
             'uint64_t events_discarded; uint32_t cpu_id; };\n')
    if context:
        text += f'event.context := struct {{ {members(context)} }};\n'
    text += '};\n'
    for number, (name, fields) in enumerate(events.items()):
        text += (f'event {{ name = "{name}"; id = {number}; stream_id = 0; '
                 f'fields := struct {{ {members(fields)} }}; }};\n')
    return text.encode()


def packets(text):
    """Metadata in packets."""
    data = b''
    for at in range(0, len(text), 4000):
        part = text[at:at + 4000]
        bits = 8 * (37 + len(part))
        data += struct.pack('<I16s3I5B', 0x75d11d57, UUID, 0, bits, bits, 0, 0, 0, 1, 8) + part
    return data


def streams(kind):
    """The packets of each CPU."""
    if kind == 'old':
        first, second = map(old, FAMILY)
        # A packet begins before the last event of the one before it.
        return (packet(0, first[:4]) + packet(0, first[4:], early_ns=20), packet(1, second))
    if kind in ('unknown', 'narrow'):
        return tuple(packet(cpu, list(map(unknown, events))) for cpu, events in enumerate(FAMILY))
    if kind == 'moved':
        own = (1020, 'cgroup_attach_task', (78, '/login', 10))
        other = (1095, 'cgroup_attach_task', (77, '/login/job', 10))
        lost = (1498, 'cgroup_attach_task', (79, 'no path', 10))
        return (packet(0, sorted(FAMILY[0] + (own, lost))),
                packet(1, sorted(FAMILY[1] + (other,))))
    if kind == 'lost':
        kept = [event for event in FAMILY[1] if not 1090 < event[0] < 1330]
        return (packet(0, FAMILY[0]),
                packet(1, kept[:2]) + packet(1, kept[3:], discarded=9))
    return tuple(packet(cpu, events) for cpu, events in enumerate(FAMILY))


def write(folder, text, data):
    """Write a trace."""
    os.makedirs(folder)
    for name, content in [('metadata', text)] + [(f'channel_{i}', d) for i, d in enumerate(data)]:
        with open(os.path.join(folder, name), 'wb') as file:
            file.write(content)


def write_session(folder, clock, twice=False):
    """The traces of a kernel and of a program."""
    first, second, late = RANKS
    more = packet(1, ((1450, 'mpi:nothing', 11, 11, 'child', ()),), discarded=8) if twice else b''
    write(os.path.join(folder, 'kernel'), metadata('kernel', EVENTS), streams('family'))
    write(os.path.join(folder, 'ust', 'uid', '0', '64-bit'),
          metadata('ust', NOTED, CONTEXT, clock),
          (packet(0, first), packet(1, second) + packet(1, late, discarded=3) + more))


def main():
    folder, kind = sys.argv[1:]
    if kind in ('session', 'other', 'twice'):
        write_session(folder, UUID[::-1] if kind == 'other' else UUID, kind == 'twice')
        return
    text = metadata('ust' if kind == 'program' else 'kernel', EVENTS,
                    bits=32 if kind == 'narrow' else 64)
    write(folder, packets(text) if kind == 'packets' else text,
          () if kind == 'empty' else streams(kind))


if __name__ == '__main__':
    main()
