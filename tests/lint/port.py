#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Try a patch queue on the source of another kernel version.

Takes the queue of that version or, without one, the nearest queue, and reports
whether each hunk applies unchanged, with an offset, with fuzz or not at all. For
hunks with fuzz and hunks that fail, it shows the most similar lines of the new
kernel, with the differences. --write makes the queue of that version from the hunks that
apply, in their new places.

The exit status is 0 if every hunk applies, 1 if one fails, 2 if the queue could
not be tried.
"""

import collections
import dataclasses
import difflib
import os
import re
import shutil
import sys

import patch as patchfile
import patches
from project import CannotRun, Project, argument_parser, run

FILE = re.compile(r"patching file '?([^']+)'?$")
HUNK = re.compile(r'Hunk #(\d+) (succeeded|FAILED) at (\d+)'
                  r'(?: with fuzz (\d+))?(?: \(offset (-?\d+) lines?\))?')
WORD = re.compile(r'\w{3,}')
CANDIDATES = 10
# Lines that may have been added between those of a hunk.
SLACK = 4


@dataclasses.dataclass
class Result:
    """Result of a hunk. @line: in the new file, 0 if it failed."""
    word: str = 'FAILED'
    line: int = 0
    text: str = 'FAILED'


@dataclasses.dataclass
class Place:
    """A range of lines in the new kernel. @start counts from 0; @hits: number
    of expected lines in it, among those with a word; @likeness: 0 to 1."""
    path: str
    lines: list
    start: int = 0
    hits: int = 0
    likeness: float = 0


def _key(version):
    return [int(n) if n.isdigit() else 0 for n in version.split('.')]


def nearest_queue(project, version):
    """The version itself, otherwise the next older or, without one, the next newer one."""
    known = project.versions()
    older = [v for v in known if _key(v) <= _key(version)]
    if not known:
        raise CannotRun('no queue in patches')
    return older[-1] if older else known[0]


def apply(project, path, tree):
    """Apply the hunks of a patch that apply. Return: the results of its hunks
    by (file, number in that file)."""
    done = run(['patch', '-p1', '--verbose', '--batch', '--forward',
                '--no-backup-if-mismatch', '--reject-file=-', '-d', tree,
                '-i', project.root / path], env={**os.environ, 'LC_ALL': 'C'})
    results, name = {}, ''
    for line in done.stdout.splitlines():
        file, hunk = FILE.match(line), HUNK.match(line)
        if file:
            name = file.group(1)
        if hunk:
            number, word, at, fuzz, offset = hunk.groups()
            result = Result(line=int(at))
            if word == 'succeeded':
                result.word = 'fuzz' if fuzz else 'offset' if offset else 'applies'
                result.text = ', '.join(
                    ['applies'] + [f'fuzz {fuzz}'] * bool(fuzz) +
                    [f'offset {offset}'] * bool(offset))
            results[name, int(number)] = result
    return results


def squeezed(lines):
    return [' '.join(line.split()) for line in lines]


def nearest(old, path, lines):
    """The range of a file with most of the lines of @old, in order. Every line
    that is found votes for the position of the first one."""
    want, have = squeezed(old), squeezed(lines)
    where = collections.defaultdict(list)
    for at, line in enumerate(have):
        where[line].append(at)
    votes = collections.Counter(
        max(0, at - i) for i, line in enumerate(want) if WORD.search(line)
        for at in where[line])
    # An added or removed line in the middle splits the vote.
    near = {start: sum(votes[start + i] for i in range(-2, 3))
            for start in votes}
    best = Place(path, lines)
    for start in sorted(near, key=lambda s: (-near[s], s))[:CANDIDATES]:
        matcher = difflib.SequenceMatcher(
            None, want, have[start:start + len(want) + SLACK], False)
        hits = sum(bool(WORD.search(line))
                   for block in matcher.get_matching_blocks()
                   for line in want[block.a:block.a + block.size])
        if (hits, matcher.ratio()) > (best.hits, best.likeness):
            best = Place(path, lines, start, hits, matcher.ratio())
    return best


class Port:
    """One queue on one kernel."""

    def __init__(self, project, version, queue):
        self.project, self.version = project, version
        self.queue = [f'patches/{queue}/{name}'
                      for name in patches.series(project, queue)]
        self.parsed = [patchfile.parse(project.text(p)) for p in self.queue]
        touched = {file.path for patch in self.parsed for file in patch.files}
        self.tree = project.kernel_tree(version, sorted(touched),
                                       f'port-{version}')
        self.counts = collections.Counter()

    def neighbours(self, path):
        """The other sources in a file's folder and below it."""
        folder = os.path.dirname(path)
        pristine = self.project.kernel_files(self.version, [folder])
        for found in sorted((pristine / folder).rglob(f'*{path[-2:]}')):
            name = str(found.relative_to(pristine))
            if name != path:
                yield name, found.read_text(errors='replace').splitlines()

    def find(self, hunk, path, lines):
        """The place in the new kernel that is most similar to the hunk's lines."""
        best = nearest(hunk.old, path, lines)
        wanted = sum(bool(WORD.search(line)) for line in hunk.old)
        if 2 * best.hits < wanted and path.endswith(('.c', '.h')):
            for name, other in self.neighbours(path):
                place = nearest(hunk.old, name, other)
                if place.hits > best.hits + 1:
                    best = place
        return best

    def run(self):
        for path, patch in zip(self.queue, self.parsed):
            texts = {file.path: self._lines(file.path) for file in patch.files}
            results = apply(self.project, path, self.tree)
            for file in patch.files:
                for number, hunk in enumerate(file.hunks, 1):
                    result = results.get((file.path, number), Result())
                    self._report(path, file, hunk, result, texts[file.path])

    def _lines(self, name):
        file = self.tree / name
        return file.read_text(errors='replace').splitlines() \
            if file.is_file() else None

    def _report(self, path, file, hunk, result, lines):
        self.counts[result.word] += 1
        if lines is None:
            result.text += ': no such file'
        line = result.line or hunk.start
        print(f'{path}:{hunk.number}: {file.path}:{line}: {result.text}')
        if result.word in ('FAILED', 'fuzz'):
            self._show(hunk, self.find(hunk, file.path, lines or []))

    @staticmethod
    def _show(hunk, place):
        if not place.hits:
            print('    none of its lines is in this file or its folder\n')
            return
        print(f'    nearest: {place.path}:{place.start + 1}; '
              "'-' expected, '+' found")
        stretch = place.lines[place.start:place.start + len(hunk.old) + SLACK]
        lines = [line for line in difflib.ndiff(hunk.old, stretch, charjunk=None)
                 if line[0] != '?']
        while lines[-1][0] == '+':
            lines.pop()
        at = place.start + 1
        for line in lines:
            there = line[0] != '-'
            print(f'    {at if there else "":>6} {line[0]} {line[2:]}'.rstrip())
            at += there
        print()


