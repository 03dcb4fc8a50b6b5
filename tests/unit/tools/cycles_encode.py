# SPDX-License-Identifier: GPL-2.0-only
"""Encoders of hardware traces whose cycles are known: ETMv3.5, ETMv4, Intel PT, perf.data.

Each runs the same program: a loop of three rounds, a call of a leaf function, and a jump back to
the start.
"""

import collections
import pathlib
import random
import struct

# A32. mov r0, #3; loop: add, subs, bne loop; bl leaf; nop; b start; nop; leaf: mov; bx lr
ARM_BASE = 0x8000
ARM_CODE = [0xe3a00003, 0xe2811001, 0xe2500001, 0x1afffffc, 0xeb000002, 0xe1a00000, 0xeafffff8,
            0xe1a00000, 0xe3a02000, 0xe12fff1e]
ARM_MAP = ('00008000 T start\n0000801c T unused\n00008020 T leaf\n00008028 T _etext\n')

# The same in A64
A64_BASE = 0x400000
A64_CODE = [0xd2800060, 0x91000421, 0xf1000400, 0x54ffffc1, 0x94000004, 0xd503201f, 0x17fffffa,
            0xd503201f, 0xd2800002, 0xd65f03c0]
THRESHOLD = 4

# The same in x86-64: (offset, bytes)
X86_BASE = 0x400000
X86_CODE = [(0x00, 'b803000000'), (0x05, '83c101'), (0x08, '83e801'), (0x0b, '75f8'),
            (0x0d, 'e80e000000'), (0x12, '90'), (0x13, 'ebeb'), (0x20, 'ba00000000'),
            (0x25, 'c3')]
X86_LEAF = 0x400020


class Sums:
    """What a trace must add up to."""

    def __init__(self):
        self.cycles = collections.Counter()
        self.executed = collections.Counter()
        self.gaps = 0
        self.unattributed = 0

    def spread(self, batch, cycles):
        """Divide the cycles of a batch: the first instructions get one more."""
        if not batch:
            self.unattributed += cycles
            return
        each, rest = divmod(cycles, len(batch))
        for i, address in enumerate(batch):
            self.cycles[address] += each + (i < rest)

    def total(self):
        return sum(self.cycles.values()) + self.gaps + self.unattributed


def arm_code():
    return b''.join(struct.pack('<I', word) for word in ARM_CODE) + bytes(0x18)


def a64_code():
    return b''.join(struct.pack('<I', word) for word in A64_CODE)


