# SPDX-License-Identifier: GPL-2.0-only
"""Reads a patch into blocks of changed lines with their line numbers."""

import dataclasses
import re

HUNK = re.compile(r'@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@')


@dataclasses.dataclass
class Line:
    """An added or removed line and its line number in the patch."""
    number: int
    text: str


@dataclasses.dataclass
class Block:
    """Adjacent removed and added lines."""
    removed: list = dataclasses.field(default_factory=list)
    added: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Hunk(Block):
    """All lines that a hunk removes and adds. @number: its line in the patch;
    @start: its line in the file; @old: the lines that it expects there."""
    number: int = 0
    start: int = 0
    old: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class File:
    """The changes of a patch to one file."""
    number: int
    old: str
    new: str = ''
    blocks: list = dataclasses.field(default_factory=list)
    hunks: list = dataclasses.field(default_factory=list)

    @property
    def path(self):
        return self.new.partition('/')[2]

    @property
    def added(self):
        return [line for block in self.blocks for line in block.added]


@dataclasses.dataclass
class Patch:
    """@extended: git's lines that create, delete, rename or chmod a file;
    @broken: lines that cannot be read, with the reason."""
    head: list = dataclasses.field(default_factory=list)
    files: list = dataclasses.field(default_factory=list)
    extended: list = dataclasses.field(default_factory=list)
    broken: list = dataclasses.field(default_factory=list)


EXTENDED = re.compile(r'(new|deleted) file mode|(old|new) mode|rename |copy '
                      r'|GIT binary patch|Binary files ')


def _name(line):
    return line[4:].split('\t')[0].strip()


def _hunk(lines, start, patch):
    """Read the hunk whose @@ line is lines[start]; return the index after it."""
    first, old, new = (int(n) if n else 1
                       for n in HUNK.match(lines[start]).groups())
    file, block, at = patch.files[-1], None, start + 1
    hunk = Hunk(number=start + 1, start=first)
    file.hunks.append(hunk)
    while old > 0 or new > 0:
        if at == len(lines) or lines[at][:1] not in ('+', '-', ' ', ''):
            patch.broken.append((start + 1, 'the hunk ends too early'))
            break
        sign, line = lines[at][:1], Line(at + 1, lines[at][1:])
        if sign in ('+', '-'):
            if not block:
                block = Block()
                file.blocks.append(block)
            for part in (block, hunk):
                (part.added if sign == '+' else part.removed).append(line)
        else:
            block = None
        if sign != '+':
            hunk.old.append(line.text)
        old -= sign != '+'
        new -= sign != '-'
        at += 1
    return at


def parse(text):
    """Read a patch. The result is valid for any contents."""
    lines, patch, at = text.splitlines(), Patch(), 0
    while at < len(lines):
        line = lines[at]
        following = lines[at + 1] if at + 1 < len(lines) else ''
        if line.startswith('--- ') and following.startswith('+++ '):
            patch.files.append(File(at + 1, _name(line), _name(following)))
            at += 2
        elif HUNK.match(line) and patch.files:
            at = _hunk(lines, at, patch)
        else:
            if EXTENDED.match(line):
                patch.extended.append(Line(at + 1, line))
            elif not patch.files:
                patch.head.append(Line(at + 1, line))
            at += 1
    return patch
