# SPDX-License-Identifier: GPL-2.0-only
"""Finds functions in C that is laid out in kernel style."""

import dataclasses
import re

NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"'
                   r"|'(?:\\.|[^'\\\n])*'", re.S)
BLOCK = re.compile(r'(\)|\belse|\bdo)\s*$')
ATTRIBUTE = re.compile(r'\b__(?:attribute__|aligned|section|printf|scanf|'
                       r'must_hold|acquires|releases|cold|alloc_size)\s*'
                       r'\((?:[^()]|\([^()]*\))*\)\s*')


@dataclasses.dataclass
class Function:
    """@line: where its declaration begins; @lines: from there to the last
    brace; @depth: how deep blocks stand in blocks, 0 for none;
    @parameters: 0 where it is always inlined, for nothing is passed."""
    name: str
    line: int
    lines: int
    depth: int
    parameters: int
    is_static: bool
    is_void: bool


def bare(text):
    """The text with comments and literals blanked, every line kept."""
    return NOISE.sub(lambda m: re.sub(r'[^\n]', ' ', m.group(0)), text)


def functions(text):
    """All functions of a file, by the brace that stands alone at the left."""
    lines = bare(text).splitlines()
    at = 0
    while at < len(lines):
        if lines[at].rstrip() != '{':
            at += 1
            continue
        end = next((i for i in range(at, len(lines))
                    if lines[i].startswith('}')), len(lines) - 1)
        start = at
        while start > 0 and _continues(lines[start - 1]):
            start -= 1
        function = _function(lines, start, at, end)
        if function:
            yield function
        at = end + 1


def _continues(line):
    """Does a declaration go on behind this line?"""
    return bool(line.strip()) and not line.startswith(('#', '}')) and \
        not line.rstrip().endswith((';', '\\'))


def _function(lines, start, brace, end):
    head = ATTRIBUTE.sub('', ' '.join(lines[start:brace]))
    match = re.match(r'([^(=]*?)\b(\w+)\s*\((.*)\)[^)]*$', head)
    if not match or re.match(r'\s*(struct|union|enum)\s+\w+\s*$', head):
        return None
    before, name, inside = match.groups()
    return Function(name, start + 1, end - start + 1,
                    _depth(lines[brace:end + 1]),
                    0 if '__always_inline' in before else _count(inside),
                    'static' in before.split(),
                    'void' in before.split() and '*' not in before)


def _count(inside):
    """How many parameters there are between the brackets."""
    flat = re.sub(r'\([^()]*\)', '', inside)
    if flat.strip() in ('', 'void'):
        return 0
    return sum(name.strip() != '...' for name in flat.split(','))


def _depth(body):
    """The deepest block; braces of initialisers do not count."""
    deepest, stack = 0, []
    before = ''
    for char in '\n'.join(body)[1:]:
        if char == '{':
            stack.append(bool(BLOCK.search(before)))
        elif char == '}' and stack:
            stack.pop()
        deepest = max(deepest, sum(stack))
        before = (before + char)[-40:]
    return deepest