def x86_code():
    code = bytearray(b'\xcc' * 0x30)
    for offset, text in X86_CODE:
        code[offset:offset + len(text) // 2] = bytes.fromhex(text)
    return bytes(code)


def varint(value):
    out = bytearray()
    while True:
        out.append(value & 0x7f | (0x80 if value > 0x7f else 0))
        value >>= 7
        if not value:
            return bytes(out)


# ETMv3.5, cycle-accurate

ETM3_ASYNC = bytes(5) + b'\x80'


def etm3_isync(address, gap=None):
    head = b'\x08' if gap is None else b'\x70' + varint(gap)
    return head + b'\x21' + struct.pack('<I', address)


def etm3_atom(cycles, executed):
    if cycles == 1:
        return b'\x84' if executed else b'\xc0'
    out = bytearray()
    while cycles > 8:
        out.append(0xbc)
        cycles -= 8
    if not cycles:
        out.append(0x92 if executed else 0x96)
    elif executed:
        out.append(0xe0 | (cycles - 1) << 2)
    else:
        out += bytes([0xa0 | (cycles - 1) << 2, 0x96])
    return bytes(out)


def etm3_branch(address):
    """A full address of five bytes."""
    return bytes([0x81 | (address >> 2 & 0x3f) << 1, 0x80 | address >> 8 & 0x7f,
                  0x80 | address >> 15 & 0x7f, 0x80 | address >> 22 & 0x7f,
                  0x08 | address >> 29 & 7])


def etm3(seed, rounds, gaps=False):
    rnd = random.Random(seed)
    sums = Sums()
    trace = bytearray(ETM3_ASYNC + etm3_isync(ARM_BASE))

    def instruction(index, executed=True, branch=b''):
        nonlocal trace
        cycles = rnd.choice([0, 1, 1, 1, 2, 3, 8, 9, 17, 140])
        address = ARM_BASE + 4 * index
        sums.cycles[address] += cycles
        sums.executed[address] += 1
        trace += etm3_atom(cycles, executed) + branch

    for n in range(rounds):
        instruction(0)
        for i in range(3):
            instruction(1)
            instruction(2)
            instruction(3, i < 2)
        instruction(4)
        instruction(8)
        instruction(9, True, etm3_branch(0x8014))
        instruction(5)
        instruction(6)
        if gaps and n % 5 == 4:
            gap = rnd.randrange(1, 100000)
            sums.gaps += gap
            trace += etm3_isync(ARM_BASE, gap)
    return bytes(trace), sums


# ETMv4 with cycle counts

def etm4_address(address):
    return bytes([address >> 2 & 0x7f, address >> 9 & 0x7f]) + bytes(
        address >> shift & 0xff for shift in (16, 24, 32, 40, 48, 56))


ETM4_HEAD = bytes(11) + b'\x80\x01\x09\x01' + bytes([THRESHOLD]) + b'\x04\x85' + etm4_address(
    A64_BASE) + b'\x31'

# Ranges of a round: index of the first instruction, how many, whether the branch is taken
RANGES = [(0, 4, True), (1, 3, True), (1, 3, False), (4, 1, True), (8, 2, True), (5, 2, True)]


def etm4(seed, rounds):
    rnd = random.Random(seed)
    sums = Sums()
    trace = bytearray(ETM4_HEAD)
    batch = []

    def count():
        cycles = rnd.choice([4, 5, 9, 27, 130, 5000])
        trace.extend(b'\x0e' + varint(cycles - THRESHOLD))
        sums.spread(batch, cycles)
        batch.clear()

    for _ in range(rounds):
        for first, nr, taken in RANGES:
            trace.extend(b'\xf7' if taken else b'\xf6')
            for i in range(first, first + nr):
                batch.append(A64_BASE + 4 * i)
                sums.executed[A64_BASE + 4 * i] += 1
            if first == 8:
                trace.extend(b'\x9d' + etm4_address(A64_BASE + 0x14))
            if rnd.random() < 0.4:
                count()
    count()
    return bytes(trace), sums


# Intel PT

PT_PSB = b'\x02\x82' * 8
PT_PSBEND = b'\x02\x23'
PT_MODE_64 = b'\x99\x01'
PT_MTC = bytes((0x59, 0x10))    # does not end a block


def pt_ip(opcode, address):
    return bytes([opcode | 3 << 5]) + struct.pack('<Q', address)[:6]


def pt_pge(address):
    return pt_ip(0x11, address)


def pt_pgd(address):
    return pt_ip(0x01, address)


def pt_tip(address):
    return pt_ip(0x0d, address)


def pt_tnt(*taken):
    """Up to six branches, the oldest first."""
    payload = 1
    for bit in taken:
        payload = payload << 1 | bit
    return bytes([payload << 1])


def pt_cyc(value):
    if value < 32:
        return bytes([value << 3 | 3])
    out = bytearray([(value & 0x1f) << 3 | 7])
    value >>= 5
    while True:
        out.append((value & 0x7f) << 1 | (value > 0x7f))
        value >>= 7
        if not value:
            return bytes(out)


def pt_psb():
    return PT_PSB + PT_MODE_64 + PT_PSBEND


# Blocks of a round: offsets of their instructions, and the branch or packet that ends each
PT_BLOCKS = [([0x00, 0x05, 0x08, 0x0b], 1), ([0x05, 0x08, 0x0b], 1), ([0x05, 0x08, 0x0b], 0),
             ([0x0d, 0x20, 0x25], pt_tip(X86_BASE + 0x12)), ([0x12, 0x13], None)]


def pt(seed, rounds, gaps=False, branches=1):
    """Each CYC packet counts the instructions since the last one, up to the packet after it.

    A TNT packet has up to that many branches; a CYC packet before it ends at the first of them.
    """
    rnd = random.Random(seed)
    sums = Sums()
    trace = bytearray(pt_psb() + PT_MODE_64 + pt_pge(X86_BASE))
    batch = []
    taken = []

    def flush():
        nonlocal trace
        if taken:
            trace += pt_tnt(*taken)
            taken.clear()

    for n in range(rounds):
        for offsets, end in PT_BLOCKS:
            batch += [X86_BASE + offset for offset in offsets]
            sums.executed.update(X86_BASE + offset for offset in offsets)
            if end is not None and rnd.random() < 0.6:
                flush()
                cycles = rnd.choice([1, 2, 9, 31, 32, 500, 70000])
                trace += pt_cyc(cycles)
                sums.spread(batch, cycles)
                batch = []
            if isinstance(end, int):
                taken.append(end)
            if len(taken) == branches or not isinstance(end, int):
                flush()
            if isinstance(end, bytes):
                trace += end
        if gaps and n % 5 == 4 and n < rounds - 1:
            # Tracing stops at the jump, and starts again after some cycles
            gap = rnd.randrange(1, 100000)
            sums.gaps += gap
            batch = []
            trace += pt_pgd(X86_BASE) + pt_cyc(gap) + pt_pge(X86_BASE)
    trace += pt_pgd(X86_BASE)
    return bytes(trace), sums


# Files

ETM3_REGISTERS = {'ETMCR': 0x10001800, 'ETMIDR': 0x410CF250, 'ETMCCER': 0x344008F2,
                  'ETMTRACEIDR': 0x10}
ETM4_REGISTERS = {'TRCCONFIGR': 0x11, 'TRCTRACEIDR': 0x10, 'TRCIDR0': 0x28000EA1,
                  'TRCIDR1': 0x4100F403, 'TRCIDR2': 0x488, 'TRCIDR8': 0}


def write_snapshot(folder, trace, code, base, core, macrocell, registers):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / 'trace.bin').write_bytes(trace)
    (folder / 'code.bin').write_bytes(code)
    (folder / 'snapshot.ini').write_text(
        '[snapshot]\nversion=1.0\n\n[device_list]\ndevice0=cpu_0.ini\ndevice1=etm_0.ini\n\n'
        '[trace]\nmetadata=trace.ini\n')
    (folder / 'trace.ini').write_text(
        '[trace_buffers]\nbuffers=buffer0\n\n[buffer0]\nname=ETB_0\nfile=trace.bin\n'
        'format=source_data\n\n[source_buffers]\nETM_0=ETB_0\n\n[core_trace_sources]\n'
        'cpu_0=ETM_0\n')
    (folder / 'cpu_0.ini').write_text(
        f'[device]\nname=cpu_0\nclass=core\ntype={core}\n\n[regs]\nPC(size:64)={base:#x}\n\n'
        f'[dump]\nfile=code.bin\naddress={base:#x}\nlength={len(code):#x}\n')
    (folder / 'etm_0.ini').write_text(
        f'[device]\nname=ETM_0\nclass=trace_source\ntype={macrocell}\n\n[regs]\n'
        + ''.join(f'{name}(0x000)={value:#010x}\n' for name, value in registers.items()))
    return folder


