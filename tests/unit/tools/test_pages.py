# SPDX-License-Identifier: GPL-2.0-only
"""ktau pages on traces that are written here: test_pages.py BUILD."""

import collections
import gzip
import json
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import pages_encode as encode
import pages_oracle as oracle
from tap.runner import TAPTestRunner

BUILD = pathlib.Path(sys.argv[1]).resolve()
KTAU = BUILD / 'tools/ktau/ktau'
DATA = pathlib.Path(__file__).parent / 'data/pages'


def run(*words, status=0):
    p = subprocess.run([KTAU, 'pages', *map(str, words)], capture_output=True, check=False,
                       timeout=600)
    p.stdout, p.stderr = p.stdout.decode(), p.stderr.decode()
    if p.returncode != status:
        raise AssertionError(f'status {p.returncode}: {words}: {p.stdout[:500]} {p.stderr[:2000]}')
    return p


def built_with():
    """The options of the build."""
    options = BUILD / 'options.mk'
    return re.findall(r'^HAVE_(\w+) \?= y', options.read_text(), re.M)


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()      # pylint: disable=consider-using-with
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def save(self, data, name='trace.ktau'):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def saved(self, name, **options):
        return self.save(encode.encode(encode.parse((DATA / f'{name}.txt').read_text()),
                                       **options))

    def listing(self, folder):
        """All files of a folder as one text."""
        return ''.join(f'{path.relative_to(folder)}:\n{path.read_text()}'
                       for path in sorted(folder.rglob('*')) if path.is_file())


class Dump(Pages):
    """ktau dump prints what was encoded."""

    HEXADECIMAL = ('page', 'to')
    FLAGS = ('write', 'first-store', 'kernel', 'remote', 'fetch', 'zero', 'again')

    def text(self, name, flags, fields):
        words = [name, ','.join(w for i, w in enumerate(self.FLAGS) if flags >> i & 1)]
        for field in encode.TYPES[name][1].split():
            value = fields.get(field[1:], 0)
            shown = format(value, '#x') if field[1:] in self.HEXADECIMAL and value else value
            words.append(f'{field[1:]}={shown}')
        return ' '.join(filter(None, words))

    def test_dump(self):
        entries = oracle.Script(3).write(1500)
        entries.append((10 ** 6, 'skipped', 0, {'page': 3, 'pages': 4, 'space': 1}))
        entries.append((10 ** 6, 'evict', 65, {'page': 3, 'space': 1, 'thread': 2}))
        entries.append((10 ** 6, 'counted', 0, {'pages': 9, 'stores': 4, 'space': 1, 'thread': 2}))
        self.assertEqual({entry[1] for entry in entries}, set(encode.TYPES))
        for order in '<>':
            path = self.save(encode.encode(entries, order))
            p = subprocess.run([KTAU, 'dump', path], capture_output=True, check=True)
            self.assertEqual([line.split(' task 0 ')[1] for line in p.stdout.decode().splitlines()
                              if ' task 0 ' in line],
                             [self.text(*entry[1:]) for entry in entries])


