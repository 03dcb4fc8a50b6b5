# SPDX-License-Identifier: GPL-2.0-only
"""Licences: reuse lint, and the licence of a file is that of its folder."""

import fnmatch
import re

from project import CannotRun, run

RULES = {
    'reuse': 'reuse lint: licences of all files, and a text for each licence',
    'copyright': 'tools/debian/copyright has the licence that .reuse/dep5 has for each file',
    'spdx': 'line 1 of a file (2 after #! or \'\\" t) is the licence of its folder in .reuse/dep5',
}

DEP5 = '.reuse/dep5'
DEBIAN = 'tools/debian/copyright'
# Debian's names of the licences
SHORT = {
    'GPL-2.0-only': 'GPL-2',
    'GPL-2.0-or-later': 'GPL-2+',
    'LGPL-2.1-or-later': 'LGPL-2.1+',
    'GPL-2.0-only WITH Linux-syscall-note': 'GPL-2 with Linux-syscall-note',
}
# Files without comments, and third-party texts.
EXEMPT = ('LICENSES/*', DEP5, 'patches/*.patch', '*.gitignore', '*.gitattributes',
          '*.json', '*.csv', '*.golden', '*.expected', '*.bin', '*.ktau',
          'tools/debian/copyright', '*.png', '*.svg', '*.hex', '*/testdata/*',
          'tests/unit/*/data/*', 'tests/contributing/toy/*')
TAG = 'SPDX-License-' + 'Identifier: '


def check(project, found):
    _reuse(project, found)
    licence = _stated(project, DEP5)
    _debian(project, licence, found)
    for path in project.files():
        data = (project.root / path).read_bytes()
        if data and b'\0' not in data and \
                not any(fnmatch.fnmatch(path, p) for p in EXEMPT):
            _file(path, data.decode(errors='replace').splitlines(), licence(path), found)


def _reuse(project, found):
    """In reuse's output a heading is the finding for the files below it. The summary repeats it."""
    done = run(['reuse', '--root', project.root, 'lint'])
    if not done.returncode:
        return
    reason, number = '', 0
    for line in done.stdout.partition('# SUMMARY')[0].splitlines():
        match = re.match(r"\* (.*)|'(.*)' found in:", line)
        if match and match.group(1):
            found('reuse', match.group(1).removeprefix(f'{project.root}/'), 1, reason)
            number += 1
        elif line.strip():
            reason = line.strip('# :')
    if not number:
        raise CannotRun(f'reuse lint: {done.stdout.strip()}')


def _stated(project, name):
    """Return: a function that returns the licence of a path in that file."""
    try:
        from debian.copyright import Copyright
    except ImportError as error:
        raise CannotRun('python3-debian is not installed, see .ci/packages') from error
    stated = Copyright(project.text(name).splitlines())
    return lambda path: stated.find_files_paragraph(path).license.synopsis


def _debian(project, licence, found):
    """The first file of each difference."""
    debian = _stated(project, DEBIAN)
    seen = set()
    for path in project.files():
        want, have = SHORT.get(licence(path), licence(path)), debian(path)
        if have != want and (have, want) not in seen:
            seen.add((have, want))
            found('copyright', path, 1, f'{have} in {DEBIAN} where {DEP5} has {licence(path)}')


def _file(path, lines, licence, found):
    number = 2 if lines[0].startswith(('#!', "'\\\"")) else 1
    line = lines[number - 1] if len(lines) >= number else ''
    have = line.partition(TAG)[2].removesuffix(' */').removesuffix(' -->')
    if not have:
        found('spdx', path, number, 'no ' + TAG.strip(': '))
    elif have != licence:
        found('spdx', path, number, f'{have} where {DEP5} has {licence}')
