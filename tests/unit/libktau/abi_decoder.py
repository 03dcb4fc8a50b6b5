#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Read KTAU's streams and files, as an independent implementation of docs/dev/abi.md.

The decoder shares no code with libktau. Every layout and most numbers are read from the
tables of the page; the rest follows its text. So with a wrong or incomplete page it cannot
decode the streams of a kernel or the files of libktau.

    abi_decoder.py check FILE...          check all rules; print counts and sums of each file
    abi_decoder.py plain FILE             write its records in normal form to stdout
    abi_decoder.py write ORDER CODING COMPRESSION IN OUT
                                          write the records of IN as a file of blocks
    abi_decoder.py selftest FILE          violate each rule; every violation must be detected

Normal form is that of libktau's reader: this machine's byte order, the sizes of the page's
structures, no bytes after the last array or string.
"""

import collections
import re
import struct
import subprocess
import sys
import zlib

PAGE = 'docs/dev/abi.md'
M64 = (1 << 64) - 1
ACCOUNT = tuple(part + '_ticks' for part in ('user', 'kernel', 'irq', 'runq', 'asleep', 'guest'))
NATIVE = '<' if sys.byteorder == 'little' else '>'

# Numbers from the text of the page.
MAGIC = 0x5541544b
FILE_MAGIC = 0x4c49464b
BLOCK_MAGIC = 0x4b42544b
VERSION = 2
ID_NONE = 65535
BLOCK_MAX = 16 << 20
BLOCK_HEADER_MAX = 256
FORM_1_HEAD_MAX = 1024
MODES = 3 << 30
TIMER, COUNTER, FIELDS = 0, 1, 128
FLAG_IDLE, FLAG_KTHREAD, FLAG_FOLDED, FLAG_NAMED = 1, 2, 4, 8
WITH_FLAGS = ('REFERENCE', 'COW', 'EVICT')
OFF_CPU = 1
PARTS = {'longest': 1, 'asleep': 2, 'runq': 4, 'irq': 8}


class Bad(Exception):
    """The bytes violate a rule of the page."""


def need(condition, text, *args):
    if not condition:
        raise Bad(text % args)


# The page

class Layout:
    """A structure, from a table of the page."""

    CODES = {'u8': 'B', 'u16': 'H', 'u32': 'I', 'u64': 'Q', 's16': 'h', 's32': 'i'}

    def __init__(self, name, size):
        self.name = name
        self.size = size
        self.fields = []
        self.codes = []
        self.alias = {}
        self.at = {}

    def add(self, at, kind, field, layouts):
        kind, _, nr = kind.rstrip(']').partition('[')
        if kind.startswith('struct '):
            inner = layouts.get(kind[7:])
            code = f'{inner.size if inner else self.size - at}s'
        elif nr:
            code = f'{int(nr) * struct.calcsize("=" + self.CODES.get(kind, "s"))}s'
        else:
            code = self.CODES[kind]
        if at in self.at.values():
            self.alias[field] = next(f for f in self.at if self.at[f] == at)
            return
        self.fields.append(field)
        self.codes.append(code)
        self.at[field] = at

    def finish(self):
        """Check that fields have no gaps, and that each is aligned to its size."""
        at = 0
        for field, code in zip(self.fields, self.codes):
            size = struct.calcsize('=' + code)
            need(self.at[field] == at, 'page: %s.%s is at %d', self.name, field, at)
            need(code.endswith('s') or at % size == 0, 'page: %s.%s', self.name, field)
            at += size
        need(at == self.size, 'page: %s has %d bytes', self.name, at)

    def unpack(self, order, data):
        """Unpack @data; fields beyond its end are zero."""
        data = data[:self.size].ljust(self.size, b'\0')
        values = dict(zip(self.fields, struct.unpack(order + ''.join(self.codes), data)))
        for other, field in self.alias.items():
            values[other] = values[field]
        return values

    def pack(self, order, values):
        return struct.pack(order + ''.join(self.codes), *(values[f] for f in self.fields))


class Page:
    """The tables of docs/dev/abi.md."""

    def __init__(self, path):
        self.layouts = {}
        self.numbers = {}
        self.payloads = {}
        layout = None
        with open(path, encoding='utf-8') as lines:
            for line in lines:
                match = re.match(r'### struct (\w+) \((\d+) bytes\)', line)
                if match:
                    layout = Layout(match.group(1), int(match.group(2)))
                    self.layouts[layout.name] = layout
                elif line.startswith('#'):
                    layout = None
                elif line.startswith('|'):
                    self._row(layout, [c.strip() for c in line.strip().strip('|').split('|')])
        for layout in self.layouts.values():
            layout.finish()

    def _row(self, layout, cells):
        if layout and cells[0].isdigit() and len(cells) == 4:
            layout.add(int(cells[0]), cells[1], cells[2].strip('`'), self.layouts)
            return
        match = re.match(r'`(KTAU_\w+)`', cells[0])
        if match and re.fullmatch(r'\d+|0x[0-9a-f]+', cells[1]):
            self.numbers[match.group(1)] = int(cells[1], 0)
            if match.group(1).startswith('KTAU_TRACE_'):
                self.payloads[int(cells[1])] = cells[2]
        match = re.match(r'`(KTAU_\w+)`', cells[2]) if len(cells) > 2 else None
        if match and cells[1].isdigit():
            self.numbers[match.group(1)] = int(cells[1])

    def named(self, prefix):
        return {n[len(prefix):]: v for n, v in self.numbers.items() if n.startswith(prefix)}

    def payload_codes(self, slot_type):
        """The known fields of a payload."""
        text = self.payloads.get(slot_type, '')
        match = re.match(r'struct (\w+)', text)
        if match:
            return list(self.layouts[match.group(1)].codes)
        match = re.match(r'char\[(\d+)\]', text)
        return [match.group(1) + 's'] if match else []


# Records

Record = collections.namedtuple('Record', 'type name head fields entries open slots strings '
                                          'serials size')
Slot = collections.namedtuple('Slot', 'fields payload')

STRINGS = {
    'EVENT': ('name_bytes',),
    'CGROUP': ('path_bytes',),
    'OWNER': ('path_bytes',),
    'INFO': ('command_bytes', 'symbols_bytes', 'job_bytes'),
}


class Decoder:
    """Bytes -> Record -> bytes, for untrusted input."""

    def __init__(self, page, order):
        self.page = page
        self.order = order
        self.types = {number: name for name, number in page.named('KTAU_REC_').items()}
        self.layouts = {name: page.layouts[f'ktau_rec_{name.lower()}']
                        for name in self.types.values() if name != 'DIFF'}
        self.layouts['DIFF'] = self.layouts['PROFILE']

    def split(self, data):
        """Each record of @data: (type, head, bytes)."""
        at = 0
        while at < len(data):
            need(len(data) - at >= 8, 'truncated in the head of a record at byte %d', at)
            size, kind, head = struct.unpack_from(self.order + 'IHH', data, at)
            need(size % 8 == 0 and head % 8 == 0 and 8 <= head <= size <= BLOCK_MAX,
                 'record of %d bytes, %d fixed, at byte %d', size, head, at)
            need(at + size <= len(data), 'truncated in the record at byte %d', at)
            yield kind, head, data[at:at + size]
            at += size

    def record(self, kind, head, data):
        """None for a record of an unknown type."""
        name = self.types.get(kind)
        if not name:
            return None
        fields = self.layouts[name].unpack(self.order, data[:head])
        record = Record(kind, name, head, fields, [], [], [], [], [], len(data))
        end = head
        if name in ('PROFILE', 'DIFF'):
            end = self._array(record.entries, 'entry', fields, data, end)
            end = self._array(record.open, 'open', fields, data, end)
        elif name == 'TRACE':
            end = self._slots(record.slots, fields, data, end)
        elif name == 'REGION':
            end = self._array(record.entries, 'entry', fields, data, end)
        elif name == 'GONE':
            end = self._serials(record.serials, fields, data, end)
        for count in STRINGS.get(name, ()):
            record.strings.append(self._string(data, end, fields[count]))
            end += fields[count]
        need(end <= len(data), '%s: arrays of %d bytes in %d', name, end, len(data))
        need(not any(data[end:(end + 7) // 8 * 8]), '%s: padding', name)
        return record

    def _array(self, into, name, fields, data, at):
        layout = self.page.layouts['ktau_' + name]
        nr = fields['nr_entries' if name == 'entry' else 'nr_open']
        size = fields[name + '_size']
        need(not nr or (size >= 8 and size % 8 == 0 and at + nr * size <= len(data)),
             '%d elements of %d bytes', nr, size)
        for i in range(nr):
            into.append(layout.unpack(self.order, data[at + i * size:at + (i + 1) * size]))
        return at + nr * size

    def _serials(self, into, fields, data, at):
        nr, size = fields['nr_serials'], fields['serial_bytes']
        need(not nr or (size >= 8 and size % 8 == 0 and at + nr * size <= len(data)),
             '%d serials of %d bytes', nr, size)
        for i in range(nr):
            into.append(struct.unpack_from(self.order + 'Q', data, at + i * size)[0])
        return at + nr * size

    def _slots(self, into, fields, data, at):
        layout = self.page.layouts['ktau_slot']
        end = at + fields['slots_bytes']
        need(end <= len(data), '%d bytes of slots', fields['slots_bytes'])
        for _ in range(fields['nr_slots']):
            need(end - at >= layout.size, 'a slot beyond slots_bytes')
            slot = layout.unpack(self.order, data[at:])
            need(slot['words'] >= 2 and at + 8 * slot['words'] <= end,
                 'slot of %d words', slot['words'])
            payload = data[at + layout.size:at + 8 * slot['words']]
            into.append(Slot(slot, self._payload(slot['type'], payload)))
            at += 8 * slot['words']
        need(at == end, '%d bytes after the slots', end - at)
        return end

    def _payload(self, kind, data):
        """The values of a payload; unknown ones are words of 8 bytes."""
        codes, at = [], 0
        for code in self.page.payload_codes(kind):
            size = struct.calcsize('=' + code)
            if at + size > len(data):
                break
            codes.append(code)
            at += size
        codes.append(f'{(len(data) - at) // 8}Q')
        code = ''.join(codes)
        return code, struct.unpack(self.order + code, data)

    @staticmethod
    def _string(data, at, size):
        text = data[at:at + size]
        need(len(text) == size, 'string of %d bytes', size)
        need(not size or (text[-1] == 0 and text.count(0) == 1), 'string %r', text)
        return text

    def pack(self, record, order):
        """The normal form of @record, in any byte order."""
        rest = b''.join(record.strings)
        for name, elements in (('ktau_entry', record.entries), ('ktau_open', record.open)):
            rest += b''.join(self.page.layouts[name].pack(order, e) for e in elements)
        for slot in record.slots:
            rest += self.page.layouts['ktau_slot'].pack(order, slot.fields)
            rest += struct.pack(order + slot.payload[0], *slot.payload[1])
        rest += struct.pack(f'{order}{len(record.serials)}Q', *record.serials)
        rest += bytes(-len(rest) % 8)
        layout = self.layouts[record.name]
        fields = dict(record.fields)
        if record.name in ('PROFILE', 'DIFF'):
            fields['entry_size'] = self.page.layouts['ktau_entry'].size
            fields['open_size'] = self.page.layouts['ktau_open'].size
        if record.name == 'REGION':
            fields['entry_size'] = self.page.layouts['ktau_entry'].size
        if record.name == 'GONE':
            fields['serial_bytes'] = 8
        fields['rec'] = struct.pack(order + 'IHH', layout.size + len(rest), record.type,
                                    layout.size)
        return layout.pack(order, fields) + rest


# Rules: the page's rules for values, and for the relation of records

class Rules:
    """Checks records, passed in order."""

    def __init__(self, page):
        self.page = page
        self.counts = collections.Counter()
        self.sums = collections.Counter()
        self.stream = None
        self.boot_id = None
        self.in_file = False
        self.events = {}
        self.cgroups = set()
        self.profiles = {}		# by serial, for DIFF and REGION
        self.region = (None, 0)		# serial and number of the last one
        self.last = None		# serial and kind of the last profile
        self.left = {}			# what is in none of the serial's regions so far
        self.slot_types = {number: n for n, number in page.named('KTAU_TRACE_').items()}
        self.contexts = page.named('KTAU_CTX_').values()
        self.sources = {number: n for n, number in page.named('KTAU_SOURCE_').items()}

    def key_block(self):
        """The records after a key block do not depend on earlier ones, which may be truncated."""
        self.stream = None
        self.events = {}
        self.cgroups = set()
        self.profiles = {}

    def record(self, record):
        name = record.name
        self.counts[name] += 1
        need((self.stream is None) == (name in ('STREAM', 'INFO')), '%s here', name)
        need(self.in_file or name not in ('INFO', 'DIFF'), '%s in a stream', name)
        getattr(self, '_' + name.lower())(record, record.fields)

    def finish(self):
        need(self.stream is None, 'a stream without END')

    def _flags(self, value, prefix):
        return not value & ~sum(self.page.named(prefix).values())

    @staticmethod
    def _text(fields, name):
        text = fields[name]
        need(b'\0' in text and not text[text.index(b'\0'):].strip(b'\0'), '%s %r', name, text)

    def _info(self, _, f):
        need(f['build_id_bytes'] <= 32 and not any(f['build_id'][f['build_id_bytes']:]),
             'build-id')
        for name in ('hostname', 'release', 'machine'):
            self._text(f, name)

    def _stream(self, _, f):
        access = self.page.named('KTAU_ACCESS_')
        need(f['magic'] == MAGIC and f['version'] == VERSION, 'magic number or version')
        need(f['word_bits'] in (32, 64), 'word_bits %d', f['word_bits'])
        need(f['origin'] in self.page.named('KTAU_ORIGIN_').values(), 'origin %d', f['origin'])
        need(f['content'] in (2, 3), 'content %d', f['content'])
        need(f['target'] and self._flags(f['target'], 'KTAU_TARGET_'), 'target')
        need(self._flags(f['flags'], 'KTAU_SELECT_'), 'flags')
        need(self._flags(f['access'], 'KTAU_ACCESS_'), 'access')
        need(not f['groups'] & ~f['groups_built'] and not f['modes'] & ~MODES, 'groups')
        need(not f['clock_flags'] & ~1 and f['nr_cpus'], 'clock_flags, nr_cpus')
        need(bool(f['round_ns']) != bool(f['access'] & access['EXACT']), 'round_ns')
        need(f['access'] & access['ADDRESSES'] or not f['stext'], 'stext')
        need(self.boot_id in (None, f['boot_id']), 'stream of another boot')
        for name in ('nodename', 'release', 'machine'):
            self._text(f, name)
        self._clocks(f)
        self.boot_id = f['boot_id']
        self.stream = f
        if not self.in_file:
            self.key_of_stream()
        self.seen = {'EVENT': set(), 'CGROUP': set()}
        self.owner = None
        self.owners = {}
        self.named = set()
        self.rings = {}
        self.records = set()
        self.last_exited = -1
        self.order = 0
        self.nr_records = 0

    def key_of_stream(self):
        self.events = {}
        self.cgroups = set()

    def _clocks(self, f):
        ticks = f['ticks'] - f['boot_ticks']
        ns = f['monotonic_ns'] - f['boot_monotonic_ns']
        need(ticks >= 0 and ns >= 0 and f['boottime_ns'] >= f['monotonic_ns'], 'clocks')
        if f['clock_hz'] and ns > 100_000_000:
            need(abs(ticks * 1e9 / ns / f['clock_hz'] - 1) < 0.01, 'clock_hz')

    def _event(self, record, f):
        name = record.strings[0]
        need(f['id'] != ID_NONE and f['id'] not in self.seen['EVENT'], 'event %d again', f['id'])
        need(not f['reserved'] and (f['kind'] in (TIMER, COUNTER) or self._has_fields(f, name)),
             'event %d', f['id'])
        need(f['source'] in self.sources, 'source %d', f['source'])
        need(f['group'].bit_count() == 1 and (f['group'] < 1 << 28 or f['kind'] == FIELDS),
             'group %#x', f['group'])
        need(len(name) > 1 and not re.search(rb'\s', name), 'name %r', name)
        source = self.sources[f['source']]
        if source == 'SYSCALL':
            need(f['key'] == f['id'], 'system call %d has key %d', f['id'], f['key'])
        elif source in ('STATIC', 'MODULE'):
            need(f['key'] == 0, '%s event %d has key %d', source, f['id'], f['key'])
        elif source not in ('FOREIGN', 'IRQ') and not self._sees_addresses():
            need(f['key'] == 0, 'key of event %d shown', f['id'])
        need(self._sees_addresses() or not f['address'], 'address of event %d', f['id'])
        self.events[f['id']] = dict(f, is_wait=name == b'schedule_wait\0')
        self.seen['EVENT'].add(f['id'])

    def _has_fields(self, f, name):
        """An event of a program, in the file of another tracer's recording."""
        origins = self.page.named('KTAU_ORIGIN_')
        return (self.in_file and f['kind'] == FIELDS and f['group'] == 1 << 28 and
                self.stream['origin'] in (origins['LTTNG'], origins['FTRACE']) and
                self.sources[f['source']] == 'PROGRAM' and
                re.fullmatch(rb'[^()]+(\((?:[^,:()]+:(?:[us]64|real|text),?)+\))?\0', name))

    def _sees_addresses(self):
        return self.stream['access'] & self.page.numbers['KTAU_ACCESS_ADDRESSES']

    def _cgroup(self, record, f):
        need(f['id'] and f['id'] not in self.seen['CGROUP'], 'cgroup %d again', f['id'])
        need(not f['reserved'] and record.strings[0][:1] in (b'/', b'\0'), 'cgroup')
        self.cgroups.add(f['id'])
        self.seen['CGROUP'].add(f['id'])

    def _owner(self, record, f):
        kind, flags = f['kind'], f['flags']
        kinds = self.page.named('KTAU_OWNER_')
        live, exited = kind == kinds['TASK'], kind == kinds['EXITED']
        need(f['serial'] and not f['reserved'] and kind <= 3 and not flags & ~15, 'owner')
        self._text(f, 'comm')
        need(not f['cgroup'] or f['cgroup'] in self.cgroups, 'cgroup %d unknown', f['cgroup'])
        need(exited or not f['exit_ns'] and not f['exit_code'], 'exit of kind %d', kind)
        need(not exited or f['exit_ns'] >= f['start_ns'], 'exit before start')
        need(exited or kind == kinds['EVICTED'] or not f['exited_seq'], 'exited_seq')
        need(not flags & FLAG_FOLDED or exited, 'folded')
        need(not flags & FLAG_IDLE or live and f['tid'] == 0, 'idle')
        if live or exited and not flags & FLAG_FOLDED:
            need(f['nr_tasks'] == 1, '%d tasks', f['nr_tasks'])
        if kind == kinds['CPU']:
            need(f['nr_tasks'] == 0 and f['tid'] == 0, 'cpu')
        if flags & FLAG_NAMED:
            need(self.stream['content'] == 3 and f['serial'] not in self.owners and
                 f['serial'] not in self.named, 'named again')
            self.named.add(f['serial'])
            return
        self._walk(f, flags)
        self.owner = f
        self.owners[f['serial']] = f
        self.counts['OWNER kind %d' % kind] += 1

    def _walk(self, f, flags):
        """The order: idle tasks, live tasks, exited ones by exit, the evicted sum, CPUs."""
        order = [1, 2, 4, 3][f['kind']] - bool(flags & FLAG_IDLE)
        need(order >= self.order, 'owner of kind %d here', f['kind'])
        self.order = order
        if f['kind'] == 1:
            need(f['exited_seq'] > self.last_exited, 'exited_seq %d here', f['exited_seq'])
            self.last_exited = f['exited_seq']

    def _of_owner(self, f):
        """A PROFILE or DIFF follows the OWNER record of its owner."""
        need(self.stream['content'] == 2, 'in a trace')
        need(self.owner and self.owner['serial'] == f['serial'], 'profile of %d without OWNER',
             f['serial'])
        need((f['serial'], self.owner['kind']) not in self.records, 'profile again')
        self.last = (f['serial'], self.owner['kind'])
        self.region = (None, 0)
        self.records.add(self.last)
        self.nr_records += 1

    def _profile(self, record, f):
        self._of_owner(f)
        self._entries(record)
        self._frames(record, f)
        live = self.owner['kind'] == 0
        need(live or not f['groups'] and not f['nr_open'] and not f['depth'],
             'groups or frames of an owner that is not a live task')
        need(not f['groups_throughout'] & MODES, 'modes in groups_throughout')
        if self.owner['kind'] == 2:
            need(all(e['flags'] & ~PARTS['longest'] == 0 for e in record.entries),
                 'times that are not measured for a CPU')
        if self.owner['kind'] == 3:
            need(not f['start_ticks'] and not f['groups_throughout'],
                 'lifetime or groups of the evicted sum')
        else:
            need(self.stream['boot_ticks'] <= f['start_ticks'] <= f['ticks'], 'start_ticks')
            # The record of folded threads has the sums of their parts, but one lifetime.
            if record.name == 'PROFILE' and not self.owner['flags'] & FLAG_FOLDED:
                self._account(f, f)
        self._identity(f, self._excl(record.entries))
        if record.name == 'PROFILE':
            self.profiles[f['serial']] = (dict(f), {e['id']: e for e in record.entries})
        for key in ('outer_ticks', 'open_child_ticks', 'refused', 'refused_ticks', 'clamped'):
            self.sums[key] += f[key]

    @staticmethod
    def _account(parts, f):
        need(sum(parts[key] for key in ACCOUNT) <= f['ticks'] - f['start_ticks'],
             'an account that exceeds the life')

    @staticmethod
    def _excl(entries):
        return sum(e['excl'] for e in entries if e['kind'] == TIMER)

    @staticmethod
    def _identity(f, excl):
        need((excl + f['refused_ticks'] - f['outer_ticks'] - f['open_child_ticks']) & M64 == 0,
             'times do not add up: %d + %d is not %d + %d', excl, f['refused_ticks'],
             f['outer_ticks'], f['open_child_ticks'])

    def _entries(self, record):
        last = -1
        for e in record.entries:
            need(e['id'] > last, 'id %d after %d', e['id'], last)
            last = e['id']
            need(e['id'] in self.events, 'event %d unknown', e['id'])
            need(self.events[e['id']]['kind'] == e['kind'], 'kind of event %d', e['id'])
            need(not e['reserved'] and not e['flags'] & ~15, 'entry %d', e['id'])
            if e['kind'] == COUNTER:
                need(not e['flags'] and e['min'] <= e['max'], 'counter %d', e['id'])
            else:
                need(all(e['flags'] & bit or not e[part] for part, bit in PARTS.items()),
                     'entry %d has a time that is not measured', e['id'])
            need(e['count'] or record.name == 'DIFF', 'entry %d has count 0', e['id'])
            self.sums['counter values' if e['kind'] else 'timer count'] += e['count']
            for part in ('incl', 'excl', 'longest', 'asleep', 'runq', 'irq'):
                self.sums[part] += e[part]
            self.counts['entries'] += 1

    def _frames(self, record, f):
        start, children = M64, 0
        for frame in record.open:
            need(not frame['flags'] and frame['id'] in self.events, 'frame %d', frame['id'])
            need(frame['start_ticks'] <= start, 'frames not innermost first')
            start = frame['start_ticks']
            children += frame['child_ticks']
            self.counts['frames'] += 1
        for frame in record.open:
            if self.events[frame['id']]['is_wait']:
                self._wait(frame, record, f)
        need(f['depth'] >= f['nr_open'] and not f['reserved'], 'depth %d', f['depth'])
        if f['depth'] == f['nr_open'] and record.name == 'PROFILE':
            need(children == f['open_child_ticks'], 'child_ticks')

    def _wait(self, frame, record, f):
        need(frame is record.open[0] and not frame['child_ticks'], 'frames inside a wait for a CPU')
        lasted = f['ticks'] - frame['start_ticks']
        slack = 3 * self.stream['round_ns'] * self.stream['clock_hz'] // 10 ** 9
        need(abs(lasted - frame['runq_ticks']) <= slack and
             not frame['asleep_ticks'] and not frame['irq_ticks'], 'a wait for a CPU that is not')

    def _diff(self, record, f):
        need(self.owner['kind'] in (0, 2), 'DIFF of an exited task')
        self._profile(record, f)
        total, entries = self.profiles.setdefault(f['serial'], ({}, {}))
        for key in ('outer_ticks', 'open_child_ticks', 'refused', 'refused_ticks', 'clamped',
                    *ACCOUNT):
            total[key] = (total.get(key, 0) + f[key]) & M64
        for e in record.entries:
            before = entries.get(e['id'], {})
            entries[e['id']] = dict(e, **{key: e[key] + before.get(key, 0)
                                          for key in ('count', 'incl', 'asleep', 'runq', 'irq')})
            if e['kind'] == TIMER:
                entries[e['id']]['excl'] += before.get('excl', 0)
        self._identity(total, self._excl(entries.values()))
        self._account(total, f)
        if f['depth'] == f['nr_open']:
            need(sum(o['child_ticks'] for o in record.open) == total['open_child_ticks'],
                 'child_ticks of the sum')

    def _trace(self, record, f):
        need(self.stream['content'] == 3, 'in a profile')
        need(f['serial'] in self.owners, 'trace of %d without OWNER', f['serial'])
        need(f['first'] + f['nr_slots'] <= f['next'] <= f['written'], 'positions')
        need(f['lost'] <= f['first'] and f['next'] - f['first'] <= f['ring_slots'], 'lost')
        need(f['ring_slots'].bit_count() == 1, 'ring_slots %d', f['ring_slots'])
        need(f['lost_from_ticks'] <= f['lost_to_ticks'], 'times of a loss')
        need(f['lost'] or not f['lost_to_ticks'], 'times without a loss')
        ring = self.rings.setdefault(f['serial'], {'next': f['first'] - f['lost'], 'stack': [],
                                                   'whole': f['first'] == 0})
        need(f['first'] - f['lost'] == ring['next'], 'continues at %d', f['first'])
        ring['next'] = f['next']
        if f['lost']:
            ring.update(stack=[], whole=False)
        need(not record.slots or
             record.slots[0].fields['ticks'] >= self.stream['since_ticks'], 'since_ticks')
        for slot in record.slots:
            self._slot(slot, ring)
        self.nr_records += 1
        self.sums['lost'] += f['lost']

    @staticmethod
    def _slot_flags(kind, flags):
        return kind in WITH_FLAGS or not flags or kind == 'ENTER' and flags == OFF_CPU

    def _slot(self, slot, ring):
        f = slot.fields
        kind = self.slot_types.get(f['type'])
        need(kind and f['ctx'] in self.contexts and self._slot_flags(kind, f['flags']),
             'slot of type %d', f['type'])
        need(f['cpu'] < self.stream['nr_cpus'], 'slot on CPU %d', f['cpu'])
        self.counts['slots'] += 1
        self.counts['slot ' + kind] += 1
        self.sums['slot words'] += f['words']
        if kind == 'FIELDS':
            need(self.events.get(f['id'], {}).get('kind') == FIELDS, 'fields of event %d', f['id'])
            return
        if kind not in ('ENTER', 'EXIT', 'COUNT'):
            need(f['id'] == ID_NONE, 'id %d in %s', f['id'], kind)
            return
        event = self.events.get(f['id'])
        need(event, 'event %d unknown', f['id'])
        need(event['kind'] == (kind == 'COUNT'), 'kind of event %d', f['id'])
        if kind == 'ENTER':
            ring['stack'].append(f['id'])
        elif kind == 'EXIT':
            need(f['words'] == 2 or self.sources[event['source']] in ('SYSCALL', 'FOREIGN'),
                 'result of event %d', f['id'])
            need(ring['stack'] or not ring['whole'], 'EXIT without ENTER')
            need(not ring['stack'] or ring['stack'].pop() == f['id'], 'EXIT of event %d here',
                 f['id'])

    def _region(self, record, f):
        """The regions of a task follow its profile, which includes them."""
        need(self.stream['content'] == 2, 'in a trace')
        need(self.last == (f['serial'], self.owner and self.owner['kind']),
             'region of %d without PROFILE', f['serial'])
        if self.region[0] != self.last:
            self.region = (self.last, -1)
            self.left = {i: dict(e) for i, e in self.profiles[f['serial']][1].items()}
        need(self.region[1] < f['region'], 'region %d again', f['region'])
        self.region = (self.last, f['region'])
        need(not f['reserved'] and (record.entries or f['refused']), 'an empty region')
        need(f['region'] or not record.entries, 'entries in region 0')
        last = -1
        for e in record.entries:
            need(e['id'] > last, 'id %d after %d', e['id'], last)
            last = e['id']
            left = self.left.get(e['id'])
            need(left and e['kind'] == left['kind'], 'event %d is not in the profile', e['id'])
            for part in ('count', 'incl') + (('excl',) if e['kind'] == TIMER else ()):
                left[part] -= e[part]
                need(left[part] >= 0, 'more %s than in the profile', part)
            self.counts['entries of regions'] += 1

    def _gone(self, _, f):
        need(self.stream['content'] == 2, 'in a trace')
        need(f['nr_folded'] <= f['nr_serials'] and not f['reserved'], 'nr_folded %d',
             f['nr_folded'])

    def _end(self, _, f):
        need(f['nr_records'] == self.nr_records, '%d records of %d', self.nr_records,
             f['nr_records'])
        need(f['losses_own'] in (0, 1), 'losses_own')
        need(self.stream['exited_next'] <= f['exited_next'] and
             f['exited_first'] <= f['exited_next'] and self.last_exited < f['exited_next'],
             'numbers of exited tasks')
        self.sums['nr_records'] += f['nr_records']
        self.stream = None


