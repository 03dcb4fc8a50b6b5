#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The screens in the manual pages, from real runs.

    tests/unit/tools/screens.py BUILD [--write] PAGE...
    tests/unit/tools/screens.py BUILD --list PAGE...
    tests/unit/tools/screens.py BUILD --guest FOLDER [--write] PAGE...
    tests/unit/tools/screens.py BUILD --folder FOLDER

In a manual page, the lines between

    .\\" screen: ktau report recorded.ktau
    .\\" end

are the command and its output in 80 columns, in a folder with the recording of a kernel
(recorded.ktau, also in the folder spool), two recordings of all tasks (login.ktau, family.ktau), a
larger file (wide.ktau), a hardware trace (snapshot, program.map), a trace of references to pages
(session.ktau) and the files of the tests' machine (see sample.c). ktau top is run in a terminal of
80 x 24. Without --write, a screen that differs from the page is reported and the exit status is 1.

    .\\" like: ktau export --perfetto recorded.ktau

is a command with figures that differ from run to run. Without --write only the form of the
output is compared: headings word by word, other lines by the kinds of their columns (see form()).

    .\\" guest: # ktau status --counters

is such a command that needs a kernel with KTAU. It runs as root, or as a user if the prompt is
"$". tests/guest/screens runs it; --list prints the script's input, FOLDER has its output.

In a page in Markdown, the commands of KTAU in its screens are run, and have to succeed unless the
page shows a message. Their figures are those of other machines. If one of a page needs a kernel
with KTAU, all of its commands are run in the guest, where the folder is made with --folder.
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

import cycles_encode
import pages_encode

SCREEN = re.compile(r'^\.\\" (screen|like|guest): (?:([#$]) )?([^\n]*)\n(.*?)^\.\\" end\n',
                    re.M | re.S)
FENCED = re.compile(r'^```\w*\n(.*?)^```', re.M | re.S)
EXAMPLE = re.compile(r'^([$#]) (?:build/bin/)?((?:\w+=\S+ )*(?:ktau|ktaud|ktau-move|funcMap) [^#\n]*\w)'
                     r'.*\n(ktau[\w ]*: )?', re.M)
# Other tests run these or their like: references, shared-files in test_ship, tiers, views, ciod; the
# device of ktau cycles on perf.data is in no emulator.
ELSEWHERE = re.compile(r'ktau pages record|ktau pages workingset --pid|.* sort\.lackey|.* client/|'
                       r'ktau-move|KTAU_USER_TRACE=|ktau view --live|ktau cycles .* perf\.data|'
                       r'ktau report --name=ciod')
# tests/guest/tutorial and the case cluster execute these as a whole.
EXECUTED = ('tutorial.md', 'cluster.md')
DATA = pathlib.Path('tests/unit/tools/data')
FOLDER = '/run/screens/'
SHIPPED = 'ionode-20261122T042820.629Z.ktau'


def roff(text):
    """@text in roff: lines that are printed unchanged."""
    lines = []
    for line in text.rstrip('\n').split('\n'):
        line = line.rstrip().replace('\\', '\\e').replace('-', '\\-')
        lines.append('\\&' + line if line[:1] in ('.', "'") else line)
    return '\n'.join(lines) + '\n'


def refused(status):
    """A line that no page has, if a command ended like one whose command line is invalid."""
    return 'the command line is invalid\n' if status == 2 else ''


