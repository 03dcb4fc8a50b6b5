#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The screens in the manual pages, from real runs.

    tests/unit/tools/screens.py BUILD [--write] PAGE...

In a page, the lines between

    .\\" screen: ktau report recorded.ktau
    .\\" end

are the output of that command with 80 columns, in a folder with the recording of a kernel
(recorded.ktau) and the files of the tests' machine (see sample.c). ktau top is run in a
terminal of 80 x 24. Without --write, a screen that differs from the page is reported and the
exit status is 1.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

SCREEN = re.compile(r'^\.\\" screen: ([^\n]*)\n(.*?)^\.\\" end\n', re.M | re.S)
DATA = pathlib.Path('tests/unit/tools/data')


def roff(text):
    """@text as lines of a page that print it unchanged."""
    lines = []
    for line in text.rstrip('\n').split('\n'):
        line = line.rstrip().replace('\\', '\\e').replace('-', '\\-')
        lines.append('\\&' + line if line[:1] in ('.', "'") else line)
    return '\n'.join(lines) + '\n'


class Folder:
    """The folder in which the commands run, with the programs in the path."""

    def __init__(self, build):
        self.path = pathlib.Path(tempfile.mkdtemp())
        programs = [(build / 'tools' / p).resolve() for p in ('ktau', 'funcmap')]
        self.environment = {
            'PATH': ':'.join([*map(str, programs), os.environ['PATH']]),
            'COLUMNS': '80', 'TZ': 'UTC', 'LC_ALL': 'C.UTF-8', 'TERM': 'screen',
            'NO_COLOR': '1',
        }
        subprocess.run([build / 'tests/unit/tools/sample', self.path], check=True)
        shutil.copy(DATA / 'recorded.ktau', self.path)
        shutil.copy(DATA / 'maps/good.map', self.path)

    def close(self):
        shutil.rmtree(self.path)

    def run(self, command):
        """The output of @command, including standard error."""
        if command.startswith('ktau top'):
            return self.top(command)
        return subprocess.run(command, shell=True, cwd=self.path, env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False).stdout.decode()

    def top(self, command):
        """The first screen of ktau top, without the empty lines before the keys."""
        tmux = ['tmux', '-S', self.path / 'tmux', '-f', '/dev/null']
        environment = {k: v for k, v in self.environment.items() if k != 'COLUMNS'}
        subprocess.run([*tmux, 'new-session', '-d', '-x', '80', '-y', '24',
                        command.replace('ktau top', 'ktau top -d 1000', 1)],
                       cwd=self.path, env=environment, check=True)
        screen = ''
        for _ in range(200):
            screen = subprocess.run([*tmux, 'capture-pane', '-p'], check=True,
                                    stdout=subprocess.PIPE).stdout.decode()
            if 'q quit' in screen:
                break
            time.sleep(0.02)
        subprocess.run([*tmux, 'kill-server'], check=True)
        return re.sub(r'\n{3,}', '\n\n', screen)


def page_with_screens(text, folder):
    def screen(match):
        return '.\\" screen: %s\n%s.\\" end\n' % (match[1], roff(folder.run(match[1])))

    return SCREEN.sub(screen, text)


def check(page, new):
    """The screens that differ, as lines of a diff."""
    for old, wanted in zip(SCREEN.finditer(page.read_text()), SCREEN.finditer(new)):
        if old[0] != wanted[0]:
            print(f'{page}: {old[1]}: differs from the output of the command:')
            print(wanted[2], end='')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('--write', action='store_true')
    parser.add_argument('pages', nargs='+', type=pathlib.Path)
    args = parser.parse_args()
    folder = Folder(args.build)
    wrong = 0
    for page in args.pages:
        new = page_with_screens(page.read_text(), folder)
        if new == page.read_text():
            continue
        if args.write:
            page.write_text(new)
            continue
        wrong += 1
        check(page, new)
    folder.close()
    return bool(wrong)


if __name__ == '__main__':
    sys.exit(main())
