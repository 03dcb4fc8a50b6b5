# SPDX-License-Identifier: GPL-2.0-only
"""Public headers: each compiles alone, in every dialect."""

import re

from project import run

RULES = {
    'uapi-compile': 'the ABI header compiles alone: 32 and 64 bits, C99, C11, C++',
    'public-compile': 'each public header compiles alone as C11 and as C++',
}

C_WARNINGS = ('-Wall', '-Wextra', '-Wpadded', '-Werror')
UAPI = (
    ('cc', '-std=c99', '-m64', *C_WARNINGS),
    ('cc', '-std=c99', '-m32', *C_WARNINGS),
    ('cc', '-std=c11', '-m64', '-pedantic', *C_WARNINGS),
    ('cc', '-std=c11', '-m32', '-pedantic', *C_WARNINGS),
    ('c++', '-std=c++11', '-m64', *C_WARNINGS),
    ('c++', '-std=c++11', '-m32', *C_WARNINGS),
)
PUBLIC = (
    ('cc', '-std=c11', '-Wall', '-Wextra', '-Werror'),
    ('c++', '-std=c++11', '-Wall', '-Wextra', '-Werror'),
)
ROOTS = ('kernel-ext/include/uapi/', 'libktau/include/')


def check(project, found):
    machine = run(['cc', '-print-multiarch']).stdout.strip()
    # A 32-bit compiler expects <asm/types.h> in the folder of a 32-bit C library,
    # which is not installed; the kernel's headers are the same for both.
    system = ('-idirafter', f'/usr/include/{machine}')
    for root, rule, ways in zip(ROOTS, RULES, (UAPI, PUBLIC)):
        for path in project.files(f'{root}*.h'):
            for way in ways:
                _compile(project, path, rule, (*way, *system), found)


def _compile(project, path, rule, way, found):
    name = next(path[len(r):] for r in ROOTS if path.startswith(r))
    language = 'c++' if way[0] == 'c++' else 'c'
    includes = [f'-I{project.root / r}' for r in ROOTS]
    done = run([*way, *includes, '-fsyntax-only', '-x', language, '-'],
               cwd=project.root, input=f'#include <{name}>\nextern int one_declaration;\n')
    if done.returncode:
        match = re.search(r'^\S*?' + re.escape(path) +
                          r':(\d+)\S* \w+ ?\w*: (.*)$', done.stdout, re.M)
        line, reason = (int(match.group(1)), match.group(2)) if match else \
            (1, done.stdout.strip().splitlines()[0])
        found(rule, path, line, f'{" ".join(way[:3])}: {reason}')
