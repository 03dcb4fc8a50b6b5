#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print results parsed by the kernel source's kunit.py as TAP.

usage: kunit.py FILE.json LOG

A test that failed is described by its first failed expectation in LOG.
"""

import json
import re
import sys

WORDS = {'PASS': 'ok', 'SKIP': 'ok'}


def results(group):
    """(suite, test, status) of each test, in order."""
    for case in group.get('test_cases', ()):
        yield group['name'], case['name'], case['status']
    for inner in group.get('sub_groups', ()):
        yield from results(inner)


def reasons(log):
    """For the name of each failed test its first failed expectation: place and values."""
    why = {}
    failed = re.compile(r'\s*# (\w+): (?:EXPECTATION|ASSERTION) FAILED at (?:\S*/)?(\S+)')
    rest = iter(log)
    for line in rest:
        found = failed.match(line)
        if not found or found[1] in why:
            continue
        text = [found[2]]
        for line in rest:
            if not line.startswith('    ') or re.match(r'\s*(#|ok|not ok)\b', line):
                break
            text.append(line.strip())
        why[found[1]] = ' '.join(text)
    return why


def main():
    if len(sys.argv) != 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding='utf-8') as file:
        found = list(results(json.load(file)))
    with open(sys.argv[2], encoding='utf-8', errors='replace') as file:
        why = reasons(file)
    for suite, name, status in found:
        print(f'{WORDS.get(status, "not ok")} - {suite}: {name}' +
              (' # SKIP' if status == 'SKIP' else '') +
              (f': {why[name]}' if status not in WORDS and name in why else ''))
    print(f'1..{len(found)}')
    return any(status not in WORDS for _, _, status in found) or not found


if __name__ == '__main__':
    sys.exit(main())
