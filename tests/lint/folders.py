# SPDX-License-Identifier: GPL-2.0-only
"""The order of the folders of the tools.

The README.md of a folder says in a paragraph "May include:" on which other
folders of the tools its code depends.
"""

import re

import circles

RULES = {
    'tools-order': 'a folder of tools depends only on the folders that its README.md names, and '
                   'these not on it',
    'tools-readme': 'each folder of tools with C code has a README.md of at most 15 lines',
}

TOOLS = 'tools/'
AREA = next(area for area in circles.AREAS if TOOLS in area)
README_LINES = 15
STATED = re.compile(r'^May include:(.*?)(?:\n\n|\Z)', re.M | re.S)


def check(project, found):
    stated = {folder: _stated(project, folder, found) for folder in _folders(project)}
    _circles(stated, found)
    # In user space, no macro of the hooks hides a call
    for module, uses in sorted(circles.depend(circles.sources(project, AREA), {}).items()):
        folder = _folder(module)
        for other, (path, line) in sorted(uses.items()):
            target = _folder(other)
            if folder in stated and target in stated and \
                    target not in stated[folder].keys() | {folder}:
                found('tools-order', path, line, f'{folder}/README.md does not name {target}')


def _folder(path):
    return path.rsplit('/', 1)[0]


def _folders(project):
    return sorted({_folder(path) for path in project.files(f'{TOOLS}*.[ch]')
                   if path.count('/') > 1})


def _stated(project, folder, found):
    """Folder that may be included -> line of the README.md that names it."""
    readme = f'{folder}/README.md'
    if readme not in project.files():
        found('tools-readme', project.files(f'{folder}/*.[ch]')[0], 1, f'no {readme}')
        return {}
    text = project.text(readme)
    if len(project.lines(readme)) > README_LINES:
        found('tools-readme', readme, README_LINES + 1, f'more than {README_LINES} lines')
    paragraph = STATED.search(text)
    if not paragraph:
        found('tools-readme', readme, 1, 'no paragraph "May include:"')
        return {}
    return {match.group(1): text.count('\n', 0, paragraph.start(1) + match.start()) + 1
            for match in re.finditer(rf'`({TOOLS}[^`]*)`', paragraph.group(1))}


def _circles(stated, found):
    """Folders that name each other have no order. A folder that does not exist has no place."""
    graph = {folder: {} for folder in stated}
    for folder, names in stated.items():
        for other, line in names.items():
            if other in graph:
                graph[folder][other] = line
            else:
                found('tools-order', f'{folder}/README.md', line, f'no C code in {other}')
    for group in circles.components(graph):
        ring = circles.shortest(graph, group)
        found('tools-order', f'{ring[0]}/README.md', graph[ring[0]][ring[1]],
              'circle: ' + ' -> '.join(ring))
