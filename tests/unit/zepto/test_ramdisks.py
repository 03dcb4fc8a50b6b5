# SPDX-License-Identifier: GPL-2.0-only
"""Adding ktaud to ramdisks of other build systems: test_ramdisks.py BUILD."""

import gzip
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import board
from tap import TAPTestRunner

BUILD = pathlib.Path(sys.argv[1]).resolve()
RAMDISKS = pathlib.Path('zepto-config/ramdisks').resolve()


class Case(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def run_it(self, *argv, status=0, **more):
        done = subprocess.run([str(a) for a in argv], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, encoding='utf-8', check=False, **more)
        self.assertEqual(done.returncode, status, done.stdout)
        return done.stdout


class Archive(Case):

    def test_static_programs_in_one_folder(self):
        made = [self.dir / name for name in ('a', 'b')]
        for path in made:
            # Without the flags of the make that runs this test
            self.run_it(RAMDISKS / 'cpio', '-o', path, env={**os.environ, 'MAKEFLAGS': '',
                                                            'B': str(BUILD)})
        self.assertEqual(made[0].read_bytes(), made[1].read_bytes())
        inside = board.files(gzip.decompress(made[0].read_bytes()))
        self.assertEqual({name.split('/')[0] for name in inside},
                         {'ktau', 'ktau-init', 'TRAILER!!!'})
        for name in 'ktaud', 'ktaud-ship', 'ktau':
            path = self.dir / name
            path.write_bytes(inside[f'ktau/{name}'])
            path.chmod(0o755)
            # A dynamic program names its interpreter
            self.assertNotIn(b'ld-linux', path.read_bytes()[:4096])
            self.assertIn(name, self.run_it(path, '--version'))
        conf = self.dir / 'conf'
        conf.write_bytes(inside['ktau/ktaud-early.conf'])
        self.run_it(self.dir / 'ktaud', '--check-config', '-f', conf)


class Queue(Case):

    def test_patches_add_kernel_ext(self):
        for version in '6.1', '6.12':
            out = self.dir / version
            self.run_it(RAMDISKS / 'queue', version, out)
            patches = sorted(out.glob('*.patch'))
            series = [line.split()[0] for line in
                      pathlib.Path('patches', version, 'series').read_text().splitlines()
                      if line.strip() and not line.startswith('#')]
            self.assertEqual([re.sub(r'^\d{4}-', '', path.name) for path in patches[:-1]],
                             [pathlib.PurePath(name).name for name in series])
            tree = self.dir / f'tree-{version}'
            tree.mkdir()
            self.run_it('patch', '-s', '-p1', '-i', patches[-1], cwd=tree)
            self.run_it('diff', '-r', '-x', '.*', 'kernel-ext', tree)
            self.assertIn('CONFIG_KTAU=y', (out / 'ktau.cfg').read_text())

    def test_errors(self):
        self.assertIn('usage: zepto-config/ramdisks/queue VERSION DIR',
                      self.run_it(RAMDISKS / 'queue', '6.1', status=2))
        self.assertIn('9.9: there is no patches/9.9',
                      self.run_it(RAMDISKS / 'queue', '9.9', self.dir / 'x', status=1))
        (self.dir / 'mine').write_text('mine')
        self.assertIn('is not empty', self.run_it(RAMDISKS / 'queue', '6.1', self.dir, status=1))


class Recipes(Case):
    """Files for build systems that are not installed: the files that they name exist."""

    def test_yocto_checksums(self):
        text = next(RAMDISKS.rglob('ktau.bb')).read_text()
        found = re.findall(r'file://(\S+);md5=(\w+)', text)
        self.assertEqual({f'{name}.txt' for name in
                          re.search('^LICENSE = "(.*)"$', text, re.M).group(1).split(' & ')},
                         {name.removeprefix('LICENSES/') for name, _ in found})
        for name, md5 in found:
            self.assertEqual(self.run_it('md5sum', name).split()[0], md5)

    def test_versions(self):
        version = self.run_it('tools/version').strip()
        self.assertRegex(version, r'^\d+\.\d+\.\d+$')
        text = next(RAMDISKS.rglob('ktau.bb')).read_text()
        # As bitbake does: Python with the variables in d
        expression = re.search(r'^PV = "\$\{@(.*)\}"$', text, re.M).group(1)
        variables = unittest.mock.Mock(getVar={'KTAU_TOP': str(RAMDISKS.parents[1])}.get)
        self.assertEqual(eval(expression, {'os': os, 'd': variables}), version)
        recipe = next(RAMDISKS.rglob('ktaud.mk'))
        self.assertEqual(self.run_it('make', '-s', f'BR2_EXTERNAL_KTAU_PATH={RAMDISKS}/buildroot',
                                     '--eval=version: ; @echo $(KTAUD_VERSION)', '-f', recipe,
                                     'version', env={**os.environ, 'MAKEFLAGS': ''}).strip(), version)

    def test_targets_exist(self):
        for path in next(RAMDISKS.rglob('ktau.bb')), next(RAMDISKS.rglob('ktaud.mk')):
            text = path.read_text()
            for name in 'ktaud/ktaud', 'ktaud/ship/ktaud-ship', 'tools/ktau/ktau':
                self.assertIn(name, text)
                self.run_it('make', '-n', f'B={self.dir}', self.dir / name,
                            env={**os.environ, 'MAKEFLAGS': ''})
            for name in re.findall(r'(?:\$\(@D\)|\$\{S\})/(\S+\.(?:in|conf))\b', text):
                self.assertTrue(pathlib.Path(name).exists(), name)


if __name__ == '__main__':
    os.environ['PYTHONDONTWRITEBYTECODE'] = '1'
    runner = TAPTestRunner()
    runner.set_stream(True)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], warnings='ignore', testRunner=runner)
