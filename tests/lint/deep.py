#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Build the kernel after every patch, with KTAU and without.

With KTAU=n every object must equal that of the unpatched kernel. After each
patch the files that it touches are built and compared (the files of the whole
queue if it touches a header); after the last patch both kernels are built and
linked completely and all objects compared. Finished steps are recorded, so a
second run continues where the first one stopped.
"""

import fcntl
import hashlib
import os
import shutil
import signal
import sys
import time

import objects
import patch as patchfile
import patches
from kbuild import Build
from project import CannotRun, Project, argument_parser, run

FRAGMENTS = ('tests/kernel/x86_64.config', 'tests/lint/deep.config')
ARCH = 'arch/x86/'


class Tree:
    """A kernel tree that can be set to any number of patches."""

    def __init__(self, project, version, place):
        self.project = project
        self.source = place / 'linux'
        names = patches.series(project, version)
        self.queue = [f'patches/{version}/{name}' for name in names]
        self.parsed = [patchfile.parse(project.text(p)) for p in self.queue]
        self.touched = sorted({file.path for patch in self.parsed
                               for file in patch.files})
        self._unpack(project.tarball(version))
        self.pristine = project.kernel_files(version, self.touched)
        self._link()

    def _unpack(self, tarball):
        stamp = self.source.with_suffix('.tarball')
        info = tarball.stat()
        key = f'{tarball} {info.st_size} {info.st_mtime_ns}'
        if stamp.exists() and stamp.read_text() == key:
            return
        say(f'unpacking {tarball}')
        stamp.unlink(missing_ok=True)
        shutil.rmtree(self.source, ignore_errors=True)
        self.source.mkdir(parents=True)
        done = run(['bash', '-c', 'set -o pipefail; xz -dcT0 "$0" | tar -x'
                    ' --strip-components=1 -C "$1"', tarball, self.source])
        if done.returncode:
            raise CannotRun(f'cannot unpack {tarball}: {done.stdout}')
        stamp.write_text(key)

    def _link(self):
        """Link the files of kernel-ext into the tree."""
        for path in self.project.files('kernel-ext/*'):
            link = self.source / path.partition('/')[2]
            link.parent.mkdir(parents=True, exist_ok=True)
            target = self.project.root / path
            if not link.is_symlink() or link.readlink() != target:
                link.unlink(missing_ok=True)
                link.symlink_to(target)

    def set_level(self, count):
        """Apply the first @count patches; files that do not change are not written."""
        level = self.source.with_name('level')
        shutil.rmtree(level, ignore_errors=True)
        for name in self.touched:
            (level / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.pristine / name, level / name)
        for path in self.queue[:count]:
            done = run(['patch', '-p1', '--fuzz=0', '--batch', '--forward',
                        '--no-backup-if-mismatch', '--reject-file=-',
                        '-d', level, '-i', self.project.root / path])
            if done.returncode:
                raise CannotRun(f'{path} does not apply: see make lint')
        for name in self.touched:
            new = (level / name).read_bytes()
            if (self.source / name).read_bytes() != new:
                (self.source / name).write_bytes(new)

    def objects(self, count=0):
        """Objects to compile after patch @count, counted from 1; 0: for all patches."""
        changed = {file.path for file in self.parsed[count - 1].files}
        if not count or any(not name.endswith('.c') for name in changed):
            changed = self.touched
        return sorted({self.object(name) for name in changed
                       if self.built(name)})

    def object(self, name):
        """The object of a file; some files are included by another in their folder."""
        source = self.source / name
        line = f'#include "{source.name}"'
        whole = next((other for other in sorted(source.parent.glob('*.c'))
                      if line in other.read_text(errors='replace')), source)
        return str(whole.relative_to(self.source).with_suffix('.o'))

    def has_ktau(self):
        """Whether the tree has KTAU's Kconfig options."""
        return any('kernel/ktau/Kconfig' in (self.source / name).read_text()
                   for name in self.touched if 'Kconfig' in name)

    @staticmethod
    def built(name):
        return name.endswith('.c') and \
            (not name.startswith('arch/') or name.startswith(ARCH))


def say(text):
    print(f'lint-deep: {text}', flush=True)