class Merge(Pages):
    def test_golden(self):
        for golden in sorted(DATA.glob('*')):
            name, kind = golden.name.split('.')
            if kind not in ('basic', 'basic-named', 'per-process', 'per-thread'):
                continue
            for order in '<>':
                with self.subTest(golden=golden.name, order=order):
                    path = self.saved(name, order=order)
                    if kind.startswith('basic'):
                        got = run('merge', f'--type={kind}', path).stdout
                    else:
                        out = self.folder / f'{golden.name}{ord(order)}'
                        run('merge', f'--type={kind}', '-o', out, path)
                        got = self.listing(out)
                    self.assertEqual(got, golden.read_text())

    def test_messages(self):
        for name in ('contradictions', 'lost'):
            path = self.saved(name)
            expected = (DATA / f'{name}.messages').read_text().replace('INPUT', str(path))
            self.assertEqual(run('merge', path).stderr, expected)
            p = run('merge', '--strict', path, status=1)
            self.assertEqual(p.stdout, (DATA / f'{name}.basic').read_text())
        run('merge', '--strict', self.saved('sharing'))

    def test_skipped(self):
        """Each mapping once, with its largest size; not the pages of the kernel."""
        skipped = (f'1 skipped space={space} page={page} pages={pages} vm_flags={flags}\n'
                   for space, page, pages, flags in (
                       (1, 512, 512, 0x103), (1, 512, 512, 0x101), (1, 512, 1024, 0x103),
                       (2, 512, 1, 0x103), (1, 9, 4, 0x1), (1, 20, 3, 0x403), (2, 30, 1, 0x803),
                       (1, 40, 256, 0x203), (1, 0, 1 << 35, 0x1000), (1, 50, 0, 0x403)))
        text = '1 space space=1\n1 space space=2\n' + ''.join(skipped)
        text += '2 map page=1 pages=1 space=1\n2 reference page=1 space=1\n'
        expected = ('skipped: 2 mappings, 4 MiB of huge pages of hugetlbfs',
                    'skipped: 1 mapping, 1 MiB of memory under userfaultfd',
                    'skipped: 1 mapping, 12 KiB of memory of devices',
                    'skipped: 1 mapping, 4 KiB of shadow stacks',
                    'skipped: 1 process, from when a virtual machine or a device had page tables '
                    'for it')
        path = self.save(encode.encode(encode.parse(text)))
        for verb in 'merge', 'misses', 'workingset':
            lines = run(verb, path).stderr.splitlines()
            self.assertEqual([line for line in lines if 'skipped' in line],
                             [f'ktau pages: {line}' for line in expected])

    def test_skipped_changes(self):
        """Memory counts once while a mapping is split and grows, and again after UNMAP."""
        slot = {'+': '1 skipped page={} pages={} space=1 vm_flags=0x203\n',
                '-': '1 unmap page={} pages={} space=1\n',
                '*': '1 unmap page={} pages={} space=2\n'}
        device = '1 skipped page=4096 pages=1 space=1 vm_flags=0x403\n'
        for changes, expected in (
                ('4096+512 4352+256 4096+256', '1 mapping, 2 MiB'),
                ('4096+512 4096+1024 4096*9000 4096+1024', '1 mapping, 4 MiB'),
                ('4096+512 3840+1024', '1 mapping, 4 MiB'),
                ('4096+256 4608+256 4096+768', '2 mappings, 3 MiB'),
                ('4096+512 4096-512 4096+512 4096-512', '2 mappings, 4 MiB'),
                ('4096+512 4352-256 4096+512', '1 mapping, 3 MiB'),
                ('4096+768 4352-256 4096+768', '1 mapping, 3 MiB'),
                ('4096+768 4352-256 4352-512 4096-256 4096+768', '2 mappings, 6 MiB'),
                ('4096+256 4608+256 4000-9000 4096+768', '3 mappings, 5 MiB')):
            text = '1 space space=1\n1 space space=2\n'
            for page, kind, pages in re.findall(r'(\d+)(.)(\d+)', changes):
                text += slot[kind].format(page, pages)
            text += device * 2 + '1 map page=1 pages=1 space=1\n2 reference page=1 space=1\n'
            with self.subTest(changes=changes):
                path = self.save(encode.encode(encode.parse(text)))
                self.assertEqual(
                    [line for line in run('merge', path).stderr.splitlines() if 'skip' in line],
                    [f'ktau pages: skipped: {expected} of memory under userfaultfd',
                     'ktau pages: skipped: 1 mapping, 4 KiB of memory of devices'])

    def test_userfaultfd(self):
        """Forks are not under it; what a space itself maps anew is recorded again."""
        text = ('1 space space=1\n1 skipped page=4096 pages=512 space=1 vm_flags=0x203\n'
                '1 skipped page=9000 pages=8 pgoff=3 inode=7 dev=8 space=1 vm_flags=0x209\n')
        fork = '2 space space=2 reason=fork parent=1\n3 space space=3 reason=fork parent=2\n'
        for more, wrong in (('4 reference page=4100 space=2\n4 reference page=4101 space=3\n', 0),
                            ('4 reference write page=9001 space=2\n'
                             '5 reference page=9001 space=3\n', 0),
                            ('4 reference page=4100 space=1\n', 1),
                            ('4 reference write page=9001 space=1\n', 1),
                            ('4 skipped page=4096 pages=512 space=2 vm_flags=0x203\n'
                             '5 reference page=4100 space=2\n6 reference page=4100 space=3\n', 1),
                            ('4 move page=4096 to=5000 pages=8 space=2\n'
                             '5 reference page=5001 space=2\n', 0),
                            ('4 map page=4096 pages=512 space=1 vm_flags=3\n'
                             '5 reference page=4100 space=1\n', 0)):
            with self.subTest(more=more):
                p = run('merge', '--type=basic-named',
                        self.save(encode.encode(encode.parse(text + fork + more))))
                self.assertEqual('unmapped_page: 1,' in p.stderr, bool(wrong), p.stderr)
                self.assertEqual(p.stderr.count('contradiction'), wrong, p.stderr)
                # Whatever forks of a file's mapping reference is one page of the file.
                if 'page=9001 space=2' in more:
                    self.assertEqual(p.stdout.splitlines()[1:], ['3 w 1 f', '4 r 1 f'])
        for flags in 0x101, 0x401, 0x801, 1:
            text = (f'1 space space=1\n1 skipped page=1 pages=2 space=1 vm_flags={flags}\n'
                    '2 space space=2 reason=fork parent=1\n3 reference page=1 space=2\n')
            path = self.save(encode.encode(encode.parse(text)))
            self.assertIn('unmapped_page: 1,', run('misses', path).stderr)

    def test_lost_without_place(self):
        data = encode.encode(encode.parse('1 space space=1\n2 reference page=1 space=1'))
        path = self.save(data[:-232] + encode.end(lost_no_ring=3))
        self.assertIn('3 slots were lost at unknown places', run('merge', path).stderr)
        run('merge', '--strict', path, status=1)

    def test_filters(self):
        path = self.saved('sharing')
        lines = run('merge', path).stdout.splitlines()

        def left(*words):
            return [line for line in lines if line not in run('merge', *words, path).stdout]
        self.assertEqual(left('--first-store=drop'), ['100 w 4'])
        self.assertEqual(left('--no-kernel'), ['180 w 7'])
        self.assertEqual(left('--no-fetch'), ['190 r 1'])
        self.assertEqual(left('--no-files'), ['30 R 1', '40 W 1', '40 W 2'])
        self.assertEqual(left('--from=0.000000030', '--to=0.00000018'),
                         ['10 r 1', '20 r 1', '190 r 1'])
        self.assertEqual(run('merge', '--time=ticks', path).stdout.splitlines()[:2],
                         ['# ktau pages: basic, time in ticks', '1010 r 1'])

    def test_compressed(self):
        path, expected = self.saved('sharing'), (DATA / 'sharing.basic').read_text()
        run('merge', '-o', self.folder / 'out.gz', path)
        self.assertEqual(gzip.decompress((self.folder / 'out.gz').read_bytes()).decode(), expected)
        run('merge', '--type=per-process', '-o', self.folder / 'all.gz', path)
        names = sorted(path.name for path in (self.folder / 'all').iterdir())
        self.assertEqual(names, ['11-101.gz', '12-102.gz', '13-103.gz', '15-105.gz'])
        if not shutil.which('zstd') or 'ZSTD' not in built_with():
            self.skipTest('without zstd')
        run('merge', '-o', self.folder / 'out.zst', path)
        p = subprocess.run(['zstd', '-dc', self.folder / 'out.zst'], capture_output=True,
                           check=True)
        self.assertEqual(p.stdout.decode(), expected)

    def binary(self, path, *words):
        run('merge', '--format=binary', '-o', self.folder / 'out', *words, path)
        data = (self.folder / 'out').read_bytes()
        self.assertEqual(data[:10], b'KTAUPAGE\x01\x00')
        return list(struct.iter_unpack('<Q6sBB', data[16:]))

    def test_binary(self):
        got = [f'{time} {chr(letter)} {int.from_bytes(page, "little")} {"af"[flags]}'
               for time, page, letter, flags in self.binary(self.saved('sharing'))]
        expected = (DATA / 'sharing.basic-named').read_text().splitlines()[1:]
        self.assertEqual(got, expected)

    def test_random(self):
        """The same records as the oracle's, in all outputs, and the same contradictions."""
        for seed in range(8):
            with self.subTest(seed=seed):
                entries = oracle.Script(seed).write(2000)
                world = oracle.World().follow(entries)
                path = self.save(encode.encode(entries, '<>'[seed % 2], per_record=97))
                origin = entries[0][0]
                p = run('merge', '--type=basic-named', path)
                self.assertEqual(p.stdout.splitlines()[1:], [
                    f'{r.ticks - origin} {r.letter} {r.number} {"af"[r.of_file]}'
                    for r in world.records])
                wrong = {line.split(': ')[2]: int(line.split(': ')[3].split(',')[0])
                         for line in p.stderr.splitlines() if 'contradiction' in line}
                self.assertEqual(wrong, {k: n for k, n in world.wrong.items() if n})
                self.check_split(path, world, origin)

    def check_split(self, path, world, origin):
        expected = collections.defaultdict(list)
        for r in world.records:
            name = 'unknown'
            if r.thread:
                serial, tid, (pid, first) = r.thread
                name = f'{pid}-{first}/{tid}-{serial}'
            expected[name].append(f'{r.ticks - origin} {r.letter} {r.number}')
        out = self.folder / 'threads'
        run('merge', '--type=per-thread', '-o', out, path)
        got = {str(p.relative_to(out)): p.read_text().splitlines()[1:]
               for p in out.rglob('*') if p.is_file()}
        self.assertEqual(got, expected)
        subprocess.run(['rm', '-r', out], check=True)

    def test_several(self):
        """Two sessions of one boot in the order of time, with one number for a file's page."""
        text = ('{0} space space=1\n{0} thread thread=1 space=1 serial={1} tid={1} tgid={1}\n'
                '{0} map page={1} pages=1 inode=5 dev=1 space=1 vm_flags=1\n'
                '{2} reference page={1} space=1 thread=1\n')
        one = self.save(encode.encode(encode.parse(text.format(100, 3, 140))), '1.ktau')
        two = self.save(encode.encode(encode.parse(text.format(110, 4, 130)), session=2), '2.ktau')
        self.assertEqual(run('merge', '--type=basic-named', one, two).stdout.splitlines()[1:],
                         ['30 r 1 f', '40 r 1 f'])
        other = self.save(encode.encode(encode.parse(text.format(1, 4, 2)), boot=2), '3.ktau')
        for verb in 'merge', 'misses', 'workingset':
            self.assertEqual(run(verb, '/none', status=1).stderr,
                             'ktau pages: /none: No such file or directory\n')
        self.assertIn('different boots', run('merge', one, other, status=1).stderr)

    def test_twice(self):
        """The same file, by any name, or a copy of it."""
        one, copy, link = self.saved('sharing'), self.folder / 'copy', self.folder / 'link'
        shutil.copy(one, copy)
        link.symlink_to(one)
        for verb in 'merge', 'misses', 'workingset':
            for words, said in (((one, one), f'{one} is given twice'),
                                ((one, link), f'{one} and {link} are the same file'),
                                ((copy, one), f'{copy} and {one} are of the same session')):
                p = run(verb, *words, status=1)
                self.assertEqual((p.stdout, p.stderr), ('', f'ktau pages: {said}\n'))

    def test_many_files(self):
        """More processes than files that are open at a time."""
        text = ''.join(f'1 space space={i}\n1 thread thread={i} space={i} serial={i} tid={i} '
                       f'tgid={i}\n1 map page=1 pages=9 space={i}\n' for i in range(1, 201))
        text += ''.join(f'{9 + k} reference page={k} space={i} thread={i}\n'
                        for k in (1, 2, 3) for i in range(1, 201))
        text += 'lost 7\n20 reference page=1 space=200 thread=200\n'
        for suffix, read in (('', pathlib.Path.read_bytes),
                             ('.gz', lambda path: gzip.decompress(path.read_bytes()))):
            out = self.folder / f'many{len(suffix)}'
            run('merge', '--type=per-process', f'-o{out}{suffix}',
                self.save(encode.encode(encode.parse(text))))
            for i in range(1, 201):
                lines = read(out / f'{i}-{i}{suffix}').decode().splitlines()
                self.assertEqual(lines[1:5], [*(f'{8 + k} r {(k - 1) * 200 + i}'
                                                for k in (1, 2, 3)), '19 L 7'])

    def test_forks_share(self):
        """A thousand forks of 100,000 pages take memory for what they change only."""
        entries = [(1, 'space', 0, {'space': 1}),
                   (1, 'map', 0, {'page': 0, 'pages': 1 << 20, 'space': 1})]
        entries += [(2, 'reference', 1, {'page': i, 'space': 1}) for i in range(100000)]
        for i in range(2, 1002):
            entries.append((3, 'space', 0, {'space': i, 'parent': 1, 'reason': 1}))
            entries.append((3, 'cow', 0, {'page': i * 90, 'space': i}))
        path = self.save(encode.encode(entries))
        limited = 'ulimit -v 60000; exec "$@" > /dev/null'
        if 'san' not in BUILD.parts:
            subprocess.run(['bash', '-c', limited, 'sh', KTAU, 'pages', 'merge', path], check=True)

    def test_example(self):
        """The consumer of docs/dev/consumers.md."""
        p = subprocess.run([BUILD / 'tests/unit/tools/pages_example', self.saved('sharing')],
                           capture_output=True, check=True)
        self.assertEqual(p.stdout.decode(), 'anonymous: 6 references, 3 stores\n'
                         'shared file: 0 references, 0 stores\n'
                         'private file: 7 references, 1 stores\n')

    def test_types(self):
        lines = run('merge', '--type=list').stdout.splitlines()
        self.assertEqual([line.split()[0] for line in lines],
                         ['basic', 'basic-named', 'per-process', 'per-thread'])

    def test_damage(self):
        data = self.saved('sharing').read_bytes()
        for at in range(384, len(data), 37):
            for value in (0, 255):
                path = self.save(data[:at] + bytes([value]) + data[at + 1:])
                p = subprocess.run([KTAU, 'pages', 'merge', path], capture_output=True,
                                   check=False, timeout=60)
                self.assertIn(p.returncode, (0, 1), (at, value, p.stderr))

    def test_random_damage(self):
        """Any bytes in any field: no crash, and an end."""
        rng = random.Random(5)
        for seed in range(60):
            data = bytearray(encode.encode(oracle.Script(seed).write(300)))
            for _ in range(rng.randrange(1, 9)):
                at, size = rng.randrange(384, len(data) - 8), rng.choice((1, 2, 4, 8))
                data[at:at + size] = rng.choice((bytes(8), b'\xff' * 8, rng.randbytes(8)))[:size]
            path = self.save(bytes(data))
            out = self.folder / f'out{seed}'
            for words in (('merge', '--type=per-thread', '-o', out), ('workingset',),
                          ('misses', '--policy=lru,fifo,clock,opt', '--per-process')):
                p = subprocess.run([KTAU, 'pages', *words, path], capture_output=True,
                                   check=False, timeout=60)
                self.assertIn(p.returncode, (0, 1), (seed, words, p.stderr))
                self.assertFalse(p.returncode and not p.stderr, (seed, words))

    def test_usage(self):
        path = self.saved('sharing')
        for words in ((), ('merge',), ('merge', '--policy=lru', path),
                      ('misses', '--tau=1s', path), ('misses', '--format=binary', path),
                      ('misses', '--sizes=0', path), ('misses', '--sizes=9..3', path),
                      ('misses', '--policy=lfu', path), ('workingset', '--tau=0', path),
                      ('workingset', '--tau=1h', path), ('workingset', '-o', 'x', path), ('split', path), ('merge', '--type=none', path),
                      ('workingset',), ('workingset', '--pid=1', path), ('workingset', '--pid=1', '--all'),
                      ('workingset', '--pid=1', '--budget=0'), ('record', '--all', 'true'),
                      ('record', '--all', '--pid=1'),
                      ('merge', '--time=days', path), ('merge', '--from=x', path)):
            run(*words, status=2)
        run('merge', self.folder / 'none', status=1)
        run('record', '--cgroup=/', 'true', status=1)
        run('merge', '--type=per-thread', path, status=1)
        run('merge', '-o', self.folder / 'none/file', path, status=1)
        self.assertIn('no references', run('merge', self.save(
            encode.stream() + encode.end()), status=1).stderr)


