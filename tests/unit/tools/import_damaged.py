#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Damage a trace in many ways: ktau import never crashes, and what it writes can be read.

usage: import_damaged.py KTAU DIRECTORY SEED NUMBER INPUT...

INPUT is a file or a directory, of which one file is damaged at a time in DIRECTORY.
"""

import os
import random
import shutil
import subprocess
import sys


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


def main():
    ktau, work, seed, number, *inputs = sys.argv[1:]
    rand = random.Random(int(seed))
    failed = 0
    output = os.path.join(work, 'damaged.ktau')
    for i in range(int(number)):
        source = inputs[i % len(inputs)]
        copy = os.path.join(work, 'damaged')
        shutil.rmtree(copy, ignore_errors=True)
        if os.path.isfile(copy):
            os.unlink(copy)
        (shutil.copyfile if os.path.isfile(source) else shutil.copytree)(source, copy)
        path = rand.choice(files(copy))
        with open(path, 'rb') as file:
            data = damage(file.read(), rand)
        with open(path, 'wb') as file:
            file.write(data)
        if os.path.exists(output):
            os.unlink(output)
        status, said = run(ktau, 'import', copy, '-o', output)
        if status in (0, 1) and os.path.exists(output):
            status, said = run(ktau, 'check', output)
        if status not in (0, 1) or 'Sanitizer' in said or 'runtime error' in said:
            failed += 1
            print(f'damage {i} of {source}, seed {seed}: status {status}: {said[:300]}')
            kept = os.path.join(work, f'failed-{i}')
            (shutil.copyfile if os.path.isfile(copy) else shutil.copytree)(copy, kept)
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
