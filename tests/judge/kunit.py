#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print results parsed by the kernel source's kunit.py as TAP.

usage: kunit.py FILE.json
"""

import json
import sys

WORDS = {'PASS': 'ok', 'SKIP': 'ok'}


def results(group):
    """(suite, test, status) of each test, in order."""
    for case in group.get('test_cases', ()):
        yield group['name'], case['name'], case['status']
    for inner in group.get('sub_groups', ()):
        yield from results(inner)


def main():
    if len(sys.argv) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding='utf-8') as file:
        found = list(results(json.load(file)))
    for suite, name, status in found:
        print(f'{WORDS.get(status, "not ok")} - {suite}: {name}' +
              (' # SKIP' if status == 'SKIP' else ''))
    print(f'1..{len(found)}')
    return any(status not in WORDS for _, _, status in found) or not found


if __name__ == '__main__':
    sys.exit(main())
