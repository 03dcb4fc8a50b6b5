# SPDX-License-Identifier: GPL-2.0-only
"""ktau pages on traces that are written here: test_pages.py BUILD."""

import collections
import gzip
import pathlib
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
        self.assertEqual(left('--from=0.000000030', '--to=0.00000018'),
                         ['10 r 1', '20 r 1', '190 r 1'])
        self.assertEqual(run('merge', '--time=ticks', path).stdout.splitlines()[:2],
                         ['# ktau pages: basic, time in ticks', '1010 r 1'])

    def test_compressed(self):
        path, expected = self.saved('sharing'), (DATA / 'sharing.basic').read_text()
        run('merge', '-o', self.folder / 'out.gz', path)
        self.assertEqual(gzip.decompress((self.folder / 'out.gz').read_bytes()).decode(), expected)
        run('merge', '-o', self.folder / 'out.zst', path)
        p = subprocess.run(['zstd', '-dc', self.folder / 'out.zst'], capture_output=True,
                           check=True)
        self.assertEqual(p.stdout.decode(), expected)
        run('merge', '--type=per-process', '-o', self.folder / 'all.gz', path)
        names = sorted(path.name for path in (self.folder / 'all').iterdir())
        self.assertEqual(names, ['11-101.gz', '12-102.gz', '13-103.gz', '15-105.gz'])

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
        for seed in range(12):
            with self.subTest(seed=seed):
                entries = oracle.Script(seed).write(3000)
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
        two = self.save(encode.encode(encode.parse(text.format(110, 4, 130))), '2.ktau')
        self.assertEqual(run('merge', '--type=basic-named', one, two).stdout.splitlines()[1:],
                         ['30 r 1 f', '40 r 1 f'])
        other = self.save(encode.encode(encode.parse(text.format(1, 4, 2)), boot=2), '3.ktau')
        self.assertIn('different boots', run('merge', one, other, status=1).stderr)

    def test_many_files(self):
        """More processes than files that are open at a time."""
        text = ''.join(f'1 space space={i}\n1 thread thread={i} space={i} serial={i} tid={i} '
                       f'tgid={i}\n1 map page=1 pages=9 space={i}\n' for i in range(1, 201))
        text += ''.join(f'{9 + k} reference page={k} space={i} thread={i}\n'
                        for k in (1, 2, 3) for i in range(1, 201))
        text += 'lost 7\n20 reference page=1 space=200 thread=200\n'
        for suffix, read in (('', pathlib.Path.read_bytes),
                             ('.gz', lambda path: gzip.decompress(path.read_bytes()))):
            out = self.folder / 'many'
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

    def test_damage(self):
        data = self.saved('sharing').read_bytes()
        for at in range(384, len(data), 7):
            for value in (0, 1, 255):
                path = self.save(data[:at] + bytes([value]) + data[at + 1:])
                p = subprocess.run([KTAU, 'pages', 'merge', path], capture_output=True,
                                   check=False, timeout=60)
                self.assertIn(p.returncode, (0, 1), (at, value, p.stderr))

    def test_usage(self):
        path = self.saved('sharing')
        for words in ((), ('merge',), ('split', path), ('merge', '--type=none', path),
                      ('merge', '--time=days', path), ('merge', '--from=x', path)):
            run(*words, status=2)
        run('merge', self.folder / 'none', status=1)
        run('merge', '--type=per-thread', path, status=1)
        run('merge', '-o', self.folder / 'none/file', path, status=1)
        self.assertIn('no references', run('merge', self.save(
            encode.stream() + encode.end()), status=1).stderr)


if __name__ == '__main__':
    runner = TAPTestRunner()
    runner.set_stream(True)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], warnings='ignore', testRunner=runner)
