# SPDX-License-Identifier: GPL-2.0-only
"""ktau export --csv --hours --after: what is new in an archive. test_hours.py BUILD."""

import collections
import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from tap.runner import TAPTestRunner

BUILD = pathlib.Path(sys.argv[1]).resolve()
KTAU = BUILD / 'tools/ktau/ktau'
HOST_DAY = BUILD / 'tests/unit/tools/host_day'
FULL_EVERY = 60             # streams, in host_day
BEGINNING = 128 << 10       # read of a new file to find out whose it is


class Hours(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()      # pylint: disable=consider-using-with
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.archive = self.folder / 'archive'
        self.runs = 0

    def record(self, host, begin, end, name='1', back=()):
        """Write or continue a file: the seconds from begin to end."""
        path = self.archive / host / f'{name}.ktau'
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        subprocess.run([HOST_DAY, path, host, str(begin), str(end), *map(str, back)], check=True)
        return path

    def export(self, after=None, status=0, archive=None):
        """The output of a run, its messages, and the bytes that it has read."""
        self.runs += 1
        out = self.folder / f'{self.runs}.csv'
        command = [KTAU, 'export', '--csv', '--hours', '-o', out, archive or self.archive]
        if after:
            command.append(f'--after={after}')
        with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
            said = process.stderr.read().decode()
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            io = pathlib.Path(f'/proc/{process.pid}/io').read_text(encoding='ascii')
        self.assertEqual(process.returncode, status, said)
        return out, said, int(re.search(r'rchar: (\d+)', io)[1])

    def sums(self, *outs):
        """All figures of the tables, added up."""
        sums = collections.Counter()
        for out in outs:
            for table, keys in (('hours', 2), ('routines', 4)):
                with open(out / f'{table}.csv', encoding='utf-8', newline='') as file:
                    for row in csv.DictReader(file):
                        key = table, *list(row.values())[:keys]
                        for column in list(row)[keys:]:
                            sums[*key, column] += int(row[column])
        return sums

    def check_all(self, *outs):
        """The runs have what one run over everything has; each of them may be rounded."""
        whole, parts = self.sums(self.export()[0]), self.sums(*outs)
        self.assertEqual(set(whole), set(parts))
        self.assertTrue(any(key[0] == 'routines' for key in whole))
        for key, value in whole.items():
            self.assertLess(abs(value - parts[key]), len(outs) + 1, key)

    def test_continues(self):
        """Files that grow within an hour and over its end, that are new, and that stay."""
        self.record('n1', 3000, 3300)
        self.record('n2', 0, 70)
        first, _, _ = self.export()
        self.record('n1', 3000, 3590)
        self.record('n3', 10, 50)
        second, _, _ = self.export(first)
        self.record('n1', 3591, 3700, '2')
        third, _, _ = self.export(second)
        self.record('n1', 3591, 3800, '2')
        fourth, _, _ = self.export(third)
        fifth, _, _ = self.export(fourth)
        self.assertEqual(self.sums(fifth), {})
        self.check_all(first, second, third, fourth, fifth)

    def test_bytes(self):
        """Only new blocks are read, and those that they depend on."""
        path = self.record('n1', 0, 1500)
        self.record('n2', 0, 500)
        first, _, all_bytes = self.export()
        sizes = sum(file.stat().st_size for file in self.archive.rglob('*.ktau'))
        self.assertGreater(all_bytes, sizes)
        _, _, nothing = self.export(first)
        before = path.stat().st_size
        path = self.record('n1', 0, 1600)
        new = path.stat().st_size - before
        second, _, some = self.export(first)
        minute = before * FULL_EVERY // 1500
        # headers of blocks, and once more the key block
        rest = before // 50 + 2 * BEGINNING
        self.assertGreater(some - nothing, new)
        self.assertLess(some - nothing, new + minute + rest)
        self.assertLess(nothing, 1 << 20)
        self.check_all(first, second)

    def test_host(self):
        """Files of other hosts are left for later."""
        self.record('n1', 0, 100)
        self.record('n2', 0, 100)
        first, _, _ = self.export()
        self.record('n1', 0, 200)
        self.record('n2', 0, 200)
        second = self.folder / 'second.csv'
        subprocess.run([KTAU, 'export', '--csv', '--hours', '--host=n2', f'--after={first}', '-o',
                        second, self.archive], check=True, stderr=subprocess.DEVNULL)
        third, _, _ = self.export(second)
        self.assertEqual({key[1] for key in self.sums(second)}, {'n2'})
        self.assertEqual({key[1] for key in self.sums(third)}, {'n1'})
        self.check_all(first, second, third)

    def test_clock_set_back(self):
        """Blocks whose times are repeated are found by their place in the boot."""
        back = 150, 140
        self.record('n1', 0, 149)
        first, _, _ = self.export()
        self.record('n1', 0, 280, back=back)
        second, _, _ = self.export(first)
        self.check_all(first, second)

    def test_late(self):
        """A file that should have come earlier is left out, each time, and not silently."""
        self.record('n1', 0, 50)
        self.record('n1', 101, 150, '3')
        first, _, _ = self.export()
        self.record('n1', 51, 100, '2')
        second, said, _ = self.export(first, status=1)
        self.assertRegex(said, r'2\.ktau: later periods of its boot have been exported')
        self.assertEqual(self.sums(second), {})
        _, said, _ = self.export(second, status=1)
        self.assertIn('2.ktau: later periods', said)

    def test_other_path(self):
        """The same files by another name are not exported twice."""
        self.record('n1', 0, 50)
        first, _, _ = self.export()
        self.archive.rename(self.folder / 'moved')
        second, said, _ = self.export(first, 1, self.folder / 'moved')
        self.assertIn('later periods of its boot have been exported', said)
        self.assertEqual(self.sums(second), {})

    def test_cut_off(self):
        """A file that ends within a block is read further once the rest is there."""
        path = self.record('n1', 0, 130)
        data = path.read_bytes()
        path.write_bytes(data[:-5000])
        first, said, _ = self.export(status=1)
        self.assertIn('truncated', said)
        second, _, _ = self.export(first, status=1)
        self.assertEqual(self.sums(second), {})
        path.write_bytes(data)
        third, _, _ = self.export(second)
        self.check_all(first, second, third)

    def test_bad_list(self):
        self.record('n1', 0, 10)
        first, _, _ = self.export()
        good = (first / 'files').read_bytes()
        bad = self.folder / 'bad'
        bad.mkdir()
        for data in (b'', b'ktau hours 2\n', good[:-1], good[:-20], good.replace(b' 17', b' x17', 1),
                     good + b'x', good.replace(b'\0', b'', 1)):
            (bad / 'files').write_bytes(data)
            self.runs += 1
            out = self.folder / f'{self.runs}.csv'
            done = subprocess.run([KTAU, 'export', '--csv', '--hours', f'--after={bad}', '-o', out,
                                   self.archive], check=False, capture_output=True)
            self.assertEqual(done.returncode, 1, data)
            self.assertIn(b'not the list of files of an earlier --hours', done.stderr)
            self.assertFalse(out.exists())


if __name__ == '__main__':
    runner = TAPTestRunner()
    runner.set_stream(True)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], warnings='ignore', testRunner=runner)
