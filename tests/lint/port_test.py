#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Port a queue of two patches to kernels of three files, each changed in one
way, and compare the output and the exit status of port.py."""

import dataclasses
import pathlib
import shutil
import subprocess
import sys

import case_test
import patch as patchfile
from selftest import GOOD, KERNEL

HERE = pathlib.Path(__file__).parent
FORK = 'kernel/fork.c'
WHOLE = 'patches/9.2/task.patch:28: kernel/fork.c:14: '


@dataclasses.dataclass
class Case:
    """@edits: (file, old, new) in the kernel, None for a missing file or text;
    @wanted: parts of the output; @status: exit status."""
    name: str
    edits: tuple
    wanted: tuple
    status: int
    version: str = '9.3'


FUNCTION = KERNEL.joinpath(FORK).read_text().partition('int fork')
MOVED = '/* Clones. */\n\n' + ''.join(FUNCTION[1:])

CASES = (
    Case('nothing changed', (),
         (WHOLE + 'applies\n',
          'patches/9.2 on Linux 9.3: 4 hunks: 4 apply unchanged, '
          '0 with an offset, 0 with fuzz, 0 FAILED\n'), 0),
    Case('lines added above the hunk', ((FORK, 'static int two', '\n\nstatic int two'),),
         ('kernel/fork.c:16: applies, offset 2\n', '1 with an offset'), 0),
    Case('a line added in the context', ((FORK, '\treturn err;\n}', '\treturn err;\n\n}'),),
         (WHOLE + 'applies, fuzz 2\n', '        22   \treturn err;\n        23 +\n',
          '1 with fuzz'), 0),
    Case('a changed line', ((FORK, 'two();\n\tret', 'two(1);\n\tret'),),
         (WHOLE + 'FAILED\n', '    nearest: kernel/fork.c:13; ',
          '           - \ttwo();\n        21 + \ttwo(1);\n', '1 FAILED'), 1),
    Case('the function has moved to another file',
         ((FORK, ''.join(FUNCTION[1:]), ''), ('kernel/clone.c', None, MOVED)),
         (WHOLE + 'FAILED\n', '    nearest: kernel/clone.c:2; ',
          '         7   \tif (err)\n'), 1),
    Case('the file is missing', ((FORK, None, None),),
         ('kernel/fork.c:13: FAILED: no such file\n', '2 FAILED',
          '    none of its lines is in this file or its folder\n'), 1),
    Case('an older kernel', (), ('patches/9.1 on Linux 9.0: ',), 0, '9.0'),
    Case('a version with two digits', (), ('patches/9.2 on Linux 9.10: ',), 0,
         '9.10'),
)


def make_kernel(case, scratch):
    """The tarball of a kernel with the case's edits."""
    tree = case_test.copy_kernel(scratch, case.version)
    for path, old, new in case.edits:
        text = '' if old is None else (tree / path).read_text()
        assert old is None or text.count(old) == 1, (case.name, old)
        if new is None:
            (tree / path).unlink()
        else:
            (tree / path).write_text(text.replace(old, new) if old else new)
    return case_test.pack(tree)


def port(scratch, version, *options, root=GOOD):
    done = subprocess.run(
        [HERE / 'port.py', '--root', root, '--build', scratch / 'build',
         '--sources', scratch, *options, version], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, encoding='utf-8', check=False)
    return done.returncode, done.stdout


def hunks(path):
    """(first line, added lines) of each hunk of a patch."""
    return [(hunk.start, [line.text for line in hunk.added])
            for file in patchfile.parse(path.read_text()).files for hunk in file.hunks]


def written(case, scratch):
    """The queue that --write makes. Return: an error, the hunks of the old and the new queue."""
    shutil.rmtree(scratch / 'build', ignore_errors=True)
    root = scratch / 'root'
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(GOOD, root)
    tarball = make_kernel(case, scratch)
    status, text = port(scratch, '9.3', '--write', root=root)
    again, _ = port(scratch, '9.3', '--write', '--queue', '9.2', root=root)
    tarball.unlink()
    if status != case.status or again != 2 or 'The new queue' not in text:
        return f'status {status}, a second time {again}, {text}', [], []
    return '', *(hunks(root / f'patches/{version}/task.patch') for version in ('9.2', '9.3'))


def write_moved(scratch):
    """Each hunk is in its new place with the same lines."""
    wrong, old, new = written(CASES[1], scratch)
    if wrong or [lines for _, lines in old] != [lines for _, lines in new]:
        return wrong or f'{old} became {new}'
    moved = [b - a for (a, _), (b, _) in zip(old, new)]
    return '' if sorted(set(moved)) == [0, 2] else f'moved by {moved}'


def write_failed(scratch):
    """Only the hunk that fails is missing."""
    wrong, old, new = written(CASES[3], scratch)
    left = [hunk for hunk in old if hunk not in new]
    return wrong or ('' if len(left) == 1 and len(new) == len(old) - 1 else f'{old}: {new}')


def run_case(case, scratch):
    """Return: the error, or an empty string."""
    # The cache of port.py cannot tell two tarballs of equal size and time apart.
    shutil.rmtree(scratch / 'build', ignore_errors=True)
    tarball = make_kernel(case, scratch)
    status, text = port(scratch, case.version)
    tarball.unlink()
    missing = [line for line in case.wanted if line not in text]
    if missing or status != case.status:
        return f'status {status}, {missing} not in\n{text}'
    return ''


def main():
    scratch = case_test.folder('port', __doc__)
    wrong = {case.name: run_case(case, scratch) for case in CASES}
    status, text = port(scratch, '9.9')
    wrong['no such kernel'] = '' if status == 2 and \
        'apt-get install linux-source-9.9' in text else f'status {status}, {text}'
    wrong['a queue is written'] = write_moved(scratch)
    wrong['a queue is written without a hunk'] = write_failed(scratch)
    return case_test.report('port', wrong)


if __name__ == '__main__':
    sys.exit(main())
