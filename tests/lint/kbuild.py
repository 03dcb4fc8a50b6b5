# SPDX-License-Identifier: GPL-2.0-only
"""Configures and builds a kernel in a separate folder."""

import os
import pathlib
import re
import shutil
import subprocess
import time

# Fixed values of variables that would make two builds of the same source differ.
FIXED = {
    'KBUILD_BUILD_TIMESTAMP': 'Thu Jan  1 00:00:00 UTC 1970',
    'KBUILD_BUILD_USER': 'ktau',
    'KBUILD_BUILD_HOST': 'ktau',
    'KBUILD_BUILD_VERSION': '1',
}
# Included before every source file: line numbers do not get into the objects.
LINES = pathlib.Path(__file__).with_name('lines.h')
FAILED = re.compile(r'error:|undefined reference|Error \d|No rule to make')


class Build:
    """@source: the tree; @out: the folder of the objects; @fragments: files on
    top of tinyconfig; @say: called with lines that report progress."""

    def __init__(self, source, out, fragments, jobs, say):
        self.source, self.out, self.fragments = source, out, fragments
        self.jobs, self.say = jobs, say
        # The same cache serves every clone
        self.cache = {'CCACHE_BASEDIR': str(out.parent.resolve()),
                      'CCACHE_NOHASHDIR': '1'}
        self.compiler = 'ccache gcc' if shutil.which('ccache') else 'gcc'

    def _argv(self, targets):
        return ['make', '-C', self.source, f'O={self.out}', 'ARCH=x86_64',
                f'CC={self.compiler}', f'HOSTCC={self.compiler}',
                f'KCFLAGS=-include {self.out.resolve() / LINES.name}',
                f'-j{self.jobs}', *targets]

    def make(self, targets, has_ktau):
        """Configure and build. Return: the errors, one line each."""
        assert targets
        self.out.mkdir(exist_ok=True)
        copy = self.out / LINES.name
        if not copy.exists() or copy.read_bytes() != LINES.read_bytes():
            shutil.copy(LINES, copy)
        return self._configure() or self._wanted(has_ktau) or \
            self._run(self._argv(targets))

    def _configure(self):
        """Configure each time: this is cheap, and files whose options did not
        change are not built again."""
        merge = self.source / 'scripts/kconfig/merge_config.sh'
        tiny = [] if (self.out / '.config').exists() else ['tinyconfig']
        return (tiny and self._run(self._argv(tiny))) or \
            self._run(['bash', merge, '-m', '-O', self.out,
                       self.out / '.config', *self.fragments]) or \
            self._run(self._argv(['olddefconfig']))

    def _wanted(self, has_ktau):
        """Compare every option with the fragments; those of KTAU only once
        the patches have added them."""
        option = re.compile(r'^(CONFIG_\w+)=(.*)$', re.M)
        have = dict(option.findall((self.out / '.config').read_text()))
        want = {}
        for path in self.fragments:
            want.update(option.findall(path.read_text()))
        return [f'{name} is {have.get(name, "n")}, expected {value}'
                for name, value in want.items()
                if have.get(name, 'n') != value and
                (has_ktau or not name.startswith('CONFIG_KTAU'))]

    def _run(self, argv):
        log = self.out / 'build.log'
        steps, last = 0, time.monotonic()
        with open(log, 'w', encoding='utf-8') as file, subprocess.Popen(
                [str(a) for a in argv], env={**os.environ, **FIXED, **self.cache},
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, encoding='utf-8',
                errors='replace') as make:
            try:
                for line in make.stdout:
                    file.write(line)
                    steps += line.startswith('  ')
                    if time.monotonic() - last > 30:
                        last = time.monotonic()
                        self.say(f'{steps} steps: {line.strip()[:60]}')
            except BaseException:
                make.terminate()
                raise
        if not make.returncode:
            return []
        lines = log.read_text().splitlines()
        why = [line for line in lines if FAILED.search(line)] or lines[-1:]
        return [f'does not build: {why[0].strip()} (log: {log})']

    def objects(self):
        """The objects of the kernel, relative to @out."""
        return {path.relative_to(self.out) for path in self.out.rglob('*.o')
                if not path.name.startswith(('.', 'vmlinux')) and
                path.relative_to(self.out).parts[0] not in
                ('scripts', 'tools')}
