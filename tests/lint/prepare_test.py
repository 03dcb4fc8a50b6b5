#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Let tests/kernel/prepare apply a queue of two patches to kernels of three
files, and compare its output and exit status. A file of kernel-ext that has moved
leaves no link behind."""

import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys

import case_test
from selftest import GOOD

TOP = pathlib.Path(__file__).parents[2]
FORK = 'kernel/fork.c'
VERSION = '9.2'
MADE = 'patches/9.2 was made for Linux 9.2.5, and '
IS = f'linux-source-{VERSION}.tar.xz is Linux 9.2.7.\n'
FROM, TO = 'kernel/ktau/base/core.c', 'kernel/ktau/moved.c'
LINE = ('two();\n\tret', 'two(1);\n\tret')


@dataclasses.dataclass
class Case:
    """@release: release of the kernel, while the queue is for 9.2.5; @edit:
    (old, new) in fork.c, None for a kernel without it; @wanted, @unwanted:
    texts that must or must not be in the output; @status: exit status."""
    name: str
    release: str
    edit: tuple | None
    wanted: tuple
    unwanted: tuple
    status: int


CASES = (
    Case('the same release', '9.2.5', ('', ''), (), ('made for',), 0),
    Case('another release, and the queue applies', '9.2.7', ('', ''), (), ('made for',), 0),
    Case('another release, and the queue does not apply', '9.2.7', LINE,
         ('patches/9.2/task.patch does not apply to Linux 9.2:\n  kernel/fork.c: hunk #2 at line 14\n',
          MADE, IS, f'Install linux-source-{VERSION} with Linux 9.2.5, or name its archive: '
          'LINUX_TARBALL=FILE.\n', 'make port VERSION=9.2 ', 'docs/dev/porting.md'), (), 1),
    Case('the same release, and the queue does not apply', '9.2.5', LINE,
         ('patches/9.2/task.patch does not apply to Linux 9.2:\n',), ('made for',), 1),
    Case('another release without a file', '9.2.7', None,
         (MADE, IS, 'the queue touches kernel/fork.c, which Linux 9.2 does not have\n'), (), 1),
)


def make_kernel(case, scratch):
    """The tarball of a kernel with the case's edit."""
    tree = case_test.copy_kernel(scratch, VERSION)
    numbers = zip(('VERSION', 'PATCHLEVEL', 'SUBLEVEL'), case.release.split('.'))
    (tree / 'Makefile').write_text(
        ''.join(f'{word} = {number}\n' for word, number in numbers) + 'NAME = None\n')
    if case.edit is None:
        (tree / FORK).unlink()
    else:
        text = (tree / FORK).read_text()
        assert text.count(case.edit[0]) == 1 or not case.edit[0]
        (tree / FORK).write_text(text.replace(*case.edit) if case.edit[0] else text)
    return case_test.pack(tree)


def make_project(root):
    """The small project, with the real prepare and a queue for 9.2.5."""
    shutil.copytree(GOOD, root)
    (root / 'tests/kernel').mkdir(parents=True)
    shutil.copy(TOP / 'tests/lib.sh', root / 'tests')
    shutil.copy(TOP / 'tests/kernel/prepare', root / 'tests/kernel')
    series = root / 'patches' / VERSION / 'series'
    series.write_text('# for Linux 9.2.5\n' + series.read_text())


def prepare(case, scratch):
    """Run it for the kernel of @case."""
    env = os.environ | {'B': str(scratch / 'build'),
                        'LINUX_TARBALL': str(make_kernel(case, scratch))}
    return subprocess.run([scratch / 'tree/tests/kernel/prepare', VERSION], env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding='utf-8', check=False)


def run_case(case, scratch):
    """Return: the error, or an empty string."""
    shutil.rmtree(scratch / 'build', ignore_errors=True)
    done = prepare(case, scratch)
    wrong = [text for text in case.wanted if text not in done.stdout]
    wrong += [text for text in case.unwanted if text in done.stdout]
    if wrong or done.returncode != case.status:
        return f'status {done.returncode}, {wrong} in\n{done.stdout}'
    return ''


def run_move(scratch):
    """Prepare the kernel before and after a move. Return: the error, or an empty string."""
    ext, linux = scratch / 'tree/kernel-ext', scratch / f'build/linux-{VERSION}'
    shutil.rmtree(scratch / 'build', ignore_errors=True)
    prepare(CASES[0], scratch)
    if not (linux / FROM).is_symlink():
        return f'no link {FROM}'
    (ext / FROM).rename(ext / TO)
    prepare(CASES[0], scratch)
    if (linux / FROM).is_symlink() or not (linux / TO).is_file():
        return f'{FROM} remains, or {TO} is missing'
    return ''


def main():
    scratch = case_test.folder('prepare', __doc__)
    make_project(scratch / 'tree')
    errors = {case.name: run_case(case, scratch) for case in CASES}
    errors['a file that has moved'] = run_move(scratch)
    return case_test.report('prepare', errors)


if __name__ == '__main__':
    sys.exit(main())
