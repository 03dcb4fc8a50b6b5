# SPDX-License-Identifier: GPL-2.0-only
"""ktau cycles on traces whose cycles are known: test_cycles.py BUILD."""

import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest

import cycles_encode as encode
from tap.runner import TAPTestRunner

BUILD = pathlib.Path(sys.argv[1]).resolve()
KTAU = BUILD / 'tools/ktau/ktau'

GOLDEN_ETM3 = bytes.fromhex('000000000080 082100800000 84' + 'bc' * 17 + 'ec84e484bce0bce0bce0fcc0'
                            '84bce0928b80818008fcfc')
GOLDEN_ETM4 = bytes.fromhex('00' * 11 + '80 01090104 04 85 0000400000000000 31 f7 0e00 f7 0e17 f6 '
                            'f7 f7 9d 0500400000000000 0e01 f7 0e00 0e17')


def run(*words, status=0):
    p = subprocess.run([KTAU, 'cycles', *map(str, words)], capture_output=True, text=True,
                       check=False, timeout=600)
    if 'built without' in p.stderr:
        raise unittest.SkipTest(p.stderr)
    if status is not None and p.returncode != status:
        raise AssertionError(f'status {p.returncode}: {words}: {p.stdout} {p.stderr}')
    return p


class Cycles(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext_(tempfile.TemporaryDirectory()))

    def enterContext_(self, manager):
        value = manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        return value

    def streams(self, *words, status=0):
        return json.loads(run('--json', *words, status=status).stdout)['streams']

    def check_sum(self, stream):
        parts = ('in_functions', 'gaps', 'unread', 'unattributed')
        self.assertEqual(int(stream['cycles']), sum(int(stream[part]) for part in parts))

    def instructions(self, recording, *words, function):
        """Cycles and executions by address."""
        rows = json.loads(run('--json', f'--annotate={function}', *words, recording).stdout)
        return {int(row['address'], 16): (int(row['cycles']), int(row['executed']))
                for row in rows['instructions']}

    def check_equal(self, recording, sums, base):
        """A recording without names: all instructions are in one row."""
        stream = self.streams(recording)[0]
        self.check_sum(stream)
        self.assertEqual(int(stream['cycles']), sums.total())
        self.assertEqual(int(stream['gaps']), sums.gaps)
        self.assertEqual(int(stream['unattributed']), sums.unattributed)
        found = self.instructions(recording, function=f'{base:#x}+')
        self.assertEqual(found, {a: (sums.cycles[a], n) for a, n in sums.executed.items()})

    # ETMv3

    def test_etm3_golden(self):
        snapshot = encode.etm3_snapshot(self.folder, GOLDEN_ETM3)
        expected = {0x8000: (1, 1), 0x8004: (150, 3), 0x8008: (18, 3), 0x800c: (12, 3),
                    0x8010: (1, 1), 0x8014: (8, 1), 0x8018: (8, 1), 0x8020: (9, 1), 0x8024: (0, 1)}
        self.assertEqual(self.instructions(snapshot, function='0x8000+'), expected)
        stream = self.streams(snapshot)[0]
        self.assertEqual((stream['cycles'], stream['gaps'], stream['counted']),
                         ('207', '0', 'by instruction'))

    def test_etm3_functions(self):
        snapshot = encode.etm3_snapshot(self.folder / 's', GOLDEN_ETM3)
        names = self.folder / 'map'
        names.write_text(encode.ARM_MAP)
        rows = json.loads(run('--json', '-m', names, snapshot).stdout)['functions']
        self.assertEqual([(row['function'], row['cycles'], row['calls']) for row in rows],
                         [('start', '198', '0'), ('leaf', '9', '1')])
        text = run('-m', names, snapshot).stdout
        self.assertIn('sum: cycles = functions + gaps + unread + unattributed: '
                      '207 = 207 + 0 + 0 + 0', text)
        self.assertEqual(run('--folded', '-m', names, snapshot).stdout,
                         'Cortex-A7 0x10;start 198\nCortex-A7 0x10;leaf 9\n')
        run(f'--flame={self.folder}/f.svg', '-m', names, snapshot)
        self.assertIn('<title>leaf: 9 cycles, 4.3%, 1 times</title>',
                      (self.folder / 'f.svg').read_text())
        self.assertIn('0x10,9,', run('--csv', '-m', names, snapshot).stdout)

    def test_etm3_random(self):
        trace, sums = encode.etm3(4, 5000, gaps=True)
        self.check_equal(encode.etm3_snapshot(self.folder, trace), sums, encode.ARM_BASE)

    def test_etm3_single(self):
        """The same data with everything on the command line."""
        trace, sums = encode.etm3(7, 20)
        (self.folder / 'trace.bin').write_bytes(trace)
        (self.folder / 'code.bin').write_bytes(encode.arm_code())
        registers = ','.join(f'{k}={v:#x}' for k, v in encode.ETM3_REGISTERS.items())
        words = ('--etm=etmv3', '--regs=' + registers, '--core=Cortex-A7',
                 f'--code=0x8000:{self.folder}/code.bin', self.folder / 'trace.bin')
        stream = self.streams(*words)[0]
        self.assertEqual(int(stream['cycles']), sums.total())
        self.check_sum(stream)

    def test_elf(self):
        """Names and code from an ELF file; the sums of its functions."""
        trace, sums = encode.etm3(9, 50)
        snapshot = encode.etm3_snapshot(self.folder / 's', trace)
        (snapshot / 'cpu_0.ini').write_text('[device]\nname=cpu_0\nclass=core\ntype=Cortex-A7\n')
        elf = self.folder / 'program.elf'
        elf.write_bytes(make_elf(encode.arm_code()[:0x28], encode.ARM_BASE,
                                 {'start': (0x8000, 0x1c), 'leaf': (0x8020, 8)}))
        rows = json.loads(run('--json', '-m', elf, snapshot).stdout)['functions']
        found = {row['function']: int(row['cycles']) for row in rows}
        self.assertEqual(found, {
            'start': sum(n for a, n in sums.cycles.items() if a < 0x8020),
            'leaf': sum(n for a, n in sums.cycles.items() if a >= 0x8020)})

    # ETMv4

    def test_etm4_golden(self):
        snapshot = encode.etm4_snapshot(self.folder, GOLDEN_ETM4)
        expected = {0x400000: 1, 0x400004: 11, 0x400008: 11, 0x40000c: 11, 0x400010: 1,
                    0x400014: 2, 0x400018: 2, 0x400020: 1, 0x400024: 0}
        found = self.instructions(snapshot, function='0x400000+')
        self.assertEqual({a: cycles for a, (cycles, _) in found.items()}, expected)
        stream = self.streams(snapshot)[0]
        self.assertEqual((stream['in_functions'], stream['unattributed'], stream['counted']),
                         ('40', '27', 'by batch'))
        self.check_sum(stream)

    def test_etm4_random(self):
        trace, sums = encode.etm4(4, 3000)
        self.check_equal(encode.etm4_snapshot(self.folder, trace), sums, encode.A64_BASE)

    # Intel PT

    def pt_words(self, trace):
        (self.folder / 'trace.bin').write_bytes(trace)
        (self.folder / 'code.bin').write_bytes(encode.x86_code())
        return ('--etm=pt', f'--code={encode.X86_BASE}:{self.folder}/code.bin',
                self.folder / 'trace.bin')

    def check_pt(self, sums, *words):
        stream = self.streams(*words)[0]
        self.check_sum(stream)
        self.assertEqual(int(stream['cycles']), sums.total())
        self.assertEqual(int(stream['gaps']), sums.gaps)
        self.assertEqual(stream['counted'], 'by block')
        rows = json.loads(run('--json', '--annotate=0x400000+', *words).stdout)['instructions']
        found = {int(row['address'], 16): (int(row['cycles']), int(row['executed']))
                 for row in rows}
        self.assertEqual(found, {a: (sums.cycles[a], n) for a, n in sums.executed.items()})

    def test_pt_blocks(self):
        """The figure in the comment of the decoder."""
        trace = (encode.pt_psb() + encode.PT_MODE_64 + encode.pt_pge(encode.X86_BASE)
                 + encode.pt_cyc(3) + encode.pt_tnt(1) + encode.pt_cyc(9) + encode.pt_tnt(1)
                 + encode.pt_cyc(30) + encode.PT_MTC + encode.pt_cyc(10) + encode.pt_tnt(0)
                 + encode.pt_pgd(encode.X86_LEAF))
        words = self.pt_words(trace)
        rows = json.loads(run('--json', '--annotate=0x400000+', *words).stdout)['instructions']
        found = {int(row['address'], 16) & 0xff: int(row['cycles']) for row in rows}
        self.assertEqual([found[a] for a in (0, 5, 8, 0xb)], [1, 1 + 3 + 14, 1 + 3 + 13,
                                                              0 + 3 + 13])

    def test_pt_random(self):
        trace, sums = encode.pt(4, 2000)
        self.check_pt(sums, *self.pt_words(trace))

    def test_pt_random_branches(self):
        trace, sums = encode.pt(7, 2000, branches=3)
        self.check_pt(sums, *self.pt_words(trace))

    def test_pt_gaps(self):
        trace, sums = encode.pt(5, 500, gaps=True)
        self.check_pt(sums, *self.pt_words(trace))

    def test_pt_several_branches(self):
        """The count before a TNT packet is the time of its first branch."""
        trace = (encode.pt_psb() + encode.PT_MODE_64 + encode.pt_pge(encode.X86_BASE)
                 + encode.pt_cyc(8) + encode.pt_tnt(1, 1, 0) + encode.pt_cyc(9)
                 + encode.pt_tip(encode.X86_BASE + 0x12) + encode.pt_pgd(encode.X86_BASE))
        rows = json.loads(run('--json', '--annotate=0x400000+',
                              *self.pt_words(trace)).stdout)['instructions']
        found = {int(row['address'], 16) & 0xff: int(row['cycles']) for row in rows}
        # 8 cycles for 4 instructions, then 9 for 6 of the loop, the call and 2 of the function
        self.assertEqual([found[a] for a in (0, 5, 8, 0xb, 0xd, 0x20, 0x25)],
                         [2, 4, 4, 4, 1, 1, 1])

    # perf.data

    def test_perf_intel_pt(self):
        code = self.folder / 'code.bin'
        code.write_bytes(encode.x86_code())
        trace, sums = encode.pt(6, 100)
        encode.perf_intel_pt(self.folder / 'perf.data', code, trace)
        self.check_pt(sums, self.folder / 'perf.data')

    def test_perf_cs_etm(self):
        code = self.folder / 'code.bin'
        code.write_bytes(encode.a64_code())
        # perf fills the data up to a multiple of eight bytes
        trace, sums = next(t for t in (encode.etm4(n, 100) for n in range(99))
                           if len(t[0]) % 8 == 0)
        encode.perf_cs_etm(self.folder / 'perf.data', code, trace)
        self.check_equal(self.folder / 'perf.data', sums, encode.A64_BASE)

    def test_perf_bad(self):
        path = self.folder / 'perf.data'
        encode.perf_data(path)
        self.assertIn('has no AUX data', run(path, status=1).stderr)
        encode.perf_data(path, struct.pack('<IHH', 70, 0, 3))
        self.assertIn('impossible length', run(path, status=1).stderr)
        encode.perf_data(path, encode.perf_record(70, struct.pack('<II', 1, 0)),
                         encode.perf_record(71, struct.pack('<QQQIIII', 1 << 40, 0, 0, 0, 0, 0, 0)))
        self.assertIn('beyond the end of the file', run(path, status=1).stderr)
        path.write_bytes(b'PERFILE2' + struct.pack('<Q', 16) + bytes(200))
        self.assertIn('into a pipe', run(path, status=1).stderr)
        path.write_bytes(b'2ELIFREP' + bytes(200))
        self.assertIn('other byte order', run(path, status=1).stderr)

    # Limits and bad input

    def snapshot(self):
        return encode.etm3_snapshot(self.folder / 's', GOLDEN_ETM3)

    def change(self, file, old, new):
        text = (self.folder / 's' / file).read_text()
        self.assertIn(old, text)
        (self.folder / 's' / file).write_text(text.replace(old, new))

    def test_no_counts(self):
        snapshot = self.snapshot()
        self.change('etm_0.ini', '0x10001800', '0x10000800')
        p = run(snapshot, status=1)
        self.assertIn('no cycle counts', p.stdout)
        self.assertIn('no stream has cycle counts', p.stderr)

    def test_missing_register(self):
        snapshot = self.snapshot()
        self.change('etm_0.ini', 'ETMCCER', 'ETMOTHER')
        self.assertIn('ETM_0 has no register ETMCCER', run(snapshot, status=1).stderr)

    def test_missing_files(self):
        snapshot = self.snapshot()
        self.change('cpu_0.ini', 'code.bin', 'gone.bin')
        self.assertIn('gone.bin: No such file', run(snapshot, status=1).stderr)
        self.change('cpu_0.ini', 'gone.bin', 'code.bin')
        (snapshot / 'trace.ini').unlink()
        self.assertIn('trace.ini: No such file', run(snapshot, status=1).stderr)

    def test_long_dump(self):
        snapshot = self.snapshot()
        self.change('cpu_0.ini', 'length=0x40', 'length=0x41')
        self.assertIn('has 64 bytes, but 65', run(snapshot, status=1).stderr)

    def test_names_out_of_the_directory(self):
        snapshot = self.snapshot()
        for name in ('../s/code.bin', 'a/../../s/code.bin', '/etc/passwd', '..'):
            self.change('cpu_0.ini', 'code.bin', name)
            self.assertIn('must be relative', run(snapshot, status=1).stderr)
            self.change('cpu_0.ini', name, 'code.bin')

    def test_not_ini(self):
        snapshot = self.snapshot()
        (snapshot / 'trace.ini').write_text('[trace_buffers]\nbuffers=buffer0\nnonsense\n')
        self.assertIn('trace.ini:3:', run(snapshot, status=1).stderr)
        self.change('etm_0.ini', '0x10001800', '12monkeys')
        self.assertIn('etm_0.ini:7: not a number: 12monkeys', run(snapshot, status=1).stderr)

    def test_large_dump(self):
        """4 GiB are mapped, not copied."""
        snapshot = self.snapshot()
        with open(snapshot / 'code.bin', 'r+b') as f:
            f.truncate(4 << 30)
        self.change('cpu_0.ini', 'length=0x40', 'length=0xffff8000')
        p = subprocess.run(['bash', '-c', 'ulimit -d 400000; exec "$@"', '-', KTAU, 'cycles',
                            snapshot], capture_output=True, text=True, check=False)
        if 'AddressSanitizer' not in p.stderr:
            self.assertEqual((p.returncode, p.stderr), (0, ''))
            self.assertIn('207', p.stdout)

    def test_missing_code(self):
        """Cycles of code that is missing are unread."""
        trace, sums = encode.etm3(3, 50)
        snapshot = encode.etm3_snapshot(self.folder / 's', trace)
        self.change('cpu_0.ini', 'length=0x40', 'length=0x20')
        stream = self.streams(snapshot)[0]
        self.check_sum(stream)
        self.assertLess(int(stream['in_functions']), sum(sums.cycles.values()))
        self.assertIn('code is missing in 1 pages: 0x8000', run(snapshot).stdout)

    def test_formatted(self):
        """Two sources in frames of 16 bytes, and one that no device has."""
        first, sums = encode.etm3(3, 50)
        snapshot = encode.etm3_snapshot(self.folder / 's', b'')
        (snapshot / 'trace.bin').write_bytes(frames([(0x10, first), (0x21, bytes(70))]))
        self.change('trace.ini', 'format=source_data', 'format=coresight')
        stream = self.streams(snapshot)[0]
        self.check_sum(stream)
        self.assertEqual(int(stream['cycles']), sums.total())
        garbage = bytearray((snapshot / 'trace.bin').read_bytes())
        random.Random(1).shuffle(garbage)
        (snapshot / 'trace.bin').write_bytes(garbage)
        self.check_sum(self.streams(snapshot, status=None)[0])

    def test_damage(self):
        """Decoding goes on behind what is damaged, and the sum holds."""
        one, sums = encode.etm3(3, 40)
        two, more = encode.etm3(4, 40)
        snapshot = encode.etm3_snapshot(self.folder / 's', one + bytes(range(7, 60)) + two)
        stream = self.streams(snapshot)[0]
        self.check_sum(stream)
        self.assertGreaterEqual(int(stream['cycles']), sums.total() + more.total())
        self.assertIn('errors in the trace; the first one:', run(snapshot).stdout)

    def test_fuzz(self):
        """Each truncation of the golden trace, and flipped bits in all formats."""
        rnd = random.Random(int(os.environ.get('CYCLES_SEED', '1')))
        makers = [(lambda n: encode.etm3(n, 3, gaps=True)[0], encode.etm3_snapshot),
                  (lambda n: encode.etm4(n, 3)[0], encode.etm4_snapshot)]
        for length in range(len(GOLDEN_ETM3)):
            encode.etm3_snapshot(self.folder / 's', GOLDEN_ETM3[:length])
            for stream in self.streams(self.folder / 's', status=None):
                self.check_sum(stream)
        for n in range(int(os.environ.get('CYCLES_ROUNDS', '60'))):
            make, write = makers[n % 2]
            trace = flip(rnd, make(n))
            write(self.folder / 's', trace)
            for stream in self.streams(self.folder / 's', status=None):
                self.check_sum(stream)
            for stream in self.streams(*self.pt_words(flip(rnd, encode.pt(n, 3, gaps=True)[0])),
                                       status=None):
                self.check_sum(stream)

    def test_usage(self):
        for words in (['--etm=etm9', 'x'], ['--format=xml', 'x'], ['--code=5', 'x'], [], ['a', 'b'],
                      ['--regs=A=1', 'x'], ['--stream=300', 'x']):
            run(*words, status=2)
        self.assertIn('No such file', run(self.folder / 'nothing', status=1).stderr)
        (self.folder / 'text').write_text('text')
        self.assertIn('neither a snapshot directory nor perf.data',
                      run(self.folder / 'text', status=1).stderr)
        self.assertIn('nowhere: no instruction of it was executed',
                      run('--annotate=nowhere', self.snapshot(), status=1).stderr)


