#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Damage a trace in many ways: ktau import never crashes, and what it writes can be read.

usage: import_damaged.py KTAU DIRECTORY SEED NUMBER INPUT...

INPUT is a file or a directory, of which one file is damaged at a time in DIRECTORY.
"""

import os
import random
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor


def damage(data, rand):
    """Change some bytes, or cut the end."""
    data = bytearray(data)
    if rand.randrange(4) == 0:
        return data[:rand.randrange(len(data) + 1)]
    for _ in range(rand.choice((1, 1, 2, 8))):
        if data:
            data[rand.randrange(len(data))] = rand.choice(
                (0, 0xff, 0x7f, 0x80, rand.randrange(256)))
    return data


def files(path):
    """All files of a trace."""
    if os.path.isfile(path):
        return [path]
    return sorted(os.path.join(top, name) for top, _, names in os.walk(path) for name in names)


def run(*words):
    """The exit status and the messages."""
    # The libraries do not free all memory after an error, and allocate what a damaged length says.
    options = (os.environ.get('ASAN_OPTIONS', '') +
               ':detect_leaks=0:allocator_may_return_null=1')
    done = subprocess.run(words, capture_output=True, timeout=60, check=False,
                          env=dict(os.environ, ASAN_OPTIONS=options))
    return done.returncode, done.stderr.decode(errors='replace')


def first_frame(said):
    """Where a sanitizer has found a fault, apart from its own functions."""
    for frame in re.findall(r'^ +#\d+ .*$', said, re.M):
        if 'libsanitizer' not in frame:
            return frame
    return ''


def is_wrong(status, said):
    """Whether ktau has a fault. Libraries have some, so they run in a process of their own. That
    memory was refused is a warning of a sanitizer."""
    if status not in (0, 1) or 'runtime error' in said:
        return True
    return bool(re.search('ERROR: [A-Za-z]+Sanitizer', said)) and '.so' not in first_frame(said)


def copy_to(source, target):
    (shutil.copyfile if os.path.isfile(source) else shutil.copytree)(source, target)


def remove(path):
    if os.path.isfile(path):
        os.unlink(path)
    shutil.rmtree(path, ignore_errors=True)


def attempt(ktau, work, source, name):
    """Import a damaged copy of @source. Return: whether nothing crashed; the copy is kept if not."""
    rand = random.Random(name)
    copy = os.path.join(work, f'damaged-{name}')
    output = copy + '.ktau'
    copy_to(source, copy)
    path = rand.choice(files(copy))
    with open(path, 'rb') as file:
        data = damage(file.read(), rand)
    with open(path, 'wb') as file:
        file.write(data)
    status, said = run(ktau, 'import', copy, '-o', output)
    if status in (0, 1) and os.path.exists(output):
        status, said = run(ktau, 'check', output)
    remove(output)
    if is_wrong(status, said):
        print(f'{copy} of {source}: status {status}: {said[:300]}')
        return False
    remove(copy)
    return True


def main():
    ktau, work, seed, number, *inputs = sys.argv[1:]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        good = pool.map(lambda i: attempt(ktau, work, inputs[i % len(inputs)], f'{seed}-{i}'),
                        range(int(number)))
        sys.exit(0 if all(list(good)) else 1)


if __name__ == '__main__':
    main()
