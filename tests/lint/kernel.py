# SPDX-License-Identifier: GPL-2.0-only
"""kernel-ext: the kernel's own checkers, and kernel-doc on global functions."""

import re

import functions
from checkpatch import checkpatch
from project import CannotRun, run

# checkpatch.pl would look for the documentation of boot words in a kernel tree.
OPTIONS = ('--file', '--max-line-length=100', '--ignore=UNDOCUMENTED_SETUP')

# A parameter that is not described, and descriptions that say nothing: "the user", "likewise"
UNDESCRIBED = re.compile(r"Function parameter or member '\S+' not described in '(\w+)'")
EMPTY = re.compile(r" \* @(\w+): ((?:the|its|their|that) [\w']+|likewise|as (?:above|before)|\1)$")

# What depends on the architecture, on options and on the version of the kernel
CONDITIONAL = re.compile(r'/base/(arch/\w+|compat)\.h$')

RULES = {
    'kernel-checkpatch': 'checkpatch.pl --strict on every file of kernel-ext',
    'kernel-if': 'no preprocessor conditionals in .c files; in the headers only in base/compat.h '
                 'and base/arch, and one for a header of an optional part',
    'kernel-doc': 'kernel-doc on every non-static function',
    'kernel-doc-context': 'kernel-doc has Context:',
    'kernel-doc-return': 'kernel-doc of a function with a value has Return:',
    'kernel-doc-form': 'scripts/kernel-doc reads kernel-doc without a warning; a function '
                       'may leave out parameters that need no description',
    'kernel-doc-says': 'kernel-doc of a parameter says more than its name, such as its unit, bound '
                       'or lock',
}


def check(project, found):
    code = project.files('kernel-ext/*.[chS]')
    build = project.files('kernel-ext/*Kconfig', 'kernel-ext/*Makefile')
    for path, line, reason in checkpatch(project, 'kernel-ext', code + build,
                                         OPTIONS):
        found('kernel-checkpatch', path, line, reason)
    for path in project.files('kernel-ext/*.c'):
        for number, line in enumerate(project.lines(path), 1):
            if re.match(r'\s*#\s*(if|el|endif)', line):
                found('kernel-if', path, number, line.strip())
        _documented(project, path, found)
        _described(project, path, found)
    for path in project.files('kernel-ext/kernel/ktau/*.h', 'kernel-ext/include/linux/*.h',
                              'kernel-ext/arch/*.h'):
        if not CONDITIONAL.search(path):
            _unconditional(project, path, found)
    _kernel_doc(project, project.files('kernel-ext/*.[ch]'), found)


def _unconditional(project, path, found):
    """A header has its guard, and may have one #ifdef CONFIG_X for the part that X builds."""
    options = 0
    for number, line in enumerate(project.lines(path), 1):
        options += bool(re.match(r'#ifdef CONFIG_\w+$', line))
        if not re.match(r'\s*#\s*(if|elif)', line) or re.match(r'#ifndef _\w+_H$', line):
            continue
        if not re.match(r'#ifdef CONFIG_\w+$', line) or options > 1:
            found('kernel-if', path, number, line.strip())


def _documented(project, path, found):
    lines = project.lines(path)
    for function in functions.functions(project.text(path)):
        if function.is_static:
            continue
        comment = _comment_above(lines, function.line)
        if not comment.startswith('/**') or \
                not re.search(rf'^ \* {function.name}\(\) - \S', comment, re.M):
            found('kernel-doc', path, function.line,
                  f'no kernel-doc on {function.name}()')
            continue
        if not re.search(r'^ \* Context: ?\S?', comment, re.M):
            found('kernel-doc-context', path, function.line,
                  f'no Context: for {function.name}()')
        if not function.is_void and \
                not re.search(r'^ \* Returns?: ?\S?', comment, re.M):
            found('kernel-doc-return', path, function.line,
                  f'no Return: for {function.name}()')


def _described(project, path, found):
    lines = project.lines(path)
    for number, line in enumerate(lines, 1):
        match = EMPTY.match(line)
        if match and not lines[number].startswith(' *\t') and \
                re.match(r' \* \w+\(\) - ', _title(lines, number)):
            found('kernel-doc-says', path, number, line[3:])


def _title(lines, number):
    """The first line of the comment with line @number, counted from 1."""
    while number and not lines[number - 1].startswith('/**'):
        number -= 1
    return lines[number] if number else ''


def _comment_above(lines, number):
    """The comment that ends on the line before line @number, counted from 1."""
    end = number - 2
    if end < 0 or not lines[end].rstrip().endswith('*/'):
        return ''
    start = end
    while start > 0 and not lines[start].lstrip().startswith('/*'):
        start -= 1
    return '\n'.join(lines[start:end + 1])


def _kernel_doc(project, paths, found):
    if not paths:
        return
    done = run(['perl', project.kernel_scripts() / 'kernel-doc', '-none',
                *paths], cwd=project.root)
    if 'Usage:' in done.stdout:
        raise CannotRun(f'scripts/kernel-doc: {done.stdout[:200]}')
    for line in done.stdout.splitlines():
        match = re.match(r'(\S+):(\d+): (?:warning|error): (.*)', line)
        # The rules above check sections, and of .c files only.
        if match and 'No description found for return value' not in line and \
                not _is_of_function(project, match.group(1), match.group(3)):
            found('kernel-doc-form', match.group(1), int(match.group(2)),
                  match.group(3))


def _is_of_function(project, path, warning):
    """Whether a parameter is not described, and not a member."""
    match = UNDESCRIBED.match(warning)
    return match and f' * {match.group(1)}() - ' in project.text(path)
