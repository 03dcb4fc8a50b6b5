# SPDX-License-Identifier: GPL-2.0-only
"""SPDX lines: the right licence for the folder, in the form of the file."""

import fnmatch
import re

RULES = {
    'spdx': 'every file says its licence on its first line (2nd behind #!)',
    'spdx-form': 'in the comment form that the kernel asks for',
    'spdx-licence': 'the licence is that of the folder',
}

# The first that matches. What has no comments, or is not ours, has no line.
EXEMPT = ('LICENSES/*', 'patches/*.patch', '*.gitignore', '*.gitattributes',
          '*.json', '*.csv', '*.golden', '*.expected', '*.bin', '*.ktau',
          'tools/debian/copyright', '*.png', '*.svg', '*.hex', '*/testdata/*', 'tests/unit/*/data/*')
LICENCES = (
    ('kernel-ext/include/uapi/*', 'GPL-2.0-only WITH Linux-syscall-note'),
    ('*.mk', 'GPL-2.0-only'),
    ('tests/unit/libktau/*', 'GPL-2.0-only'),
    ('libktau/*', 'LGPL-2.1-or-later'),
    ('*', 'GPL-2.0-only'),
)
FORMS = (
    ('*.c', '// {}'),
    ('*.js', '// {}'),
    ('*.mjs', '// {}'),
    ('*.css', '/* {} */'),
    ('*.html', '<!-- {} -->'),
    ('*.[hS]', '/* {} */'),
    ('*.lds*', '/* {} */'),
    ('*.md', '<!-- {} -->'),
    ('*.[1-8]', '.\\" {}'),
    ('*.[1-8].in', '.\\" {}'),
    ('*', '# {}'),
)


def _first(table, path):
    return next(value for pattern, value in table
                if fnmatch.fnmatch(path, pattern))


def check(project, found):
    for path in project.files():
        data = (project.root / path).read_bytes()
        if not data or b'\0' in data or \
                any(fnmatch.fnmatch(path, p) for p in EXEMPT):
            continue
        _file(path, data.decode(errors='replace').splitlines(), found)


def _file(path, lines, found):
    number = 2 if lines[0].startswith('#!') else 1
    line = lines[number - 1] if len(lines) >= number else ''
    match = re.search(r'SPDX-License-Identifier: ([\w.+ -]*[\w.+])', line)
    if not match:
        found('spdx', path, number, 'no SPDX-License-Identifier')
        return
    form = _first(FORMS, path).format(match.group(0))
    if line != form:
        found('spdx-form', path, number, f'should read: {form}')
    licence = _first(LICENCES, path)
    if match.group(1) != licence:
        found('spdx-licence', path, number,
              f'{match.group(1)} where the folder is {licence}')
