# SPDX-License-Identifier: GPL-2.0-only
"""Shell and Python scripts."""

import re

from project import run

RULES = {
    'shell': 'shellcheck on every shell script',
    'python': 'pyflakes on every Python script',
}


def _written_in(project, path, interpreter, suffix):
    if path.endswith(suffix):
        return True
    first = project.text(path).partition('\n')[0]
    return bool(re.match(rf'#!.*\b{interpreter}\d*\b', first))


def check(project, found):
    plain = [path for path in project.files()
             if '.' not in path.rsplit('/', 1)[-1] or
             path.endswith(('.sh', '.py', '.in'))]
    shell = [p for p in plain if _written_in(project, p, '(ba|da)?sh', '.sh')]
    python = [p for p in plain if _written_in(project, p, 'python', '.py')]
    if shell:
        _report('shell', run(['shellcheck', '-x', '-f', 'gcc', *shell],
                             cwd=project.root), found)
    if python:
        _report('python', run(['pyflakes3', *python], cwd=project.root), found)


def _report(rule, done, found):
    for line in done.stdout.splitlines():
        match = re.match(r'(.+?):(\d+):(?:\d+:)? (.*)', line)
        if match:
            found(rule, match.group(1), int(match.group(2)), match.group(3))
