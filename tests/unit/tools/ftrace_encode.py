#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write a small trace.dat (version 6) like one of trace-cmd.

usage: ftrace_encode.py FILE family|lost|cycles|counter|raw

`family`: the events of ctf_encode.py. `lost`: two switches are missing, and counted as missed.
`cycles`: the clock x86-tsc, which counts two cycles in a nanosecond. `counter`: a clock that counts
events. `raw`: system calls by number.
"""

import struct
import sys

import ctf_encode

PAGE = 4096
COMMON = (('unsigned short', 'common_type', 2), ('unsigned char', 'common_flags', 1),
          ('unsigned char', 'common_preempt_count', 1), ('int', 'common_pid', 4))
HEADER_PAGE = '''\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;
'''
HEADER_EVENT = '''# compressed entry header
\ttype_len    :    5 bits
\ttime_delta  :   27 bits
\tarray       :   32 bits

\tpadding     : type == 29
\ttime_extend : type == 30
\ttime_stamp : type == 31
\tdata max type_len  == 28
'''
TIDS = {'prev_tid': 'prev_pid', 'next_tid': 'next_pid', 'tid': 'pid', 'parent_tid': 'parent_pid',
        'child_tid': 'child_pid'}
NUMBERS = {'clone': 56, 'wait4': 61, 'nanosleep': 35}


def place(name):
    """The system and the name of an event in ftrace; None: it has no such event."""
    for prefix, system, own in (('syscall_entry_', 'syscalls', 'sys_enter_'),
                                ('syscall_exit_', 'syscalls', 'sys_exit_'),
                                ('x86_irq_vectors_', 'irq_vectors', ''),
                                ('sched_', 'sched', 'sched_'),
                                ('irq_handler', 'irq', 'irq_handler'),
                                ('timer_hrtimer', 'timer', 'hrtimer'),
                                ('kvm_x86_', 'kvm', 'kvm_'),
                                ('power_cpu', 'power', 'cpu')):
        if name.startswith(prefix):
            return system, own + name[len(prefix):]
    return None


def members(name):
    """The fields of an event: type, name, bytes, and code of ctf_encode."""
    for kind, field in ctf_encode.EVENTS[name]:
        if name == 'sched_process_fork' and field == 'child_pid':
            continue
        own = TIDS.get(field, field)
        if kind == 's' and field == 'name':
            yield '__data_loc char[]', own, 4, kind
        elif kind == 's':
            yield 'char', own + '[16]', 16, kind
        else:
            yield ('int', own, 4, kind) if kind == 'i' else ('long', own, 8, kind)


def format_of(number, event, fields):
    """The text that describes an event."""
    text, at = f'name: {event}\nID: {number}\nformat:\n', 0
    for kind, field, size, *_ in (*COMMON, *fields):
        text += (f'\tfield:{kind} {field};\toffset:{at};\tsize:{size};\t'
                 f'signed:{int(kind in ("int", "long", "char"))};\n')
        at += size
        if field == COMMON[-1][1]:
            text += '\n'
    return text + '\nprint fmt: ""\n'


class File:
    """A trace.dat."""

    def __init__(self, raw):
        self.events = {}
        for number, name in enumerate(ctf_encode.EVENTS, 100):
            if place(name):
                system, own = place(name)
                fields = tuple(members(name))
                if raw and system == 'syscalls':
                    continue
                self.events[name] = (system, own, number, fields)
        if raw:
            for own, number in (('sys_enter', 50), ('sys_exit', 51)):
                self.events[own] = ('raw_syscalls', own, number,
                                    (('long', 'id', 8, 'q'), ('long', 'ret', 8, 'q')))
        self.raw = raw

    def record(self, name, values, pid):
        """The data of an event."""
        if self.raw and name.startswith('syscall_'):
            _, way, call = name.split('_')
            name, values = 'sys_enter' if way == 'entry' else 'sys_exit', (NUMBERS[call], 0)
        _, _, number, fields = self.events[name]
        data = struct.pack('<HBBi', number, 0, 0, pid)
        size, tail = sum(f[2] for f in fields) + len(data), b''
        for (kind, _, _, code), value in zip(fields, values):
            if kind.startswith('__data_loc'):
                tail += value.encode() + b'\0'
                data += struct.pack('<I', len(value) + 1 << 16 | size)
            else:
                data += struct.pack('<16s' if code == 's' else '<' + code,
                                    value.encode() if code == 's' else value)
        return data + tail

    def page(self, events, scale, missed=0):
        """A page of a CPU's buffer."""
        start, pid, data = events[0][0] * scale, 0, b''
        last = start
        for ns, name, values, *was in events:
            pid = was[0] if was else pid
            if not place(name):
                continue
            record = self.record(name, values, pid)
            record += bytes(-len(record) % 4)
            if len(record) // 4 > 28:
                head = struct.pack('<II', (ns * scale - last) << 5, len(record) + 4)
            else:
                head = struct.pack('<I', len(record) // 4 | (ns * scale - last) << 5)
            data += head + record
            last = ns * scale
            pid = values[5] if name == 'sched_switch' else pid
        commit = len(data)
        if missed:
            data += struct.pack('<Q', missed)
            commit |= 1 << 31 | 1 << 30
        return (struct.pack('<QQ', start, commit) + data).ljust(PAGE, b'\0')

    def write(self, path, cpus, clock):
        """Write the file."""
        out = b'\x17\x08Dtracing6\0' + struct.pack('<BBI', 0, 8, PAGE)
        for name, text in (('header_page', HEADER_PAGE), ('header_event', HEADER_EVENT)):
            out += name.encode() + b'\0' + struct.pack('<Q', len(text)) + text.encode()
        out += struct.pack('<I', 0)
        systems = sorted({event[0] for event in self.events.values()})
        out += struct.pack('<I', len(systems))
        for system in systems:
            formats = [format_of(number, own, fields).encode()
                       for name, own, number, fields in self.events.values() if name == system]
            out += system.encode() + b'\0' + struct.pack('<I', len(formats))
            out += b''.join(struct.pack('<Q', len(text)) + text for text in formats)
        symbols, names = b'0000000000001234 t wake_me\n', b'10 parent\n11 child\n'
        out += struct.pack('<I', len(symbols)) + symbols + struct.pack('<I', 0)
        out += struct.pack('<Q', len(names)) + names + struct.pack('<I', len(cpus))
        out += b'options  \0'
        for option, text in ((4, f'[{clock}] global'.encode() + b'\0'),
                             (5, b'Linux box 6.6.0 #1 SMP x86_64\0')):
            out += struct.pack('<HI', option, len(text)) + text
        out += struct.pack('<H', 0) + b'flyrecord\0'
        at = (len(out) + 16 * len(cpus) + PAGE - 1) // PAGE * PAGE
        data = b''
        for pages in cpus:
            out += struct.pack('<QQ', at + len(data), len(pages))
            data += pages
        with open(path, 'wb') as file:
            file.write(out.ljust(at, b'\0') + data)


def main():
    path, kind = sys.argv[1:]
    file = File(kind == 'raw')
    scale = 2 if kind == 'cycles' else 1
    first, second = ctf_encode.FAMILY
    if kind == 'lost':
        kept = [event for event in second if not 1090 < event[0] < 1330]
        after = [kept[3] + (11,)] + kept[4:]
        pages = file.page(kept[:2], 1) + file.page(after, 1, missed=9)
    else:
        pages = file.page(second, scale)
    file.write(path, (file.page(first, scale), pages),
               {'cycles': 'x86-tsc', 'counter': 'counter'}.get(kind, 'local'))


if __name__ == '__main__':
    main()
