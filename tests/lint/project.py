# SPDX-License-Identifier: GPL-2.0-only
"""The files that are checked, and the kernel files needed for the checks."""

import argparse
import fnmatch
import functools
import os
import pathlib
import shutil
import subprocess
import threading


class CannotRun(Exception):
    """A rule cannot run, so its result is unknown."""


def run(argv, **options):
    """Run a program to its end, with text output; the caller checks the status."""
    if not shutil.which(argv[0]):
        raise CannotRun(f'{argv[0]} is not installed: see .ci/packages')
    return subprocess.run([str(a) for a in argv], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding='utf-8',
                          errors='replace', **options)


def argument_parser(about):
    """A parser of a Project's arguments."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument('--root', default='.', help='the project')
    parser.add_argument('--build', default='build', help='folder for temporary files')
    parser.add_argument('--sources', default='/usr/src',
                        help='folder of linux-source-VERSION.tar.xz')
    return parser


class Project:
    """The tree that is checked. Paths are strings relative to its root."""

    def __init__(self, root, build, sources, programs=(), man_pages=()):
        self.root = pathlib.Path(root).resolve()
        self.scratch = pathlib.Path(build).resolve() / 'lint'
        self.sources = pathlib.Path(sources)
        self.programs = programs
        self.man_pages = man_pages
        self.notes = []
        self.lock = threading.Lock()
        self.scratch.mkdir(parents=True, exist_ok=True)

    @functools.cached_property
    def _files(self):
        if (self.root / '.git').exists():
            listed = run(['git', 'ls-files', '-z', '--cached', '--others',
                          '--exclude-standard'], cwd=self.root)
            if listed.returncode:
                raise CannotRun(listed.stdout.strip())
            names = listed.stdout.split('\0')
        else:
            names = [os.path.relpath(os.path.join(where, name), self.root)
                     for where, _, names in os.walk(self.root)
                     for name in names]
        return sorted({name for name in names
                       if name and (self.root / name).is_file()})

    def files(self, *patterns):
        """All files, or those whose path matches one of the patterns."""
        if not patterns:
            return self._files
        return [name for name in self._files
                if any(fnmatch.fnmatch(name, p) for p in patterns)]

    @functools.lru_cache(maxsize=None)
    def text(self, path):
        return (self.root / path).read_text(encoding='utf-8', errors='replace')

    def lines(self, path):
        return self.text(path).splitlines()

    def versions(self):
        """The kernel versions that have a patch queue, oldest first."""
        found = {path.split('/')[1] for path in self.files('patches/*/*')}
        return sorted(found, key=lambda v: [int(n) if n.isdigit() else 0
                                            for n in v.split('.')])

    def tarball(self, version):
        return self.sources / f'linux-source-{version}.tar.xz'

    def installed(self):
        """Those versions whose source is installed, oldest first."""
        return [v for v in self.versions() if self.tarball(v).exists()]

    def kernel_files(self, version, wanted):
        """Take files out of a kernel's tarball.

        Unpacking takes seconds, so the files are kept until the tarball
        changes or another file is requested. A file that the kernel does not
        have is missing afterwards.
        Return: the folder of the unmodified files.
        """
        tarball = self.tarball(version)
        there = self.scratch / f'linux-source-{version}'
        stamp = self.scratch / f'linux-source-{version}.stamp'
        info = tarball.stat()
        key = f'{tarball} {info.st_size} {info.st_mtime_ns}'
        with self.lock:
            old = stamp.read_text().splitlines() if stamp.exists() else ['']
            if old[0] != key:
                old = [key]
                shutil.rmtree(there, ignore_errors=True)
            more = sorted(set(wanted) - set(old[1:]))
            if more:
                stamp.unlink(missing_ok=True)
                there.mkdir(parents=True, exist_ok=True)
                self._unpack(tarball, there, more)
                stamp.write_text('\n'.join(old + more) + '\n')
        return there

    def kernel_tree(self, version, wanted, name):
        """Make a fresh copy of a kernel's files, for patching.

        Return: the folder, @name in the scratch folder.
        """
        pristine = self.kernel_files(version, wanted)
        tree = self.scratch / name
        shutil.rmtree(tree, ignore_errors=True)
        tree.mkdir()
        for file in wanted:
            if (pristine / file).is_file():
                (tree / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(pristine / file, tree / file)
        return tree

    @staticmethod
    def _unpack(tarball, there, names):
        # tar complains about missing files; a damaged tarball is seen in the
        # status of xz.
        top = tarball.name.removesuffix('.tar.xz')
        done = run(['bash', '-c', 'xz -dcT0 "$0" | tar -x --strip-components=1'
                    ' -C "$1" "${@:2}" 2>/dev/null; exit ${PIPESTATUS[0]}',
                    tarball, there, *(f'{top}/{name}' for name in names)])
        if done.returncode:
            raise CannotRun(f'cannot unpack {tarball}: {done.stdout}')

    def kernel_scripts(self):
        """The kernel's own checkers, from the oldest installed source."""
        for tarball in sorted(self.sources.glob('linux-source-*.tar.xz')):
            version = tarball.name[len('linux-source-'):-len('.tar.xz')]
            return self.kernel_files(version, [
                'scripts/checkpatch.pl', 'scripts/spelling.txt',
                'scripts/const_structs.checkpatch',
                'scripts/kernel-doc']) / 'scripts'
        raise CannotRun(f'no {self.tarball("VERSION")}, see .ci/packages')
