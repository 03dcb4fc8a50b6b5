# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's checkpatch.pl, on patches or on whole files."""

import concurrent.futures
import re

from project import CannotRun, run

FINDING = re.compile(r'(?:.+?):(\d+): ((?:ERROR|WARNING|CHECK):.*)')


def checkpatch(project, paths, options):
    """Yield (path, line, reason)."""
    scripts = project.kernel_scripts()

    def one(path):
        # It leaves a file behind where it runs.
        done = run(['perl', 'checkpatch.pl', '--strict', '--no-tree', '--terse',
                    '--no-summary', '--show-types', *options, project.root / path],
                   cwd=scripts)
        matches = [FINDING.match(line) for line in done.stdout.splitlines()]
        if done.returncode and not any(matches):
            raise CannotRun(f'checkpatch.pl {path}: {done.stdout.strip()}')
        return [(path, int(m.group(1)), m.group(2)) for m in matches if m]

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for findings in pool.map(one, paths):
            yield from findings
