# SPDX-License-Identifier: GPL-2.0-only
"""Files that commands write, and those that they must not: test_outputs.py BUILD."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import cycles_encode
import pages_encode
from tap.runner import TAPTestRunner

BUILD = pathlib.Path(sys.argv[1]).resolve()
DATA = pathlib.Path(__file__).resolve().parent / 'data'
TOOLS = {name: BUILD / folder / name for name, folder in (
    ('ktau', 'tools/ktau'), ('funcMap', 'tools/funcmap'), ('runktau', 'tools/runktau'))}


class Outputs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()      # pylint: disable=consider-using-with
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        subprocess.run([BUILD / 'tests/unit/tools/sample', self.folder], check=True)
        for name in ('maps/good.map', 'text', 'polls.view'):
            shutil.copy(DATA / name, self.folder)
        (self.folder / 'session.ktau').write_bytes(pages_encode.session())
        (self.folder / 'ktau-user.1').write_text('ktau-user 1\n')
        cycles_encode.etm3_snapshot(self.folder / 'snapshot', cycles_encode.etm3(1, 100, True)[0])

    def run_in(self, words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE):
        """Status and messages of a command, in the folder."""
        first, *others = words.split()
        p = subprocess.run([TOOLS[first], *others], cwd=self.folder, stdin=stdin, stdout=stdout,
                           stderr=subprocess.PIPE, check=False, timeout=600)
        if b'built without' in p.stderr:
            self.skipTest(p.stderr.decode())
        return p.returncode, p.stderr.decode()

    def read(self, name):
        return (self.folder / name).read_bytes()


class Inputs(Outputs):
    """An output that is also an input is refused, and the file is as it was."""

    def refuse(self, words, target, status=1):
        before = self.read(target)
        link, hard = self.folder / 'link', self.folder / 'hard'
        link.symlink_to(self.folder / target)
        os.link(self.folder / target, hard)
        for name in (target, './' + target, 'link', 'hard'):
            with self.subTest(words=words, name=name):
                got, said = self.run_in(words.replace('OUT', name))
                self.assertIn(f'cannot write {name}: it is also the input', said)
                self.assertEqual(got, status)
                self.assertEqual(self.read(target), before)
        link.unlink()
        hard.unlink()

    def test_pages(self):
        self.refuse('ktau pages merge -o OUT session.ktau', 'session.ktau')

    def test_cycles(self):
        shutil.copy(DATA / 'maps/good.map', self.folder / 'program.map')
        for path in sorted((self.folder / 'snapshot').iterdir()):
            self.refuse('ktau cycles --flame=OUT snapshot', f'snapshot/{path.name}')
        self.refuse('ktau cycles --flame=OUT -m program.map snapshot', 'program.map')
        got, _ = self.run_in('ktau cycles --flame=snapshot/new.svg snapshot')
        self.assertEqual(got, 0)
        got, _ = self.run_in('ktau cycles --flame=snapshot/new.svg snapshot')
        self.assertEqual(got, 0)

    def test_recordings(self):
        for words in ('ktau export --json -o OUT', 'ktau flame -o OUT', 'ktau report --html=OUT'):
            self.refuse(f'{words} good.ktau', 'good.ktau')
            self.refuse(f'{words} host.ktau good.ktau', 'good.ktau')
            self.refuse(f'{words} -m good.map good.ktau', 'good.map')
            self.refuse(f'{words} good.ktau', 'ktau-user.1')

    def test_views(self):
        for words in ('ktau export --chrome -o OUT', 'ktau report --html=OUT'):
            self.refuse(f'{words} --view=polls.view good.ktau', 'polls.view')
            (self.folder / 'waits').write_text('not the built-in view')
            self.assertEqual(self.run_in(f'{words.replace("OUT", "waits")} --view=waits good.ktau')
                             [0], 0)

    def test_maps(self):
        self.refuse('funcMap -m good.map -o OUT text', 'good.map')
        self.refuse('funcMap -m good.map -o OUT text', 'text')
        self.refuse('runktau -m good.map -o OUT true', 'good.map', status=125)

    def test_standard(self):
        """Standard input and output can be the same file."""
        for words, name in (('ktau pages merge -o OUT', 'session.ktau'),
                            ('funcMap -m good.map -o OUT', 'text'),
                            ('ktau export --csv -o OUT', 'good.ktau')):
            before = self.read(name)
            with open(self.folder / name, 'rb') as f:
                self.assertIn('is also the input',
                              self.run_in(f'{words.replace("OUT", name)} -', f)[1])
            self.assertEqual(self.read(name), before)
            with open(self.folder / name, 'ab') as f:
                self.assertIn('cannot write standard output: it is also the input',
                              self.run_in(f'{words.replace("OUT", "-")} {name}', stdout=f)[1])
            self.assertEqual(self.read(name), before)


if __name__ == '__main__':
    runner = TAPTestRunner()
    runner.set_stream(True)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], warnings='ignore', testRunner=runner)
