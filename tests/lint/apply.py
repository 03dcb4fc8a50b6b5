# SPDX-License-Identifier: GPL-2.0-only
"""The patch queue applies to its kernels, and checkpatch.pl accepts it."""

import re

import patch as patchfile
import patches
from checkpatch import checkpatch
from project import run

RULES = {
    'apply': 'every patch applies to its kernel without fuzz',
    'patch-checkpatch': 'checkpatch.pl --strict on the patches',
}


def check(project, found):
    for version in project.versions():
        folder = f'patches/{version}'
        queue = [f'{folder}/{name}'
                 for name in patches.series(project, version)
                 if f'{folder}/{name}' in project.files()]
        for path, line, reason in checkpatch(project, 'patches', queue, ()):
            found('patch-checkpatch', path, line, reason)
        if project.tarball(version).exists():
            _apply(project, version, queue, found)
        else:
            project.notes.append(f'{folder} was not applied: no '
                                 f'{project.tarball(version)}')


def _apply(project, version, queue, found):
    parsed = [patchfile.parse(project.text(path)) for path in queue]
    touched = sorted({file.path for patch in parsed for file in patch.files
                      if '..' not in file.path.split('/')})
    tree = project.kernel_tree(version, touched, f'apply-{version}')
    for path, patch in zip(queue, parsed):
        for file in patch.files:
            if not (tree / file.path).is_file():
                found('apply', path, file.number,
                      f'linux-source-{version} has no {file.path}')
        done = run(['patch', '-p1', '--fuzz=0', '--batch', '--forward',
                    '--no-backup-if-mismatch', '--reject-file=-',
                    '-d', tree, '-i', project.root / path])
        if done.returncode:
            reason = re.search(r'.*(FAILED|malformed|can.t find|skip).*',
                               done.stdout, re.I)
            found('apply', path, 1, reason.group(0) if reason
                  else done.stdout.strip().splitlines()[-1])