class Folder:
    """The folder in which the commands run, with the programs in the path."""

    def __init__(self, build):
        self.path = pathlib.Path(tempfile.mkdtemp())
        self.build = build.resolve()
        self.terminals = 0
        programs = [(build / p).resolve() for p in ('tools/ktau', 'tools/funcmap', 'ktaud', 'ktaud/ship',
                                                    'tests/bgl/ciod', 'tests/bgl/cnk')]
        programs.append(self.path / 'bin')
        self.environment = {
            'PATH': ':'.join([*map(str, programs), os.environ['PATH']]),
            'COLUMNS': '80', 'TZ': 'UTC', 'LC_ALL': 'C.UTF-8', 'TERM': 'screen',
            'NO_COLOR': '1',
        }
        subprocess.run([build / 'tests/unit/tools/sample', self.path], check=True)
        for name in ('recorded', 'login', 'family'):
            shutil.copy(DATA / f'{name}.ktau', self.path)
        shutil.copy(DATA / 'maps/good.map', self.path)
        for folder in ('bin', 'spool', 'incoming'):
            (self.path / folder).mkdir()
        (self.path / 'bin/ktau-nats-conf').symlink_to(pathlib.Path('ktaud/ship/nats_conf.py').resolve())
        (self.path / 'hosts').write_text('n1.example.org\nn2.example.org\n')
        shutil.copy(DATA / 'recorded.ktau', self.path / 'spool' / SHIPPED)
        cycles_encode.etm3_snapshot(self.path / 'snapshot', cycles_encode.etm3(1, 100, True)[0])
        (self.path / 'program.map').write_text(cycles_encode.ARM_MAP)
        (self.path / 'session.ktau').write_bytes(pages_encode.session())
        self.stand_ins()

    def stand_ins(self):
        """What the pages in Markdown take from the reader's machine."""
        shutil.copy(DATA / 'recorded.ktau', self.path / 'FILE')
        shutil.copy(DATA / 'points.view', self.path / 'workers.view')
        (self.path / 'make-report').write_text('#!/bin/sh\nsleep 0.2\ncat /proc/kallsyms | sort > /dev/null\n')
        (self.path / 'make-report').chmod(0o755)
        home = self.path / 'lttng-traces'
        home.mkdir()
        shutil.unpack_archive(DATA / 'ranks.tar.gz', home)
        (home / 'ranks').rename(home / 'job-20261130')
        self.environment['HOME'] = str(self.path)
        # Without libbabeltrace2 there is no import.
        self.imports = not self.run_status('ktau import lttng-traces/job-* -o ranks.ktau')[1]

    def close(self):
        shutil.rmtree(self.path)

    def run(self, command):
        """The output of @command, including standard error."""
        if command.startswith('ktau top'):
            return self.top(command)
        if 'wide.ktau' in command:
            subprocess.run([self.build / 'tests/unit/tools/export_fixture',
                            self.path / 'wide.ktau', '40', '50', '520'], check=True)
        printed, status = self.run_status(command)
        return printed + refused(status)

    def run_status(self, command):
        done = subprocess.run(command, shell=True, cwd=self.path, env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.stdout.decode(), done.returncode

    def top(self, command):
        """The first screen of ktau top, without the empty lines before the keys."""
        # A server that was told to end may still have its socket.
        self.terminals += 1
        tmux = ['tmux', '-S', self.path / f'tmux{self.terminals}', '-f', '/dev/null']
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


# The columns of ktau top. Which tasks it shows, and what they do, depends on the moment.
SHARE, NUMBER = r'(?:\d+\.\d%|n/a)', r'(?:\d+(?:\.\d)?|n/a)'
TOP = {'TASKS': r'\d+', 'USER': SHARE, 'KERNEL': SHARE, 'IRQ': NUMBER, 'RUNQ': NUMBER,
       'ASLEEP': NUMBER}
# Routines from the outermost to the innermost, since when; cut off at the end of the line
ROUTINE = r'[\w:.+<-]+'
DOING = (rf'(?:\(exited\)|user mode|-|{ROUTINE}(?: > {ROUTINE})*(?:, [\d.]+(?: [mun]?s?)?)?'
         '(?: >?|,)?)')
TOP_HEADING = re.compile(r'NAME +((?:(?:' + '|'.join(TOP) + ') +)+)DOING NOW')


def top_row(heading):
    """The pattern of a row below the heading of ktau top."""
    columns = ' +'.join(TOP[word] for word in heading[1].split())
    return re.compile(rf'\S.*? +{columns} +{DOING}')


def is_figure(word):
    """Whether a word is a figure, or stands for a missing one; sys_getdents64 is a name."""
    return re.search(r'\d|^(-|n/a)$', word) and not re.fullmatch(r'[a-z]+_\w+', word)


def without_share(line):
    """A line of the table of processes without the share of the top routine.

    The column is left out if the names beside it are long.
    """
    if re.match(r'NAME .* TOP ROUTINE +share +WAITS', line):
        return re.sub(r' share ', ' ', line)
    return re.sub(r'^(\S.*%.*%.* [a-z]\S*) +\d+\.\d% +(\S+)$', r'\1 \2', line)


def form(screen):
    """The part of a screen that does not differ from run to run.

    Returns the lines without figures, in order, and for the other lines the set of their forms:
    0 for a figure or a missing one, w for one or more words. Bars of #, | or = are ignored. Each
    row of ktau top must match its heading column by column; which rows there are is not compared,
    except that of the load of tests/guest/screens. Not every kernel has the group func.
    """
    headings, rows, row = [], set(), None
    screen = screen.replace(',func,', ',')
    screen = re.sub(r'losses: (?:none|\d+ \(l\))', 'losses: 0', screen.replace('\\-', '-'))
    for line in screen.split('\n'):
        line = without_share(line)
        heading = TOP_HEADING.fullmatch(line)
        if heading:
            row = top_row(heading)
        elif row and row.fullmatch(line):
            load = line.startswith('dd ') and 'n/a' not in line
            rows.add('the load' if load else 'another row of ktau top')
            continue
        words = [w for w in line.split() if not re.fullmatch(r'[][#|=]+', w)]
        if words and not any(is_figure(w) for w in words):
            headings.append(' '.join(words))
        kinds = ['0' if is_figure(w) else 'w' for w in words]
        if '0' in kinds:
            rows.add(re.sub(r'w( w)*', 'w', ' '.join(kinds)))
    return headings, rows


def compare(page, kind, command, old, new):
    """Whether a screen equals the output of its command; prints a difference."""
    if old == new or (kind != 'screen' and form(old) == form(new)):
        return True
    print(f'{page}: {command}: not what the command prints:')
    print(new, end='')
    if kind != 'screen':
        print('its form here, and in the page:', form(new), form(old), sep='\n')
    return False


class Guest:
    """The output of tests/guest/screens, in the order of the list."""

    def __init__(self, folder):
        self.folder = folder
        self.number = 0

    def next(self):
        printed, status = self.next_status()
        return printed.replace(FOLDER, '') + refused(status)

    def next_status(self):
        self.number += 1
        printed = (self.folder / str(self.number)).read_text()
        return printed, int((self.folder / f'{self.number}.status').read_text())


def examples(page):
    """Prompt, command and whether it may fail, for each command of a page in Markdown."""
    if page.name in EXECUTED:
        return []
    return [(m[1], m[2], m[3]) for screen in FENCED.finditer(page.read_text())
            for m in EXAMPLE.finditer(screen[1]) if not ELSEWHERE.match(m[2])]


def needs_guest(page):
    return any(prompt == '#' for prompt, _, _ in examples(page))


def guest_commands(page):
    """Prompt and command for each that tests/guest/screens runs."""
    if page.suffix == '.md':
        return [e[:2] for e in examples(page) if needs_guest(page)]
    return [(m[2], m[3]) for m in SCREEN.finditer(page.read_text()) if m[1] == 'guest']


def check_examples(page, run):
    """Whether the commands of a page in Markdown succeed; @run returns the output and the status."""
    good = True
    for _, command, message in examples(page):
        printed, status = run(command)
        # ktau status says by 1 that something cannot be measured here.
        if status and not (status == 1 and (message or command == 'ktau status')):
            print(f'{page}: {command}: exit status {status}:', printed, sep='\n')
            good = False
    return good


def check(page, write, run):
    """Compare or replace each screen of @page; run(kind, command) returns None to skip one."""
    good = True

    def screen(match):
        nonlocal good
        kind, prompt, command, old = match.groups()
        printed = run(kind, command)
        if printed is None:
            return match[0]
        new = roff('%s %s\n%s' % (prompt or '$', command, printed))
        if not write:
            good = compare(page, kind, command, old, new) and good
        return match[0][:-len(old) - len('.\\" end\n')] + new + '.\\" end\n'

    text = page.read_text()
    new = SCREEN.sub(screen, text)
    if write and new != text:
        page.write_text(new)
    return good


def check_page(page, write, folder, guest):
    """Whether what @page shows is so, as far as it is run in @folder, or else in @guest."""
    if page.suffix == '.md':
        if bool(guest) != needs_guest(page):
            return True
        if folder and not folder.imports and 'ktau import' in page.read_text():
            return True
        return check_examples(page, (lambda _: guest.next_status()) if guest else folder.run_status)
    if guest:
        return check(page, write, lambda kind, _: guest.next() if kind == 'guest' else None)
    return check(page, write, lambda kind, command: folder.run(command) if kind != 'guest' else None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('--write', action='store_true')
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--guest', type=pathlib.Path)
    parser.add_argument('--folder', type=pathlib.Path)
    parser.add_argument('pages', nargs='*', type=pathlib.Path)
    args = parser.parse_intermixed_args()
    if args.list:
        for page in args.pages:
            for prompt, command in guest_commands(page):
                print(page, prompt, command, sep='\t')
        return 0
    folder = Folder(args.build) if not args.guest else None
    guest = Guest(args.guest) if args.guest else None
    if args.folder:
        shutil.copytree(folder.path, args.folder, symlinks=True, dirs_exist_ok=True)
        args.pages = []
    good = [check_page(page, args.write, folder, guest) for page in args.pages]
    if folder:
        folder.close()
    return not all(good)


if __name__ == '__main__':
    sys.exit(main())