class Steps:
    """Runs the steps in order and records those that succeeded."""

    def __init__(self, project, version, place, args):
        self.project, self.version = project, version
        self.quick = args.quick
        self.tree = Tree(project, version, place)
        self.state = place / 'done'
        self.done = set(self.state.read_text().split()
                        if self.state.exists() else [])
        self.number, self.total = 0, 2 * len(self.tree.queue) + 3
        self.findings = []
        fragments = [project.root / name for name in FRAGMENTS]
        on, off = place / 'y.config', place / 'n.config'
        on.write_text((project.root / 'tests/kernel/ktau.config').read_text())
        off.write_text('# CONFIG_KTAU is not set\n')
        self.builds = {
            name: Build(self.tree.source, place / name, [*fragments, *more],
                        args.jobs, lambda text: say(f'  {text}'))
            for name, more in (('base', []), ('n', [off]), ('y', [on]))}

    def key(self, name, count):
        """A key for a step, made of everything that it depends on."""
        parts = [name, str(count), self.tree.source.with_suffix('.tarball')
                 .read_text()]
        parts += [self.project.text(p) for p in self.tree.queue[:count]]
        parts += [self.project.text(p) for p in FRAGMENTS]
        if count:
            parts += [self.project.text(p) for p in
                      self.project.files('kernel-ext/*',
                                         'tests/kernel/ktau.config')]
        return hashlib.sha256('\0'.join(parts).encode()).hexdigest()

    def step(self, name, count, path, title, work):
        """Run a step unless it is recorded as done; work() returns its findings."""
        self.number += 1
        title = f'{self.version} [{self.number}/{self.total}] {title}'
        key = self.key(f'{title} {name} {self.quick}', count)
        if key in self.done:
            say(f'{title}: already done')
            return
        start = time.monotonic()
        say(f'{title} ...')
        self.tree.set_level(count)
        bad, summary = work(self.builds[name])
        for reason in bad:
            print(f'{path}:1: {reason} [deep]', flush=True)
        self.findings += bad
        say(f'{title}: {"FAILED" if bad else summary}, {time.monotonic() - start:.0f} s')
        if not bad:
            with open(self.state, 'a', encoding='utf-8') as state:
                state.write(key + '\n')

    def run(self):
        queue = self.tree.queue
        self.step('base', 0, FRAGMENTS[0], 'without patches', self.full)
        if self.findings:
            return
        for count, path in enumerate(queue, 1):
            wanted = self.tree.objects(count)
            self.step('n', count, path, f'{path} KTAU=n',
                      lambda build: self.some(build, wanted, True))
            self.step('y', count, path, f'{path} KTAU=y',
                      lambda build: self.some(build, wanted, False))
        self.step('n', len(queue), queue[-1], 'all patches KTAU=n',
                  self.full_compared)
        self.step('y', len(queue), queue[-1], 'all patches KTAU=y',
                  self.full)
        left = [name for name in self.tree.touched if not self.tree.built(name)
                and name.endswith('.c')]
        if left:
            say(f'{self.version} not built, other architecture: '
                f'{" ".join(left)}')

    def full(self, build):
        linked = [] if self.quick else ['vmlinux']
        return build.make(linked + self.tree.objects(),
                          self.tree.has_ktau()), 'built'

    def some(self, build, wanted, compared):
        if not wanted:
            return [], 'no file of x86'
        own = ['kernel/ktau/'] if self.tree.has_ktau() and not compared else []
        bad = build.make(wanted + own, self.tree.has_ktau())
        if bad or not compared:
            return bad, f'{len(wanted)} targets built'
        return self.compared(build, wanted)

    def compared(self, build, names):
        bad = self.compare(build, names)
        return bad, f'{len(names) - len(bad)} of {len(names)} objects equal'

    def full_compared(self, build):
        bad, summary = self.full(build)
        if bad:
            return bad, summary
        if self.quick:
            return self.compared(build, self.tree.objects())
        base = self.builds['base'].objects()
        bad = self.compare(build, sorted(base))
        bad += [f'{name} is built with KTAU=n only'
                for name in sorted(build.objects() - base)]
        return bad, f'{len(base) - len(bad)} of {len(base)} objects equal'

    def compare(self, build, names):
        bad = []
        for name in names:
            one, other = self.builds['base'].out / name, build.out / name
            where = objects.difference(one, other) \
                if one.exists() and other.exists() else 'built once only'
            if where:
                bad.append(f'{name} differs with KTAU=n: {where}')
        return bad


def arguments():
    parser = argument_parser(__doc__)
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('--quick', action='store_true',
                        help='compile only touched files, without linking')
    parser.add_argument('versions', nargs='*',
                        help='kernel versions; default: all '
                        'whose source is installed')
    return parser.parse_args()


def main():
    args = arguments()
    # SIGTERM must end the build, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    project = Project(args.root, args.build, args.sources)
    place = project.scratch / 'deep'
    place.mkdir(exist_ok=True)
    findings = []
    with open(place / 'lock', 'w', encoding='utf-8') as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            versions = args.versions or project.installed()
            if not versions:
                raise CannotRun(f'no {project.tarball("VERSION")}')
            for version in versions:
                if not patches.series(project, version):
                    raise CannotRun(f'patches/{version} has no patches')
                if not project.tarball(version).exists():
                    raise CannotRun(f'no {project.tarball(version)}')
                (place / version).mkdir(exist_ok=True)
                steps = Steps(project, version, place / version, args)
                steps.run()
                findings += steps.findings
        except BlockingIOError:
            say('another lint-deep is running')
            return 2
        except CannotRun as err:
            say(str(err))
            return 2
    say(f'{len(findings)} findings')
    return 1 if findings else 0


if __name__ == '__main__':
    sys.exit(main())
