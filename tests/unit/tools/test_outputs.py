# SPDX-License-Identifier: GPL-2.0-only
"""Files that commands write, and those that they must not: test_outputs.py BUILD."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
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
        for name in ('maps/good.map', 'maps/elsewhere.map', 'text', 'polls.view'):
            shutil.copy(DATA / name, self.folder)
        (self.folder / 'session.ktau').write_bytes(pages_encode.session())
        (self.folder / 'ktau-user.1').write_text('ktau-user 1\n')
        cycles_encode.etm3_snapshot(self.folder / 'snapshot', cycles_encode.etm3(1, 100, True)[0])

    def run_in(self, words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, most=None):
        """Status and messages of a command, in the folder, whose files have this size at most."""
        first, *others = words.split()
        limit = ['prlimit', f'--fsize={most}'] if most else []
        # Python ignores SIGXFSZ, so a write fails.
        p = subprocess.run([*limit, TOOLS[first], *others], cwd=self.folder, stdin=stdin,
                           stdout=stdout, stderr=subprocess.PIPE, check=False, timeout=600,
                           restore_signals=False)
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


class Complete(Outputs):
    """An output appears when it is complete: errors and signals leave what was there."""

    def setUp(self):
        super().setUp()
        data = self.read('session.ktau')
        (self.folder / 'cut.ktau').write_bytes(data[:len(data) // 2])
        (self.folder / 'lost.ktau').write_bytes(pages_encode.encode(pages_encode.parse(
            '1 space space=1\n2 reference page=1 space=1\nlost 3\n3 reference page=2 space=1')))
        (self.folder / 'other.ktau').write_bytes(pages_encode.encode(pages_encode.parse(
            '1 space space=1\n2 reference page=1 space=1'), boot=2))
        self.before = sorted(os.listdir(self.folder))

    def unharmed(self, words, said, target='old', **options):
        """The command fails; the target is as before, and nothing is new."""
        if target == 'old':
            (self.folder / target).write_text('an older output')
        got, messages = self.run_in(f'{words} -o {target}', **options)
        self.assertIn(said, messages)
        self.assertEqual(got, 1)
        if target == 'old':
            self.assertEqual(self.read(target), b'an older output')
            (self.folder / target).unlink()
        self.assertEqual(sorted(os.listdir(self.folder)), self.before)

    def test_errors(self):
        merge = 'ktau pages merge'
        for words in (merge, f'{merge} --format=binary'):
            self.unharmed(f'{words} none', 'none: No such file')
            self.unharmed(f'{words} text', 'text: ')
            self.unharmed(f'{words} good.ktau', 'no references to pages')
            self.unharmed(f'{words} session.ktau other.ktau', 'different boots')
            self.unharmed(f'{words} --strict lost.ktau', '3 slots were lost')
        self.unharmed(f'{merge} --type=per-process --strict lost.ktau', 'were lost', 'new.gz')
        self.unharmed(f'{merge} --type=per-thread session.ktau other.ktau', 'boots', 'new')
        self.unharmed(f'{merge} --type=per-thread session.ktau', 'exist', 'snapshot')
        self.unharmed('funcMap -m good.map text none', 'none: No such file')
        self.unharmed('funcMap -m maps/none text', 'none: No such file')
        self.unharmed('funcMap -m elsewhere.map text', 'none of its')

    def test_full(self):
        """What an output may have at most is less than it needs."""
        for words in ('ktau pages merge session.ktau', 'ktau pages merge --format=binary session.ktau',
                      'funcMap -m good.map text good.ktau'):
            self.unharmed(words, 'File too large', most=2048)
        self.unharmed('ktau pages merge session.ktau', 'File too large', 'new.gz', most=2048)
        self.unharmed('ktau pages merge --type=per-process session.ktau', 'File too large', 'new',
                      most=2048)

    def test_signals(self):
        data = self.read('session.ktau')
        for words in ('ktau pages merge -', 'funcMap -m good.map -'):
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                (self.folder / 'old').write_text('an older output')
                first, *others = f'{words} -o old'.split()
                # Below nohup or in the background it would be ignored.
                with subprocess.Popen(['env', f'--default-signal={signal.Signals(number).name[3:]}',
                                       TOOLS[first], *others], cwd=self.folder,
                                      stdin=subprocess.PIPE) as p:
                    p.stdin.write(data[:len(data) // 2])
                    p.stdin.flush()
                    while len(os.listdir(self.folder)) < len(self.before) + 2:
                        self.assertIsNone(p.poll())
                        time.sleep(0.01)
                    p.send_signal(number)
                    self.assertEqual(p.wait(60), -number)
                self.assertEqual(self.read('old'), b'an older output')
                (self.folder / 'old').unlink()
                self.assertEqual(sorted(os.listdir(self.folder)), self.before)

    def test_damaged(self):
        """What can be read of a damaged trace is written."""
        for target in ('new', 'new.gz'):
            got, said = self.run_in(f'ktau pages merge -o {target} cut.ktau')
            self.assertEqual(got, 1, said)
            self.assertTrue(self.read(target))

    def test_standard_output(self):
        for words in ('ktau pages merge session.ktau', 'funcMap -m good.map text'):
            for name, more in (('one', ''), ('two', ' -o -')):
                with open(self.folder / name, 'wb') as f:
                    self.assertEqual(self.run_in(words + more, stdout=f), (0, ''))
            self.assertTrue(self.read('one'))
            self.assertEqual(self.read('one'), self.read('two'))
            self.assertFalse((self.folder / '-').exists())

    def test_links(self):
        """The file behind a link is written, not the link."""
        for words in ('ktau pages merge session.ktau', 'funcMap -m good.map text'):
            (self.folder / 'new').symlink_to('behind')
            self.assertEqual(self.run_in(words + ' -o new')[0], 0)
            self.assertTrue((self.folder / 'new').is_symlink())
            self.assertTrue(self.read('behind'))
            (self.folder / 'new').unlink()


if __name__ == '__main__':
    runner = TAPTestRunner()
    runner.set_stream(True)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], warnings='ignore', testRunner=runner)
