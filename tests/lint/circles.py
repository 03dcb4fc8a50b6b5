# SPDX-License-Identifier: GPL-2.0-only
"""Modules must not depend on each other in a circle.

A module is a .c file together with the header of the same name in its folder.
It depends on every module whose header it includes, and on every module whose
functions or variables it uses, regardless of the header that declares them.
Taking the address of a function is a use of it.
"""

import dataclasses
import re

import functions

RULES = {
    'circle': 'modules do not include or call each other in a circle',
    'folder-order': 'kernel/ktau: a module depends on its own folder and those before it only',
    'folder-readme': 'kernel/ktau: each folder has a README.md of at most 15 lines',
}

KERNEL = 'kernel-ext/kernel/ktau/'
# Groups of folders whose modules are checked together.
AREAS = (
    (KERNEL,),
    ('libktau/', 'ktaud/', 'tools/'),
    ('tests/bgl/',),
)
# Inline definitions in these headers count as code of the modules that use them.
HOOKS = ('kernel-ext/include/linux/ktau*.h',)

# The folders of KERNEL, each above those before it.
FOLDERS = ('base', 'measure', 'tasks', 'extend', 'regions', 'read', 'references',
           'control', 'tests')
README_LINES = 15
TESTS = re.compile(r'(^|/)tests?/|(^|/)test_|_test\.[ch]$')

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"\n]+)"', re.M)
# The body of a macro counts as code.
DIRECTIVE = re.compile(r'^[ \t]*#(?![ \t]*define\b)(?:[^\n\\]|\\.|\\\n)*', re.M)
WORD = re.compile(r'[A-Za-z_]\w*')
TAG = re.compile(r'\b(?:struct|union|enum)\s+\w+')
EXTERN = re.compile(r'^(?:extern|DECLARE_PER_CPU\()\b[^;{]*;', re.M)
DECLARED = re.compile(r'(\w+)(?:\s*\[[^\]]*\])*\s*\)?\s*[;,]')
# "u32 name", "struct x *name": the declared name hides a function of that name.
LOCAL = re.compile(r'(?:\b[A-Za-z_]\w*[ \t]+\**|\*[ \t]*)([A-Za-z_]\w*)\s*'
                   r'(?=[;,=)\[])')
NO_TYPE = re.compile(r'\b(?:return|else|case|goto|sizeof)\s+\**$')


@dataclasses.dataclass
class Source:
    """One file; @defines and @statics are its functions."""
    path: str
    text: str
    defines: dict
    statics: set
    includes: list

    @property
    def module(self):
        return self.path.rsplit('.', 1)[0]

    @property
    def folder(self):
        return self.path.rsplit('/', 1)[0]


def check(project, found):
    for area in AREAS:
        for path, line, circle in circles(project, area):
            found('circle', path, line, 'circle: ' + ' -> '.join(circle))
    _folders(project, found)


def _folders(project, found):
    """Compare the kernel's modules with the order of their folders."""
    place = {name: at for at, name in enumerate(FOLDERS)}
    for path in project.files(f'{KERNEL}*.[chS]'):
        if _folder(path) not in place:
            found('folder-order', path, 1, f'not in a folder of {KERNEL}: ' + ' '.join(FOLDERS))
    for name in FOLDERS:
        _readme(project, f'{KERNEL}{name}/', found)
    for module, uses in sorted(depend(sources(project, (KERNEL,)), _hooks(project)).items()):
        for other, (path, line) in sorted(uses.items()):
            if place.get(_folder(other), 0) > place.get(_folder(module), len(place)):
                found('folder-order', path, line,
                      f'{_folder(module)} is before {_folder(other)}, which has {_name(other)}')


def _folder(path):
    return path.removeprefix(KERNEL).split('/')[0]


def _readme(project, folder, found):
    readme = f'{folder}README.md'
    if not project.files(f'{folder}*.[ch]'):
        return
    if readme not in project.files():
        found('folder-readme', project.files(f'{folder}*.[ch]')[0], 1, f'no {readme}')
    elif len(project.lines(readme)) > README_LINES:
        found('folder-readme', readme, README_LINES + 1, f'more than {README_LINES} lines')


def _name(module):
    return module.rsplit('/', 1)[1]


def circles(project, area):
    """The shortest circle of each group of modules that reach each other.

    Yields the place where the circle's first module depends on its second
    one, and the names of the modules, the first one again at the end.
    """
    graph = depend(sources(project, area), _hooks(project))
    for group in components(graph):
        ring = shortest(graph, group)
        path, line = graph[ring[0]][ring[1]]
        yield path, line, [_name(module) for module in ring]


def sources(project, area):
    """Every file of the area's folders except tests and BPF programs, whose SEC() looks like a
    function."""
    wanted = [f'{folder}*.[ch]' for folder in area]
    return [read(project, path) for path in project.files(*wanted)
            if not any(path.startswith(folder) and TESTS.search(path[len(folder):])
                       for folder in area) and not path.endswith('.bpf.c')]


def read(project, path):
    """Parse one file."""
    raw = project.text(path)
    text = functions.bare(raw)
    defined = list(functions.functions(raw))
    statics = {f.name for f in defined if f.is_static}
    return Source(path, DIRECTIVE.sub(blank, text),
                  {f.name: f.line for f in defined if not f.is_static}, statics,
                  [(match.group(1), raw.count('\n', 0, match.start()) + 1)
                   for match in INCLUDE.finditer(raw)])


def blank(match):
    return re.sub(r'[^\n]', ' ', match.group(0))


