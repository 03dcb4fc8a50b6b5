# SPDX-License-Identifier: GPL-2.0-only
"""Finds functions in C code in kernel style."""

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
    """@line: first line of its declaration; @lines: number of lines to the
    last brace; @depth: nesting depth of blocks, 0 for none; @parameters: 0 if
    it is always inlined, because then none are passed."""
    name: str
    line: int
    lines: int
    depth: int
    parameters: int
    is_static: bool
    is_void: bool


def bare(text):
    """The text with comments and literals blanked, and with the same lines."""
    return NOISE.sub(lambda m: re.sub(r'[^\n]', ' ', m.group(0)), text)


def functions(text):
    """All functions of a file, found by a brace alone at the left margin."""
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
    """Whether a declaration continues after this line."""
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
    """Number of parameters between the parentheses."""
    flat = re.sub(r'\([^()]*\)', '', inside)
    if flat.strip() in ('', 'void'):
        return 0
    return sum(name.strip() != '...' for name in flat.split(','))


def _depth(body):
    """Depth of the deepest block; braces of initialisers do not count."""
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