def etm3_snapshot(folder, trace):
    return write_snapshot(folder, trace, arm_code(), ARM_BASE, 'Cortex-A7', 'ETM3.5',
                          ETM3_REGISTERS)


def etm4_snapshot(folder, trace):
    return write_snapshot(folder, trace, a64_code(), A64_BASE, 'Cortex-A57', 'ETM4',
                          ETM4_REGISTERS)


def perf_record(kind, body, misc=0):
    return struct.pack('<IHH', kind, misc, 8 + len(body)) + body


def perf_mmap2(address, length, path):
    name = str(path).encode() + b'\0'
    name += bytes(-len(name) % 8)
    return perf_record(10, struct.pack('<IIQQQ', 1, 1, address, length, 0) + bytes(24)
                       + struct.pack('<II', 5, 2) + name, misc=2)


def perf_auxtrace(data, index=0, cpu=0):
    data += bytes(-len(data) % 8)
    return perf_record(71, struct.pack('<QQQIIII', len(data), 0, 0, index, 1, cpu, 0)) + data


def perf_data(path, *records):
    """A file with these records, and an empty list of events."""
    body = b''.join(records)
    head = b'PERFILE2' + struct.pack('<QQ', 104, 16)
    head += struct.pack('<QQ', 104, 0)              # attributes
    head += struct.pack('<QQ', 104, len(body))      # records
    head += struct.pack('<QQ', 0, 0) + bytes(32)    # types of events, features
    pathlib.Path(path).write_bytes(head + body)


def perf_intel_pt(path, code_file, *traces):
    info = perf_record(70, struct.pack('<II', 1, 0) + bytes(8 * 16))
    perf_data(path, info, perf_mmap2(X86_BASE, 0x1000, code_file),
              *(perf_auxtrace(trace) for trace in traces))


def perf_cs_etm(path, code_file, trace):
    """CPU 0 has an ETMv4 whose data is not in frames."""
    words = [1, 8 << 32 | 1, 0, 0x4040404040404040, 0, len(ETM4_REGISTERS)]
    words += ETM4_REGISTERS.values()
    info = perf_record(70, struct.pack('<II', 3, 0) + struct.pack(f'<{len(words)}Q', *words))
    raw = perf_record(11, struct.pack('<QQQ', 0, len(trace), 1 << 8))
    perf_data(path, info, perf_mmap2(A64_BASE, 0x1000, code_file), raw, perf_auxtrace(trace))
