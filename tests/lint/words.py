# SPDX-License-Identifier: GPL-2.0-only
"""Text: spelling, and the width of Markdown."""

import re

from project import run

RULES = {
    'spelling': 'codespell finds nothing',
    'markdown-column': 'text in Markdown has lines up to 100 columns',
}

# Recorded data are exempt.
EXEMPT = re.compile(r'^LICENSES/|/data/|\.(png|svg|ktau)$')

MAX_COLUMN = 100


def markdown(project, path, found):
    """Report long lines, except of tables, links, and what programs print."""
    fenced = False
    for number, line in enumerate(project.lines(path), 1):
        if line.startswith('```'):
            fenced = not fenced
        elif len(line) > MAX_COLUMN and not fenced and \
                not re.match(r'\t|    |!?\[|\s*\|', line):
            found('markdown-column', path, number, f'{len(line)} columns')


def check(project, found):
    for path in project.files('*.md'):
        markdown(project, path, found)
    paths = [path for path in project.files() if not EXEMPT.search(path)]
    done = run(['codespell', *paths], cwd=project.root)
    for line in done.stdout.splitlines():
        match = re.match(r'(.+?):(\d+): (.* ==> .*)', line)
        if match:
            found('spelling', match.group(1), int(match.group(2)), match.group(3))