# Delta coding

class Numbers:
    """Reads an encoded payload from its beginning to its end."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, nr):
        need(self.at + nr <= len(self.data), 'an encoded record is truncated')
        self.at += nr
        return self.data[self.at - nr:self.at]

    def number(self, bits=64):
        value = 0
        for i in range(10):
            byte = self.take(1)[0]
            value |= (byte & 127) << 7 * i
            if byte < 128:
                need(value < 1 << bits, 'number %d in %d bits', value, bits)
                return value
        raise Bad('a number of more than 10 bytes')

    def delta(self, base, bits=64):
        zigzag = self.number()
        value = (base + (zigzag >> 1 ^ (M64 if zigzag & 1 else 0))) & M64
        need(value < 1 << bits, 'value %d in %d bits', value, bits)
        return value


def put_number(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes((value,))


def put_delta(value, base):
    d = (value - base) & M64
    return put_number((d << 1 ^ (M64 if d >> 63 else 0)) & M64)


class SlotEntry:
    """Slots that differ in their times and payloads only."""

    def __init__(self, fields):
        self.fields, self.words, self.next = fields, [0] * 8, 0

    def payload(self, nr):
        return (self.words + [0] * nr)[:nr]

    def keep(self, words):
        self.words[:min(len(words), 8)] = words[:8]


class SlotTable:
    """The table of entries of a payload."""

    def __init__(self):
        self.entries, self.ticks, self.last, self.turn = [], 0, 0, 0

    def find(self, fields):
        return next((i for i, e in enumerate(self.entries) if e.fields == fields), None)

    def add(self, fields):
        number, self.turn = self.turn, (self.turn + 1) % 255
        self.entries[number:number + 1] = [SlotEntry(fields)]
        return number

    def use(self, number):
        """The entry, which has followed the last one."""
        self.entries[self.last].next = number
        self.last = number
        return self.entries[number]


class Delta:
    """Both directions of KTAU_ENCODE_DELTA."""

    def __init__(self, page, order):
        self.order = order
        self.profile = page.layouts['ktau_rec_profile']
        self.trace = page.layouts['ktau_rec_trace']
        numbers = page.named('KTAU_REC_')
        self.trace_type = numbers['TRACE']
        self.types = (numbers['PROFILE'], numbers['DIFF'], numbers['TRACE'])

    def decode(self, data):
        self.words = {}
        self.slots = SlotTable()
        numbers, out = Numbers(data), []
        while numbers.at < len(data):
            out.append(self._decode_record(numbers))
        return b''.join(out)

    def _pack(self, code, *values):
        return struct.pack(self.order + code, *values)

    def _words(self, numbers, nr):
        return self._pack(f'{nr}Q', *(numbers.number() for _ in range(nr)))

    def _decode_record(self, numbers):
        size, kind, head = 8 * numbers.number(29), numbers.number(16), 8 * numbers.number(13)
        form = numbers.take(1)[0]
        need(8 <= head <= size <= BLOCK_MAX, 'encoded record of %d bytes, %d fixed', size, head)
        out = self._pack('IHH', size, kind, head)
        if form == 0:
            return out + numbers.take(size - 8)
        need(form == 1 and kind in self.types and head <= FORM_1_HEAD_MAX, 'form %d', form)
        before = self.words.get(kind, ())
        words = [numbers.delta(before[i] if i < len(before) else 0)
                 for i in range(head // 8 - 1)]
        self.words[kind] = words
        out += self._pack(f'{len(words)}Q', *words)
        if kind == self.trace_type:
            out += self._decode_slots(numbers, self.trace.unpack(self.order, out))
        else:
            out += self._decode_profile(numbers, self.profile.unpack(self.order, out))
        need(len(out) <= size, 'arrays of %d bytes in %d', len(out), size)
        return out + numbers.take(size - len(out))

    def _decode_profile(self, numbers, f):
        out, event = [], 0
        for _ in range(f['nr_entries']):
            event = numbers.delta(event, 16)
            out.append(self._pack('H', event) + numbers.take(2) +
                       self._pack('I', numbers.number(32)) +
                       self._words(numbers, f['entry_size'] // 8 - 1))
        for _ in range(f['nr_open']):
            out.append(self._pack('IIQ', numbers.number(32), numbers.number(32),
                                  numbers.delta(f['ticks'])) +
                       self._words(numbers, f['open_size'] // 8 - 2))
        return b''.join(out)

    def _decode_slots(self, numbers, f):
        firsts, table, out = numbers.take(f['nr_slots']), self.slots, []
        need(not any(first & 0xc0 for first in firsts), 'unknown bits of a slot')
        times = [int.from_bytes(numbers.take((first & 7) + 1), 'little') for first in firsts]
        for first, time in zip(firsts, times):
            table.ticks = (table.ticks + (-time if first & 8 else time)) & M64
            if first & 16:
                number = numbers.take(1)[0]
                if number == 255:
                    number = table.add(self._decode_fields(numbers))
            else:
                number = table.entries[table.last].next if table.entries else 0
            need(number < len(table.entries), 'entry %d of %d', number, len(table.entries))
            entry = table.use(number)
            words = entry.payload(entry.fields[2] - 2)
            if first & 32:
                words = [numbers.delta(word) for word in words]
            entry.keep(words)
            out.append(self._pack('QHBBHBB', table.ticks, *entry.fields) +
                       self._pack(f'{len(words)}Q', *words))
        return b''.join(out)

    @staticmethod
    def _decode_fields(numbers):
        event = numbers.number(16)
        kind, words = numbers.take(2)
        need(words >= 2, 'slot of %d words', words)
        cpu = numbers.number(16)
        return (event, kind, words, cpu, *numbers.take(2))

    def encode(self, records):
        self.words = {}
        self.slots = SlotTable()
        return b''.join(map(self._encode_record, records))

    def _unpack(self, code, data, at):
        return struct.unpack_from(self.order + code, data, at)

    def _put_words(self, data, at, nr):
        return b''.join(map(put_number, self._unpack(f'{nr}Q', data, at)))

    def _encode_record(self, data):
        size, kind, head = self._unpack('IHH', data, 0)
        out = put_number(size // 8) + put_number(kind) + put_number(head // 8)
        if kind not in self.types or head > FORM_1_HEAD_MAX:
            return out + b'\0' + data[8:]
        before = self.words.get(kind, ())
        words = self._unpack(f'{head // 8 - 1}Q', data, 8)
        self.words[kind] = words
        out += b'\1' + b''.join(put_delta(word, before[i] if i < len(before) else 0)
                                for i, word in enumerate(words))
        if kind == self.trace_type:
            rest, at = self._encode_slots(data, head, self.trace.unpack(self.order, data))
        else:
            rest, at = self._encode_profile(data, head, self.profile.unpack(self.order, data))
        return out + rest + data[at:]

    def _encode_profile(self, data, at, f):
        out, event = [], 0
        for _ in range(f['nr_entries']):
            number, reserved = self._unpack('H2xI', data, at)
            out.append(put_delta(number, event) + data[at + 2:at + 4] + put_number(reserved) +
                       self._put_words(data, at + 8, f['entry_size'] // 8 - 1))
            event = number
            at += f['entry_size']
        for _ in range(f['nr_open']):
            number, flags, start = self._unpack('IIQ', data, at)
            out.append(put_number(number) + put_number(flags) + put_delta(start, f['ticks']) +
                       self._put_words(data, at + 16, f['open_size'] // 8 - 2))
            at += f['open_size']
        return b''.join(out), at

    def _encode_slots(self, data, at, f):
        firsts, times, rest, table = bytearray(), bytearray(), bytearray(), self.slots
        for _ in range(f['nr_slots']):
            ticks, *fields = self._unpack('QHBBHBB', data, at)
            words = self._unpack(f'{fields[2] - 2}Q', data, at + 16)
            first, time = 0, ticks - table.ticks & M64
            if time >> 63:
                first, time = 8, -time & M64
            length = max(1, (time.bit_length() + 7) // 8)
            times += time.to_bytes(length, 'little')
            first |= length - 1
            table.ticks = ticks
            number = table.entries[table.last].next if table.entries else None
            if number is None or table.entries[number].fields != tuple(fields):
                first |= 16
                number = table.find(tuple(fields))
                if number is None:
                    number = table.add(tuple(fields))
                    event, kind, nr_words, cpu, ctx, flags = fields
                    rest += (b'\xff' + put_number(event) + bytes((kind, nr_words)) +
                             put_number(cpu) + bytes((ctx, flags)))
                else:
                    rest.append(number)
            entry = table.use(number)
            kept = entry.payload(len(words))
            if list(words) != kept:
                first |= 32
                rest += b''.join(map(put_delta, words, kept))
            entry.keep(words)
            firsts.append(first)
            at += 8 * fields[2]
        return bytes(firsts + times + rest), at


# Files

def zstd(data, *options):
    """Runs the program zstd, because Python 3.11 has no module for it."""
    return subprocess.run(['zstd', '-qc', *options], input=data, stdout=subprocess.PIPE,
                          check=True).stdout


def unpack_payload(compression, stored, raw):
    if compression == 1:
        z = zlib.decompressobj()
        data = z.decompress(stored) + z.flush()
        need(z.eof and not z.unused_data, 'bytes after a zlib stream')
    elif compression == 2:
        data = zstd(stored, '-d')
    else:
        need(compression == 0, 'compression %d', compression)
        data = stored
    need(len(data) == raw, '%d bytes instead of %d', len(data), raw)
    return data


def header_crc(layout, header):
    """The checksum of a file's or a block's header: its own field is taken as zero."""
    at = layout.at['header_crc']
    return zlib.crc32(header[:at] + bytes(4) + header[at + 4:])


def block_at(page, order, data, at):
    """The block at @at: (header, payload as stored, position of the next block)."""
    layout = page.layouts['ktau_block']
    f = layout.unpack(order, data[at:])
    need(f['magic'] == BLOCK_MAGIC and f['size'] % 8 == 0 and
         layout.size <= f['size'] <= BLOCK_HEADER_MAX, 'block header at byte %d', at)
    need(header_crc(layout, data[at:at + f['size']]) == f['header_crc'],
         'header_crc at byte %d', at)
    at += f['size']
    stored = data[at:at + f['stored_bytes']]
    end = at + (f['stored_bytes'] + 7) // 8 * 8
    need(end <= len(data) and not any(data[at + len(stored):end]), 'padding before %d', end)
    need(zlib.crc32(stored) == f['payload_crc'], 'payload_crc before byte %d', end)
    need(f['type'] == 1 and f['raw_bytes'] <= BLOCK_MAX and not f['flags'] & ~1, 'block type')
    return f, stored, end


def check_times(decoder, block, payload):
    """Check that from_ns and to_ns are those of the streams that begin in the block."""
    times = [decoder.layouts['STREAM'].unpack(decoder.order, data)['realtime_ns']
             for kind, _, data in decoder.split(payload) if decoder.types.get(kind) == 'STREAM']
    need((block['from_ns'], block['to_ns']) == ((times[0], times[-1]) if times else (0, 0)),
         'from_ns or to_ns of block %d', block['sequence'])


def payloads(page, data):
    """The decoder for @data, and its payloads, each (block header or None, records)."""
    if data[:4] not in (b'KFIL', b'LIFK'):
        need(data[8:12] in (b'KTAU', b'UATK'), 'neither a stream nor a file')
        return Decoder(page, '<' if data[8:12] == b'KTAU' else '>'), [(None, data)]
    order = '<' if data[:4] == b'KFIL' else '>'
    header = page.layouts['ktau_file_header'].unpack(order, data)
    need(header['magic'] == FILE_MAGIC and header['version'] == VERSION and
         header['size'] >= 40 and header['size'] % 8 == 0, 'header of the file')
    need(header_crc(page.layouts['ktau_file_header'], data[:header['size']]) ==
         header['header_crc'], 'header_crc of the file')
    decoder, at, out = Decoder(page, order), header['size'], []
    while at < len(data):
        block, stored, at = block_at(page, order, data, at)
        need(block['sequence'] == len(out), 'block %d at number %d', block['sequence'], len(out))
        payload = unpack_payload(block['compression'], stored, block['raw_bytes'])
        need(block['encoding'] <= 1, 'encoding %d', block['encoding'])
        if block['encoding']:
            payload = Delta(page, order).decode(payload)
        need(len(payload) <= BLOCK_MAX, 'payload of %d bytes', len(payload))
        check_times(decoder, block, payload)
        out.append((block, payload))
    return decoder, out


def records(page, data, rules=None):
    """Each record of a stream or a file, of a known type."""
    decoder, parts = payloads(page, data)
    for block, payload in parts:
        if block and rules:
            rules.in_file = True
            if block['flags'] & 1:
                rules.key_block()
        for kind, head, raw in decoder.split(payload):
            record = decoder.record(kind, head, raw)
            if rules:
                need(record, 'record of type %d', kind)
                rules.record(record)
            if record:
                yield decoder, record
    if rules:
        rules.finish()


def build_file(page, data, order, delta, compression):
    """The records of @data as a file with a block for each stream."""
    blocks, last, boot_id, times = [[]], None, bytes(16), []
    for decoder, record in records(page, data):
        if record.name == 'STREAM':
            boot_id = record.fields['boot_id']
            times.append(record.fields['realtime_ns'])
        blocks[-1].append(decoder.pack(record, order))
        last = record.name
        if last == 'END':
            blocks.append([])
    layout = page.layouts['ktau_file_header']
    header = {'magic': FILE_MAGIC, 'version': VERSION, 'size': 40, 'created_ns': times[0],
              'boot_id': boot_id, 'header_crc': 0, 'reserved': 0}
    header['header_crc'] = zlib.crc32(layout.pack(order, header))
    out = layout.pack(order, header)
    for number, block in enumerate(filter(None, blocks)):
        raw = Delta(page, order).encode(block) if delta else b''.join(block)
        stored = [lambda: raw, lambda: zlib.compress(raw), lambda: zstd(raw)][compression]()
        header = {
            'magic': BLOCK_MAGIC, 'size': 48, 'type': 1, 'compression': compression,
            'encoding': int(delta), 'flags': int(number == 0), 'stored_bytes': len(stored),
            'raw_bytes': len(raw), 'payload_crc': zlib.crc32(stored), 'sequence': number,
            'header_crc': 0, 'from_ns': times[number], 'to_ns': times[number]}
        layout = page.layouts['ktau_block']
        header['header_crc'] = zlib.crc32(layout.pack(order, header))
        out += layout.pack(order, header) + stored + bytes(-len(stored) % 8)
    return out


# Commands

def check(page, data):
    """Check all rules; returns counts and sums of the records in @data."""
    rules = Rules(page)
    for _ in records(page, data, rules):
        pass
    return rules


def show(page, path, data):
    rules = check(page, data)
    for title, values in (('counts', rules.counts), ('sums', rules.sums)):
        print(path, title, *(f'{k.replace(" ", "_")}={v}' for k, v in sorted(values.items())))


def plain(page, data):
    for decoder, record in records(page, data):
        yield decoder.pack(record, NATIVE)


def mutations(page, data):
    """(violation, stream that has it), for each rule that a single record can violate."""
    decoder = Decoder(page, payloads(page, data)[0].order)
    all_records = [decoder.record(*r) for r in decoder.split(data)]
    first = {}
    for i, record in enumerate(all_records):
        first.setdefault(record.name, i)

    def changed(name, field, value, i=None):
        i = first[name] if i is None else i
        record = all_records[i]
        record = record._replace(fields=dict(record.fields, **{field: value(record.fields[field])}))
        return all_records[:i] + [record] + all_records[i + 1:]

    def without(name):
        return all_records[:first[name]] + all_records[first[name] + 1:]

    yield 'an EVENT is missing', without('EVENT')
    yield 'an OWNER is missing', without('OWNER')
    yield 'END is missing', all_records[:-1]
    yield 'STREAM is missing', all_records[1:]
    yield 'END counts one more', changed('END', 'nr_records', lambda v: v + 1)
    yield 'an unknown origin', changed('STREAM', 'origin', lambda v: v + 100)
    yield 'a clock of another rate', changed('STREAM', 'clock_hz', lambda v: v * 2)
    yield 'addresses without permission', changed('STREAM', 'access', lambda v: v & ~64)
    yield 'an owner of an unknown cgroup', changed('OWNER', 'cgroup', lambda v: v + 5)
    if 'CGROUP' in first:
        yield 'a CGROUP is missing', without('CGROUP')
    if 'PROFILE' in first:
        yield 'times that do not add up', changed('PROFILE', 'outer_ticks', lambda v: v + 1)
        yield 'more frames than the depth', changed(
            'PROFILE', 'depth', lambda v: 0, next(i for i, r in enumerate(all_records) if r.open))
        waits = [i for i, r in enumerate(all_records)
                 if r.name == 'EVENT' and r.strings == [b'schedule_wait\0']]
        i = next((i for i, r in enumerate(all_records) if waits and i > waits[0] and r.open), None)
        if i:
            record = all_records[i]
            f = record.fields
            wait = dict(record.open[0], id=all_records[waits[0]].fields['id'], child_ticks=0,
                        start_ticks=f['ticks'] - 5, asleep_ticks=1, runq_ticks=4, irq_ticks=0)
            yield 'a task that sleeps while it waits for a CPU', (
                all_records[:i] + [record._replace(
                    open=[wait] + record.open,
                    fields=dict(f, nr_open=f['nr_open'] + 1, depth=f['depth'] + 1))] +
                all_records[i + 1:])
        yield 'an account that exceeds the life', changed('PROFILE', 'user_ticks', lambda v: M64)
        yield 'modes in groups_throughout', changed('PROFILE', 'groups_throughout',
                                                    lambda v: v | MODES)
        i = first['PROFILE']
        f = all_records[i].fields
        region = all_records[i]._replace(
            type=9, name='REGION', open=[], entries=all_records[i].entries[:1],
            fields={'serial': f['serial'], 'region': 1, 'nr_entries': 1, 'entry_size': 0,
                    'reserved': 0, 'refused': 0})
        check(page, b''.join(decoder.pack(r, decoder.order) for r in
                             all_records[:i + 1] + [region] + all_records[i + 1:]))
        for what, later in (('a region twice', [region, region]),
                            ('regions with more than the profile', [
                                region, region._replace(fields=dict(region.fields, region=2))]),
                            ('an empty region', [region._replace(
                                entries=[], fields=dict(region.fields, nr_entries=0))])):
            yield what, all_records[:i + 1] + later + all_records[i + 1:]
        yield 'a region before its profile', all_records[:i] + [region] + all_records[i:]
        entries = all_records[i].entries[::-1]
        yield 'entries in descending order', (
            all_records[:i] + [all_records[i]._replace(entries=entries)] + all_records[i + 1:])
    if 'TRACE' in first:
        yield 'more slots than positions', changed('TRACE', 'next', lambda v: v - v)
        yield 'a loss that did not happen', changed('TRACE', 'lost', lambda v: v + 1)
        # A ring without losses
        i = next(i for i, r in enumerate(all_records) if r.name == 'TRACE' and
                 not r.fields['first'] and any(s.fields['type'] == 2 for s in r.slots))
        slots = [s for s in all_records[i].slots if s.fields['type'] != 1]
        fields = dict(all_records[i].fields, nr_slots=len(slots),
                      slots_bytes=sum(8 * s.fields['words'] for s in slots))
        yield 'each EXIT without its ENTER', (
            all_records[:i] + [all_records[i]._replace(slots=slots, fields=fields)] +
            all_records[i + 1:])


def selftest(page, data):
    decoder = payloads(page, data)[0]
    failed = 0
    for what, wrong in mutations(page, data):
        try:
            check(page, b''.join(decoder.pack(r, decoder.order) for r in wrong))
        except Bad as bad:
            print(f'{what}: {bad}')
        else:
            print(f'{what}: not detected')
            failed = 1
    return failed


def main(args):
    page = Page(PAGE)
    command, *rest = args
    if command == 'write':
        order, coding, compression, source, target = rest
        with open(source, 'rb') as file:
            data = file.read()
        with open(target, 'wb') as file:
            file.write(build_file(page, data, {'little': '<', 'big': '>'}[order],
                                  coding == 'delta', ['none', 'zlib', 'zstd'].index(compression)))
        return 0
    status = 0
    for path in rest:
        with open(path, 'rb') as file:
            data = file.read()
        if command == 'check':
            show(page, path, data)
        elif command == 'selftest':
            status |= selftest(page, data)
        else:
            for record in plain(page, data):
                sys.stdout.buffer.write(record)
    return status


if __name__ == '__main__':
    if len(sys.argv) < 3 or sys.argv[1] not in ('check', 'plain', 'write', 'selftest'):
        sys.exit(__doc__)
    try:
        sys.exit(main(sys.argv[1:]))
    except Bad as bad_bytes:
        sys.exit(f'{sys.argv[0]}: {bad_bytes}')
