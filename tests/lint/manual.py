# SPDX-License-Identifier: GPL-2.0-only
"""Manual pages: well-formed and complete."""

import re

from project import run

RULES = {
    'man': 'mandoc -Tlint on every manual page',
    'man-program': 'every program has a manual page',
    'man-function': 'every function of the library is in a manual page',
}

DECLARATION = re.compile(r'^[a-z][\w \t*\n]*?\b(ktau_\w+)\(', re.M)


def check(project, found):
    pages = project.files('libktau/*.[1-8]', 'ktaud/*.[1-8]', 'tools/*/*.[1-8]', 'tools/*.[1-8]',
                          'zepto-config/*.[1-8]', 'tests/bgl/*/*.[1-8]')
    for page in pages:
        done = run(['mandoc', '-Tlint', '-Wwarning', page], cwd=project.root)
        for line in done.stdout.splitlines():
            match = re.match(r'mandoc: (.+?):(\d+):\d+: (.*)', line)
            if match:
                found('man', match.group(1), int(match.group(2)),
                      match.group(3))
    known = {page.rsplit('/', 1)[-1].rsplit('.', 1)[0] for page in pages}
    for program in project.programs:
        name = program.rsplit('/', 1)[-1]
        if name not in known:
            found('man-program', program, 1, f'no manual page {name}')
    _functions(project, pages, found)


def _functions(project, pages, found):
    words = {word for page in pages if page.startswith('libktau/')
             for word in re.findall(r'ktau_\w+', project.text(page))}
    for path in project.files('libktau/include/*.h'):
        text = project.text(path)
        for match in DECLARATION.finditer(text):
            if match.group(1) not in words:
                found('man-function', path,
                      text.count('\n', 0, match.start(1)) + 1,
                      f'no manual page has {match.group(1)}()')
