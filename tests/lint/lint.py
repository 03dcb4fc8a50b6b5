#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check the patch queue and the sources against the project's rules.

Every finding is a line `file:line: reason [rule]`. The exit status is 0
without findings, 1 with findings, 2 if a rule could not run.
"""

import concurrent.futures
import sys
import time

import apply
import circles
import csource
import folders
import headers
import kernel
import licence
import manual
import patches
import scripts
import tidy
import words
from project import CannotRun, Project, argument_parser

GROUPS = (csource, tidy, kernel, apply, patches, headers, licence, circles, folders,
          scripts, manual, words)


def check(group, project):
    """Run one group and return its findings, each (path, line, reason, rule)."""
    findings = []

    def found(rule, path, line, reason):
        assert rule in group.RULES, rule
        findings.append((str(path), line, reason, rule))

    group.check(project, found)
    return findings


def arguments():
    parser = argument_parser(__doc__)
    parser.add_argument('--list', action='store_true',
                        help='print the rules')
    parser.add_argument('--programs', default='',
                        help='programs built by make')
    parser.add_argument('--man-pages', default='',
                        help='man pages installed by make')
    parser.add_argument('groups', nargs='*',
                        help='groups of rules; default: all')
    return parser.parse_args()


def main():
    args = arguments()
    names = args.groups or [group.__name__ for group in GROUPS]
    groups = [group for group in GROUPS if group.__name__ in names]
    if len(groups) != len(names):
        print('lint: the groups are', *(g.__name__ for g in GROUPS), file=sys.stderr)
        return 2
    if args.list:
        for group in groups:
            for rule, text in group.RULES.items():
                print(f'{group.__name__:9}{rule:18}{text}')
        return 0

    start = time.monotonic()
    project = Project(args.root, args.build, args.sources,
                      args.programs.split(), args.man_pages.split())
    findings = []
    try:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for more in pool.map(lambda group: check(group, project), groups):
                findings += more
    except CannotRun as err:
        print(f'lint: {err}', file=sys.stderr)
        return 2
    for path, line, reason, rule in sorted(findings):
        print(f'{path}:{line}: {reason} [{rule}]')
    for note in project.notes:
        print(f'lint: {note}')
    print(f'lint: {sum(len(g.RULES) for g in groups)} rules, '
          f'{len(project.files())} files, {len(findings)} findings, '
          f'{time.monotonic() - start:.0f} s')
    return 1 if findings else 0


if __name__ == '__main__':
    sys.exit(main())