def flip(rnd, trace):
    damaged = bytearray(trace)
    for _ in range(rnd.randrange(1, 4)):
        damaged[rnd.randrange(len(damaged))] ^= 1 << rnd.randrange(8)
    return bytes(damaged[:rnd.randrange(1, len(damaged))] if rnd.random() < .3 else damaged)


def frames(streams):
    """Frames of 16 bytes: the id of a source, and 14 bytes of its data."""
    out = bytearray()
    for source, data in streams:
        data += b'\x66' * (-len(data) % 14)      # packets that ETMv3 ignores
        for at in range(0, len(data), 14):
            frame = bytearray([source << 1 | 1]) + data[at:at + 14]
            last = 0
            for i in range(2, 15, 2):
                last |= (frame[i] & 1) << i // 2
                frame[i] &= 0xfe
            out += frame + bytes([last])
    return bytes(out)


def make_elf(code, base, functions):
    """A 32-bit ARM executable with one section of code and a symbol table."""
    names = b'\0' + b''.join(name.encode() + b'\0' for name in functions)
    symbols = bytes(16)
    for name, (address, size) in functions.items():
        symbols += struct.pack('<IIIBBH', names.index(name.encode()), address, size, 0x12, 0, 1)
    sections = b'\0.text\0.symtab\0.strtab\0.shstrtab\0'
    parts = [code, symbols, names, sections]
    offsets = []
    at = 52
    for part in parts:
        offsets.append(at)
        at += len(part)
    head = b'\x7fELF\x01\x01\x01' + bytes(9) + struct.pack(
        '<HHIIIIIHHHHHH', 2, 40, 1, base, 0, at, 0x5000000, 52, 0, 0, 40, 5, 4)
    table = bytes(40)
    table += struct.pack('<10I', 1, 1, 6, base, offsets[0], len(code), 0, 0, 4, 0)
    table += struct.pack('<10I', 7, 2, 0, 0, offsets[1], len(symbols), 3, 1, 4, 16)
    table += struct.pack('<10I', 15, 3, 0, 0, offsets[2], len(names), 0, 0, 1, 0)
    table += struct.pack('<10I', 23, 3, 0, 0, offsets[3], len(sections), 0, 0, 1, 0)
    return head + b''.join(parts) + table


if __name__ == '__main__':
    runner = TAPTestRunner()
    runner.set_stream(True)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], warnings='ignore',
                  testRunner=runner)
