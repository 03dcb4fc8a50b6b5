# SPDX-License-Identifier: GPL-2.0-only
"""C: layout, sizes, and what cppcheck finds.

clang-tidy checks the sizes of functions outside the kernel, see tidy.py; it cannot compile
kernel-ext, whose functions are checked here.
"""

import difflib
import functools
import re

import functions
from project import CannotRun, run

# Kernel code follows checkpatch.pl instead.
KERNEL = ('kernel-ext/', 'tests/kernel/modules/', 'tests/kernel/oracle/')

MAX_COLUMN = 100
MAX_FILE = 800
MAX_FUNCTION = 60
MAX_DEPTH = 3
MAX_PARAMETERS = 5

RULES = {
    'c-format': 'clang-format finds nothing, except for blanks inside a line',
    'c-column': f'lines up to {MAX_COLUMN} columns',
    'c-file': f'files up to {MAX_FILE} lines',
    'c-function': f'kernel: functions up to {MAX_FUNCTION} lines',
    'c-depth': f'kernel: blocks up to {MAX_DEPTH} deep in a function',
    'c-parameters': f'kernel: up to {MAX_PARAMETERS} parameters',
    'cppcheck': 'cppcheck finds nothing',
}

CPPCHECK = ('cppcheck', '--quiet', '--std=c11', '--language=c', '-j2',
            '--enable=warning,performance,portability', '--inline-suppr',
            '--suppress=preprocessorErrorDirective',
            '--suppress=missingIncludeSystem',
            '--template={file}:{line}: {message} [{id}]')


def check(project, found):
    code = project.files('*.c', '*.h')
    outside = [path for path in code if not path.startswith(KERNEL)]
    for path in code:
        _sizes(project, path, found)
    for path in outside:
        _format(project, path, found)
    if outside:
        _cppcheck(project, outside, found)


def _sizes(project, path, found):
    lines = project.lines(path)
    for number, line in enumerate(lines, 1):
        width = len(line.expandtabs())
        if width > MAX_COLUMN:
            found('c-column', path, number, f'{width} columns')
    # A header describes an interface, which cannot be split.
    if path.endswith('.c') and len(lines) > MAX_FILE:
        found('c-file', path, len(lines), f'{len(lines)} lines')
    for f in functions.functions(project.text(path)) if path.startswith(KERNEL) else ():
        if f.lines > MAX_FUNCTION:
            found('c-function', path, f.line, f'{f.name}: {f.lines} lines')
        if f.depth > MAX_DEPTH:
            found('c-depth', path, f.line, f'{f.name}: {f.depth} blocks deep')
        if f.parameters > MAX_PARAMETERS:
            found('c-parameters', path, f.line,
                  f'{f.name}: {f.parameters} parameters')


def _column(line):
    """The line with runs of blanks reduced to one, except for its indentation."""
    indent = re.match(r'[ \t]*', line).group(0)
    return indent + re.sub(r'[ \t]+', ' ', line[len(indent):])


def _only_breaks(old, new):
    """Whether only the line breaks of strings or of a list differ.

    clang-format puts each string, and each element of a list that ends in a
    comma, on a line of its own.
    """
    text, indent = '\n'.join(old), re.compile(r'\s*')
    return bool(old) and bool(new) and \
        re.sub(r'[\s\\]', '', text) == re.sub(r'[\s\\]', '', '\n'.join(new)) and \
        indent.match(old[0]).group(0) == indent.match(new[0]).group(0) and \
        bool(re.search(r'"|,$', text, re.M)) and \
        not re.match(r'\s*(if|for|while|else|switch|do|case)\b', text)


def _differences(project, path, columns):
    """Line -> clang-format's text for it, with one column limit."""
    done = run(['clang-format', f'--style={_style(project, columns)}', path],
               cwd=project.root)
    if done.returncode:
        raise CannotRun(f'clang-format {path}: {done.stdout}')
    old = [_column(line) for line in project.lines(path)]
    new = [_column(line) for line in done.stdout.splitlines()]
    differ = {}
    matcher = difflib.SequenceMatcher(None, old, new, False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != 'equal' and not _only_breaks(old[i1:i2], new[j1:j2]):
            better = ' '.join(line.strip() for line in new[j1:j2])
            differ.update({n: better for n in range(i1, max(i2, i1 + 1))})
    return differ


@functools.lru_cache(maxsize=None)
def _style(project, columns):
    """The project's style with another column limit, as an option."""
    path = project.scratch / f'clang-format-{columns}'
    path.write_text(re.sub(r'^ColumnLimit:.*', f'ColumnLimit: {columns}',
                           project.text('.clang-format'), flags=re.M))
    return f'file:{path}'


def _format(project, path, found):
    """Report the lines that clang-format changes with every column limit.

    Between 80 and 100 columns the author chooses the line breaks. Without a
    limit clang-format keeps them, with a limit it makes its own, and its
    other changes depend on the limit, too.
    """
    wrong = None
    for columns in (0, 80, 100):
        differ = _differences(project, path, columns)
        wrong = {n: t for n, t in (wrong or differ).items() if n in differ}
        if not wrong:
            return
    for number, better in sorted(wrong.items()):
        if number - 1 not in wrong:
            found('c-format', path, number + 1, f'should read: {better!r}')


def _cppcheck(project, paths, found):
    done = run([*CPPCHECK, '-Ilibktau/include', '-Ilibktau/bpf/include',
                '-Ikernel-ext/include/uapi',
                *(p for p in paths if p.endswith('.c') and not p.endswith('.bpf.c'))],
               cwd=project.root)
    for line in done.stdout.splitlines():
        match = re.match(r'(.+?):(\d+): (.*)', line)
        if match:
            found('cppcheck', match.group(1), int(match.group(2)),
                  match.group(3))
