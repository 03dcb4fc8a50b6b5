# SPDX-License-Identifier: GPL-2.0-only
"""Spelling."""

import re

from project import run

RULES = {
    'spelling': 'codespell finds nothing',
}

# Recorded data are exempt.
EXEMPT = re.compile(r'^LICENSES/|/data/|\.(png|svg|ktau)$')


def check(project, found):
    paths = [path for path in project.files() if not EXEMPT.search(path)]
    done = run(['codespell', *paths], cwd=project.root)
    for line in done.stdout.splitlines():
        match = re.match(r'(.+?):(\d+): (.* ==> .*)', line)
        if match:
            found('spelling', match.group(1), int(match.group(2)), match.group(3))
