# SPDX-License-Identifier: GPL-2.0-only
"""Compares two object files: same code and data?

All sections, relocations and symbols are compared, contents byte by byte.
Numbers in names are ignored, because the compiler numbers local statics
(__func__.123), and __UNIQUE_ID_ and initcalls contain a counter and a line,
which change with every line added above them.
"""

import re

from project import CannotRun, run

COUNTED = (
    (re.compile(r'\.\d+(?=\s|$|:|[-+.])'), '.N'),
    (re.compile(r'(__UNIQUE_ID_\w*?)\d+\b'), r'\1N'),
    (re.compile(r'(__initcall_\w*?__)\d+_\d+_'), r'\1N_N_'),
    (re.compile(r'(__\w*addressable_\w*?)\d+\b'), r'\1N'),
)


def _even(line):
    for pattern, instead in COUNTED:
        line = pattern.sub(instead, line)
    return line


def _dump(option, path):
    done = run(['objdump', option, '-w', path])
    if done.returncode:
        raise CannotRun(done.stdout.strip())
    return done.stdout.splitlines()[3:]


def _described(path):
    """An object as lines, by section, without the numbers in names."""
    parts, name = {}, ''
    for line in _dump('-s', path):
        if line.startswith('Contents of section '):
            name = _even(line[len('Contents of section '):])
        parts.setdefault(f'contents of {name}', []).append(
            _even(line) if line.startswith('Contents') else line)
    name = ''
    for line in _dump('-r', path):
        if line.startswith('RELOCATION RECORDS FOR '):
            name = _even(line[len('RELOCATION RECORDS FOR '):])
        parts.setdefault(f'relocations of {name}', []).append(_even(line))
    parts['symbols'] = sorted(_even(line) for line in _dump('-t', path))
    return parts


def difference(one, other):
    """Return: the first difference of two objects as text, or an empty string."""
    if one.read_bytes() == other.read_bytes():
        return ''
    old, new = _described(one), _described(other)
    for name in [*old, *(name for name in new if name not in old)]:
        if old.get(name) != new.get(name):
            pairs = zip(old.get(name, []) + ['nothing'],
                        new.get(name, []) + ['nothing'])
            first = next((p for p in pairs if p[0] != p[1]), ('', ''))
            return f'{name}: {first[0].strip()!r}, now {first[1].strip()!r}'
    return ''
