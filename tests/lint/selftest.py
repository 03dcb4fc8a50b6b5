#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Every rule of make lint must be able to fail.

The test makes a small correct project and a matching kernel. Each case breaks
it in one way and names the rule and the line that must be reported. A rule
without a case is a failure, too.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys

import lint
from cases import CASES
from project import Project

GOOD = pathlib.Path(__file__).parent / 'testdata' / 'good'
KERNEL = pathlib.Path(__file__).parent / 'testdata' / 'linux-source-9.1'


def make_sources(scratch, real):
    """Two kernels of a few files, with the checkers of a real kernel."""
    scripts = Project('.', scratch.parent.parent, real).kernel_scripts()
    sources = scratch / 'sources'
    sources.mkdir()
    for version in ('9.1', '9.2'):
        name = f'linux-source-{version}'
        shutil.copytree(KERNEL, scratch / name)
        shutil.copytree(scripts, scratch / name / 'scripts')
        subprocess.run(['tar', '-C', scratch, '-cJf',
                        sources / f'{name}.tar.xz', name], check=True)
    return sources


def good_copy(scratch):
    """A fresh copy of the good project, with this project's .clang-format and licences."""
    root = scratch / 'tree'
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(GOOD, root)
    top = pathlib.Path(__file__).parents[2]
    for name in ('.clang-format', '.clang-tidy', '.codespellrc'):
        shutil.copy(top / name, root)
    for name in ('.reuse', 'LICENSES'):
        shutil.copytree(top / name, root / name)
    (root / 'tools/debian').mkdir()
    shutil.copy(top / 'tools/debian/copyright', root / 'tools/debian')
    (root / 'LICENSES/GPL-2.0-or-later.txt').unlink()  # which none of its files has
    return root


def findings(group, root, scratch, sources, programs):
    project = Project(root, scratch / 'build', sources, programs)
    return lint.check(group, project)


def run_case(case, scratch, sources):
    """Return: the error of the rule, or an empty string."""
    root = good_copy(scratch)
    case.spoil(root)
    group = next(g for g in lint.GROUPS if case.rule in g.RULES)
    got = findings(group, root, scratch, sources, case.programs)
    hits = [place for *place, _, rule in got if rule == case.rule]
    if [case.path, case.line] in hits:
        return ''
    return f'expected {case.path}:{case.line}, found {got}'


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', default='build')
    parser.add_argument('--sources', default='/usr/src')
    args = parser.parse_args()
    scratch = pathlib.Path(args.build).resolve() / 'lint' / 'selftest'
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    sources = make_sources(scratch, args.sources)

    failed = 0
    for group in lint.GROUPS:
        for finding in findings(group, good_copy(scratch), scratch, sources, ['tools/prog']):
            print(f'FAIL: in the good project: {finding}')
            failed += 1
    for case in CASES:
        wrong = run_case(case, scratch, sources)
        if wrong:
            print(f'FAIL: {case.rule}: {case.name}: {wrong}')
            failed += 1
    rules = {rule for group in lint.GROUPS for rule in group.RULES}
    for rule in sorted(rules - {case.rule for case in CASES}):
        print(f'FAIL: {rule}: no case shows that it can fail')
        failed += 1
    print(f'lint selftest: {len(CASES) - failed} cases passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