class Simulate(Pages):
    """misses and workingset, compared with simulations that search lists."""

    def rows(self, *words, key):
        return json.loads(run(*words, '--format=json').stdout)[key]

    def string(self, seed, nr):
        """(time, page) with a few phases, each with favourite pages."""
        r = random.Random(seed)
        time, touches = 100, []
        for i in range(nr):
            time += r.choice((0, 1, 1, 2, 40))
            first = 1 + i * 5 // nr * 7
            touches.append((time, first + min(r.randrange(30), r.randrange(30))))
        return touches

    def merged(self, touches, name='merged'):
        text = ''.join(f'{time} r {page}\n' for time, page in touches)
        return self.save(b'# ktau pages: basic, time in ns\n' + text.encode(), name)

    def test_misses(self):
        sizes = [1, 2, 3, 5, 8, 13, 16, 20, 21, 30, 49, 70]
        for seed in range(5):
            touches = self.string(seed, 500)
            path = self.merged(touches)
            rows = self.rows('misses', '--policy=lru,fifo,clock,opt', '--sizes',
                             ','.join(map(str, sizes)), path, key='misses')
            got = {(row['policy'], row['pages']): int(row['misses']) for row in rows}
            string = [page for _, page in touches]
            for policy, simulate in oracle.POLICIES.items():
                expected = {(policy, size): simulate(string, size) for size in sizes}
                self.assertEqual({k: n for k, n in got.items() if k[0] == policy}, expected)
            self.assertEqual({int(row['references']) for row in rows}, {len(string)})

    def test_distances_renumber(self):
        """More references and pages than the first tree has positions."""
        r = random.Random(3)
        string = [int(r.random() ** 2 * 9000) for _ in range(12000)]
        rows = self.rows('misses', '--sizes=1,10,100,1000,5000',
                         self.merged(enumerate(string)), key='misses')
        memory, misses = [], dict.fromkeys((1, 10, 100, 1000, 5000), 0)
        for page in string:
            depth = memory.index(page) if page in memory else 1 << 30
            for size in misses:
                misses[size] += depth >= size
            del memory[depth:depth + 1]
            memory.insert(0, page)
        sizes = {row['pages']: int(row['misses']) for row in rows}
        self.assertEqual(sizes, misses)

    def test_window_is_enough(self):
        """From three windows on, LRU misses of a trace are those of all references."""
        touches = list(encode.sort_program(random.Random(1).randrange))
        whole = self.merged(((time, page) for time, page, _ in touches), 'whole')
        left = self.merged(((time, page) for time, page, _ in encode.window(touches, 16)), 'left')
        sizes = '--sizes=48,56,64,80,100,128,200,256,300,400,600'
        for one, other in zip(self.rows('misses', sizes, whole, key='misses'),
                              self.rows('misses', sizes, left, key='misses')):
            self.assertAlmostEqual(int(one['misses']), int(other['misses']),
                                   delta=int(one['misses']) * 0.002)

    def check_sets(self, rows, touches, taus, interval):
        start, end = touches[0][0], touches[-1][0]
        moments = range(start + interval, end + interval, interval)
        expected = [(moment, tau, len(oracle.working_set(touches, tau, moment)))
                    for moment in moments for tau in taus]
        self.assertEqual([(int(row['time_ns']), int(row['tau_ns']), row['pages'])
                          for row in rows], expected)

    def test_workingset(self):
        for seed in range(4):
            touches = self.string(seed, 150)
            path = self.merged(touches)
            for interval in (1, 7, 100, 2500):
                rows = self.rows('workingset', '--tau=3,60ns,1us,300', f'--interval={interval}',
                                 path, key='workingset')
                self.check_sets(rows, touches, (3, 60, 1000, 300), interval)
        rows = self.rows('workingset', '--tau=20,50', path, key='workingset')
        self.check_sets(rows, touches, (20, 50), 50)

    def test_forms(self):
        """The same misses from a trace, its merged files, and their compressed forms."""
        trace = self.saved('sharing')
        expected = run('misses', '--format=csv', '--sizes=1..16', trace).stdout
        run('merge', '--type=basic-named', '-o', self.folder / 'text', trace)
        run('merge', '--type=basic-named', '-o', self.folder / 'text.gz', trace)
        run('merge', '--format=binary', '-o', self.folder / 'binary', trace)
        run('merge', '--format=binary', '-o', self.folder / 'binary.gz', trace)
        names = ['text', 'text.gz', 'binary', 'binary.gz']
        if 'ZSTD' in built_with():
            names += ['text.zst', 'binary.zst']
            run('merge', '--type=basic-named', '-o', self.folder / 'text.zst', trace)
            run('merge', '--format=binary', '-o', self.folder / 'binary.zst', trace)
        for name in names:
            got = run('misses', '--format=csv', '--sizes=1..16', self.folder / name).stdout
            # The window, of which ~ depends, is in the trace only.
            self.assertEqual(got, expected.replace(',1,16,', ',0,16,'))
        self.assertIn('basic-named', (self.folder / 'text').read_text())

    def test_zstd(self):
        """A file that is larger than the buffers, in several frames, and without its end."""
        if 'ZSTD' not in built_with():
            path = self.save(b'\x28\xb5\x2f\xfd and more')
            self.assertIn('zstd', run('misses', path, status=1).stderr)
            self.skipTest('without zstd')
        trace = self.save(encode.session(), 'session.ktau')
        for form in 'text', 'binary':
            plain, packed = self.folder / form, self.folder / f'{form}.zst'
            for path in plain, packed:
                run('merge', f'--format={form}', '-o', path, trace)
            self.assertGreater(plain.stat().st_size, 1 << 16)
            expected = run('misses', plain).stdout
            self.assertEqual(run('misses', packed).stdout, expected)
            data = packed.read_bytes()
            for n in (4, 5, 9, 100, len(data) - 1):
                p = run('misses', self.save(data[:n]), status=1)
                self.assertIn('cannot read', p.stderr)
                self.assertIn('truncated', p.stderr)
            self.assertIn('cannot read', run('misses', self.save(data[:50] + data), status=1).stderr)
        lines = plain.with_name('text').read_bytes()
        data = (self.folder / 'text.zst').read_bytes()
        double = self.save(data + data)
        p = run('misses', self.save(lines + lines, 'two'))
        self.assertEqual(run('misses', double).stdout, p.stdout)
        with open(double, 'rb') as f:
            got = subprocess.run([KTAU, 'pages', 'misses', '--input=merged', '-'], stdin=f,
                                 capture_output=True, check=True)
        self.assertEqual(got.stdout.decode(), p.stdout)

    def test_per_process(self):
        path = self.saved('sharing')
        rows = self.rows('misses', '--per-process', '--sizes=1', path, key='misses')
        got = {row['process']: (int(row['references']), int(row['compulsory_anonymous']),
                                int(row['compulsory_file'])) for row in rows}
        self.assertEqual(got, {'11-101': (7, 2, 2), '12-102': (3, 1, 1), '13-103': (3, 0, 2),
                               '15-105': (3, 2, 1)})
        rows = self.rows('workingset', '--per-process', '--tau=50', path, key='workingset')
        self.assertEqual([row['pages'] for row in rows if row['process'] == '12-102'],
                         [2, 0, 0, 0])
        text = self.folder / 'text'
        run('merge', '-o', text, path)
        self.assertIn('which process', run('misses', '--per-process', text, status=1).stderr)

    def test_window(self):
        """Sizes below three windows of 64 pages are marked."""
        rows = self.rows('misses', '--sizes=64,191,192', self.saved('sharing'), key='misses')
        self.assertEqual([(row['pages'], row['approximate']) for row in rows],
                         [(64, 1), (191, 1), (192, 0)])
        text = run('misses', '--sizes=191,192', self.saved('sharing')).stdout.splitlines()
        self.assertEqual([line.split()[:3] for line in text[-2:]],
                         [['lru', '191', '~'], ['lru', '192', '7']])

    def test_lackey(self):
        path = self.save(b'==1== lackey\nI  00001000,4\n L 00002ffe,4\n S 00001008,8\n'
                         b' M 00003000,8\n')
        rows = self.rows('misses', '--sizes=1,2,3', path, key='misses')
        self.assertEqual([(row['pages'], int(row['misses'])) for row in rows],
                         [(1, 5), (2, 4), (3, 3)])
        rows = self.rows('misses', '--no-fetch', '--sizes=3', path, key='misses')
        self.assertEqual(rows[0]['references'], '4')

    def test_split(self):
        """Pages of files and of anonymous memory are told apart if the input does."""
        trace, named = self.saved('sharing'), self.folder / 'named'
        run('merge', '--type=basic-named', '-o', named, trace)
        run('merge', '--type=basic-named', '--format=binary', '-o', self.folder / 'binary', trace)
        run('merge', '-o', self.folder / 'basic', trace)
        lackey = self.save(b'==1== lackey\nI  00001000,4\n', 'lackey')
        for path in trace, named, self.folder / 'binary':
            row = self.rows('misses', '--sizes=1', path, key='misses')[0]
            self.assertEqual((row['compulsory_anonymous'], row['compulsory_file']), (4, 3))
            self.assertIn(' pages: 4 anonymous, 3 of files\n', run('misses', path).stdout)
            row = self.rows('workingset', path, key='workingset')[0]
            self.assertEqual((row['anonymous'], row['file']), (4, 3))
            self.assertIn('anonymous  of files', run('workingset', path).stdout)
        for path in self.folder / 'basic', lackey:
            row = self.rows('misses', '--sizes=1', path, key='misses')[0]
            self.assertEqual((row['compulsory_anonymous'], row['compulsory_file']), (None, None))
            self.assertRegex(run('misses', '--format=csv', path).stdout, r'\n[^\n]*,,,[^\n]*\n')
            row = self.rows('workingset', path, key='workingset')[0]
            self.assertEqual((row['anonymous'], row['file']), (None, None))
            for verb in 'misses', 'workingset':
                text = run(verb, path).stdout
                self.assertNotIn('file', text)
                self.assertNotIn('anonymous', text)

    def test_bad_input(self):
        for text in ('1 r', '1 q 2', 'x r 2', '1 r 2 z', '1 r 2 a 3', '1 r 2' + ' ' * 300):
            path = self.save(f'# ktau pages: basic, time in ns\n1 r 5\n{text}\n'.encode())
            self.assertIn('line 3', run('misses', path, status=1).stderr)
        path = self.save(b'# ktau pages: basic, time in ticks\n1 r 5\n')
        run('misses', path)
        self.assertIn('ticks', run('workingset', path, status=1).stderr)
        run('merge', '--format=binary', '-o', self.folder / 'out', self.saved('sharing'))
        data = (self.folder / 'out').read_bytes()
        self.assertIn('truncated', run('misses', self.save(data[:-3]), status=1).stderr)
        self.assertIn('unknown kind', run('misses', self.save(data[:-2] + b'xx'), status=1).stderr)
        for line in ('2 r 18446744073709551616', '18446744073709551616 r 2',
                     '2 r 99999999999999999999999'):
            path = self.save(f'# ktau pages: basic, time in ns\n1 r 5\n{line}\n'.encode())
            self.assertEqual(run('misses', path, status=1).stderr,
                             f'ktau pages: {path}: line 3: a number of more than 64 bits\n')
        for line in ('I  10000000000000000,4', ' L 1000,18446744073709551616'):
            path = self.save(f'==1== lackey\n{line}\n'.encode())
            self.assertIn('line 2: a number of more', run('misses', path, status=1).stderr)
        for line in ('-2 r 3', '2 r -3', '2 r 0x3', '2r 3', '2 r3x', '2', '2 r', '2 r 3 f f', ''):
            path = self.save(f'# ktau pages: basic, time in ns\n1 r 5\n{line}\n'.encode())
            self.assertIn('line 3: not a line', run('misses', path, status=1).stderr)
        self.assertEqual(json.loads(run('misses', '--format=json', self.save(
            b'# ktau pages: basic, time in ns\n1 r 18446744073709551615\r\n')).stdout)
            ['misses'][0]['misses'], '1')
        path = self.save(b'# ktau pages: basic, time in ns\n1 r 5\n2 L 7\n')
        self.assertIn('7 slots were lost', run('misses', path).stderr)
        run('misses', '--strict', path, status=1)
        path = self.save(b'# ktau pages: basic, time in ns\n1 r 5\n999999999999999 r 5\n')
        self.assertIn('--interval', run('workingset', '--tau=1', path, status=1).stderr)

    def test_time_back(self):
        """As in a trace, it is counted, and an error with --strict."""
        path = self.save(b'# ktau pages: basic, time in ns\n5 r 1\n5 r 2\n3 r 1\n9 L 2\n4 r 1\n')
        for verb in 'misses', 'workingset':
            self.assertIn(f'{path}: contradiction: time_back: 2, the first in line 4\n',
                          run(verb, path).stderr)
            run(verb, '--strict', path, status=1)

    def test_nothing(self):
        """An error in place of an empty table."""
        trace, text = self.save(encode.session(), 'trace'), self.folder / 'text'
        lost = self.save(b'# ktau pages: basic, time in ns\n2 L 7\n', 'lost')
        idle = self.save(encode.encode(encode.parse('1 space space=1')), 'idle')
        run('merge', '-o', text, trace)
        for verb in 'merge', 'misses', 'workingset':
            p = run(verb, '--from=5', '--to=1', trace, status=2)
            self.assertIn('--from is after --to', p.stderr)
        for verb in 'misses', 'workingset':
            for words, said in ((('--to=0', trace), 'between --from and --to'),
                                (('--from=9999', trace), 'between --from and --to'),
                                (('--to=0', text), 'between --from and --to'),
                                ((idle,), 'no references to pages in it'),
                                ((lost,), 'no references to pages in it')):
                p = run(verb, *words, status=1)
                self.assertIn(f'{words[-1]}: ', p.stderr)
                self.assertIn(said, p.stderr)
                self.assertEqual(p.stdout, '')
        self.assertIn('between', run('merge', '--to=0', '-o', self.folder / 'new', trace, status=1)
                      .stderr)
        self.assertFalse((self.folder / 'new').exists())
        run('merge', idle)


if __name__ == '__main__':
    runner = TAPTestRunner()
    runner.set_stream(True)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], warnings='ignore', testRunner=runner)