RELEASE = re.compile(r'^(?:VERSION|PATCHLEVEL|SUBLEVEL) = (\d+)$', re.M)
QUILT = ('quilt', '--quiltrc', '-')
REFRESH = ('refresh', '-p', 'ab', '--no-timestamps', '--no-index', '--diffstat')


def release(project, version):
    """The release of the kernel, such as 6.1.192, by its Makefile."""
    makefile = project.kernel_files(version, ['Makefile']) / 'Makefile'
    return '.'.join(RELEASE.findall(makefile.read_text())) if makefile.is_file() else version


def write(port, queue):
    """Make patches/VERSION from @queue by quilt. A hunk that fails is left out."""
    project, version = port.project, port.version
    target = project.root / 'patches' / version
    try:
        shutil.copytree(project.root / 'patches' / queue, target)
    except FileExistsError as err:
        raise CannotRun(f'{target} exists') from err
    names = target / 'series'
    names.write_text(re.sub(r'^(# for Linux ).*', rf'\g<1>{release(project, version)}',
                            names.read_text(), flags=re.M))
    touched = {file.path for patch in port.parsed for file in patch.files}
    tree = project.kernel_tree(version, sorted(touched), f'queue-{version}')
    (tree / 'patches').symlink_to(target)
    for name in patches.series(project, queue):
        run([*QUILT, 'push', '-f', name], cwd=tree)
        done = run([*QUILT, *REFRESH, name], cwd=tree)
        if done.returncode:
            raise CannotRun(f'quilt refresh {name}: {done.stdout.strip()}')
    print(f'The new queue, without the hunks that FAILED: {target}')


def arguments():
    parser = argument_parser(__doc__)
    parser.add_argument('--queue', default='',
                        help='version of the queue; default: the nearest')
    parser.add_argument('--write', action='store_true',
                        help='make the queue of this version')
    parser.add_argument('version', help='version of the kernel')
    return parser.parse_args()


def main():
    args = arguments()
    project = Project(args.root, args.build, args.sources)
    try:
        if not project.tarball(args.version).exists():
            raise CannotRun(f'no {project.tarball(args.version)}: run '
                            f'apt-get install linux-source-{args.version}')
        queue = args.queue or nearest_queue(project, args.version)
        if not patches.series(project, queue):
            raise CannotRun(f'patches/{queue} has no patches')
        port = Port(project, args.version, queue)
        port.run()
        if args.write:
            write(port, queue)
    except CannotRun as err:
        print(f'port: {err}', file=sys.stderr)
        return 2
    words = (('applies', 'apply unchanged'), ('offset', 'with an offset'),
             ('fuzz', 'with fuzz'), ('FAILED', 'FAILED'))
    print(f'patches/{queue} on Linux {args.version}: {sum(port.counts.values())} '
          'hunks: ' + ', '.join(f'{port.counts[w]} {text}' for w, text in words))
    print(f'The files with the hunks that apply: {port.tree}')
    return 1 if port.counts['FAILED'] else 0


if __name__ == '__main__':
    sys.exit(main())