def _hooks(project):
    """Name of a macro or inline function of the hooks -> words in its body."""
    bodies = {}
    for path in project.files(*HOOKS):
        text = functions.bare(project.text(path))
        text = re.sub(r'\\\n', ' ', text)
        for match in re.finditer(r'^#[ \t]*define[ \t]+(\w+)(.*)$', text, re.M):
            bodies.setdefault(match.group(1), set()).update(
                WORD.findall(match.group(2)))
        for match in re.finditer(r'^static[^;{}]*?\b(\w+)\([^;{}]*\)\s*^\{(.*?)^\}',
                                 text, re.M | re.S):
            bodies.setdefault(match.group(1), set()).update(
                WORD.findall(match.group(2)))
    return {name: _expand(bodies, name) for name in bodies}


def _expand(bodies, name):
    """All words that a macro or inline function expands to."""
    seen, todo = set(), [name]
    while todo:
        for word in bodies.get(todo.pop(), ()):
            if word not in seen:
                seen.add(word)
                todo.append(word)
    return seen


def depend(files, hooks):
    """Module -> module that it depends on -> (path, line) of the first use."""
    graph = {source.module: {} for source in files}
    owners = definitions(files)
    paths = {source.path: source for source in files}
    for source in files:
        uses = graph[source.module]
        for name, line in source.includes:
            target = included(paths, source, name)
            if target and target.module != source.module:
                uses.setdefault(target.module, (source.path, line))
        for name, line in references(source, owners, hooks):
            target = resolve(source, owners[name])
            if target and target.module != source.module:
                uses.setdefault(target.module, (source.path, line))
    return graph


def included(paths, source, name):
    """The file named by an #include: in the same folder, or the only such file."""
    beside = paths.get(f'{source.folder}/{name}')
    if beside:
        return beside
    other = [s for p, s in paths.items() if p.endswith(f'/{name}')]
    return other[0] if len(other) == 1 else None


def definitions(files):
    """Name -> sources that define a function or variable with it."""
    owners = {}
    variables = {name for source in files for match in EXTERN.finditer(source.text)
                 for name in DECLARED.findall(match.group(0))[-1:]}
    for source in files:
        for name in source.defines:
            owners.setdefault(name, []).append(source)
        if source.path.endswith('.c'):
            for name in variables & set(top_level(source.text)):
                owners.setdefault(name, []).append(source)
    return owners


def top_level(text):
    """Names on lines that begin a definition outside functions."""
    for line in text.splitlines():
        if re.match(r'[A-Za-z_]', line) and not line.startswith(('extern', 'static ')):
            yield from WORD.findall(TAG.sub('', line.split('=')[0]))


def references(source, owners, hooks):
    """(name, line) of the first use of each name that another file may define."""
    for name, line in words(source, set(owners) | set(hooks)):
        if name in owners:
            yield name, line
        for word in hooks.get(name, ()):
            if word in owners and word not in source.statics:
                yield word, line


def words(source, wanted):
    """(name, line) of the first use of each wanted name that a file has."""
    seen = set(source.statics)
    hidden = {match.group(1) for match in LOCAL.finditer(source.text)
              if not NO_TYPE.search(source.text[:match.start(1)][-20:])}
    for match in WORD.finditer(source.text):
        name = match.group(0)
        if name in seen or name not in wanted:
            continue
        after = source.text[match.end():match.end() + 2].lstrip()
        before = source.text[:match.start()][-2:].rstrip()
        if before.endswith(('.', '->')) or is_declared(source.text, match):
            continue
        if not after.startswith('(') and name in hidden:
            continue
        seen.add(name)
        yield name, source.text.count('\n', 0, match.start()) + 1


def is_declared(text, match):
    """Whether this is a type, or the name in a declaration at the left margin."""
    start = text.rfind('\n', 0, match.start()) + 1
    head = text[start:match.start()]
    return bool(re.search(r'\b(?:struct|union|enum)\s+$', head)) or \
        bool(re.match(r'[A-Za-z_][\w\s*]*$', head)) or \
        bool(re.match(r'(?:extern|DECLARE_|DEFINE_)', text[start:]))


def resolve(source, candidates):
    """The definition that a use refers to, or None if that is not certain."""
    if source in candidates:
        return source
    beside = [c for c in candidates if c.folder == source.folder]
    chosen = beside or candidates
    return chosen[0] if len(chosen) == 1 else None


def components(graph):
    """Groups of two or more modules that all reach each other, sorted by name."""
    reach = {module: reachable(graph, module) for module in graph}
    groups = {frozenset(other for other in reach[module] if module in reach[other])
              for module in graph if module in reach[module]}
    return sorted((group for group in groups if len(group) > 1), key=sorted)


def reachable(graph, module):
    """All modules that a module depends on, directly or indirectly."""
    seen, todo = set(), [module]
    while todo:
        for other in graph[todo.pop()]:
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return seen


def shortest(graph, group):
    """A shortest circle within a group, with its first name again at the end."""
    best = None
    for first in sorted(group):
        ring = ring_from(graph, group, first)
        if best is None or len(ring) < len(best):
            best = ring
    return best


def ring_from(graph, group, first):
    """A shortest path from a module back to itself."""
    ways, todo = {first: [first]}, [first]
    for module in todo:
        for other in sorted(set(graph[module]) & group):
            if other == first:
                return ways[module] + [first]
            if other not in ways:
                ways[other] = ways[module] + [other]
                todo.append(other)
    raise AssertionError(f'{first} is in no circle')
