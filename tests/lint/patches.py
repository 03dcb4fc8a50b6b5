# SPDX-License-Identifier: GPL-2.0-only
"""The patch queue is complete and contains only hooks."""

import re

import patch as patchfile

SECTIONS = ('glue', 'task', 'entry', 'irq', 'sched', 'mm', 'net', 'wait', 'arch')
MAX_FILE = 18
MAX_QUEUE = 360

RULES = {
    'series': 'series and folder have the same patches, each once',
    'section': 'series has sections, in the order ' + ', '.join(SECTIONS),
    'same-queue': 'every kernel version has the same patches in the same order',
    'patch-header': 'From, "Subject: area: imperative", a body, Signed-off-by',
    'patch-broken': 'a patch can be read to its end',
    'patch-existing': 'a patch changes the contents of existing files only',
    'patch-small': f'at most {MAX_FILE} added lines a file, {MAX_QUEUE} a queue',
    'patch-budget': 'at most as many added lines as "Budget: N added lines." in '
                    'the header says',
    'patch-hook': 'an added line is a ktau_ call, an include or known glue',
    'patch-if': 'no preprocessor conditionals in a .c file',
    'patch-removed': 'a removed line is added again with its hook',
    'patch-blank': 'no changes of white space, no trailing white space',
}

HOOK = re.compile(r'(?<![a-z])(ktau|KTAU)_\w|\b_+ktau_\w'
                  r'|^\s*#include [<"][\w/]*ktau\w*\.h[>"]')

# Lines without a ktau_ function, and the files in which they are allowed.
GLUE = (
    (r'Kconfig[^/]*$', r'^source "kernel/ktau/Kconfig"$'
                       r'|^\tselect (HAVE_)?KTAU\w*( if \w+)?$'),
    (r'(Makefile|Kbuild)$', r'^obj-\$\(CONFIG_KTAU\)\s*\+= ktau/$'
                            r'|^(obj-y|core-y)\s*\+= (kernel/)?ktau/$'),
    (r'include/linux/btf\.h$', r'^struct btf \*btf_get_module_btf\('),
    (r'vmlinux\.lds\.h$', r'^\t\. = ALIGN\(\d+\);\s*\\$'),
    (r'\.h$', r'^#ifdef CONFIG_KTAU$|^#endif( /\* CONFIG_KTAU \*/)?$'),
)

NOT_IMPERATIVE = re.compile(r'(?!(embed|feed|need|speed|bring|ring|string)\b)'
                            r'\w+(ed|ing)$|(add|fix|make|use|change|move|'
                            r'remove|hook|give|put|allow|count|show)e?s$')
SUBJECT = re.compile(r'Subject: (?:\[PATCH[^]]*\] )?([\w/.,+-]+): '
                     r'([a-z][\w-]*)\b.*[^.]$')
BUDGET = re.compile(r'Budget: (\d+) added lines\.$')
TAG = re.compile(r'[A-Z][a-z-]+-by: ')


def check(project, found):
    queues = {v: _series(project, v, found) for v in project.versions()}
    _same(queues, found)
    for version, queue in queues.items():
        total = {}
        for _, name, _ in queue:
            path = f'patches/{version}/{name}'
            if path in project.files():
                _patch(path, patchfile.parse(project.text(path)), total, found)


def series(project, version):
    """The names of the patches, in order."""
    return [name for _, name, _ in _series(project, version, lambda *_: None)]


def _series(project, version, found):
    """Return: (section, name, line) of each patch."""
    folder = f'patches/{version}'
    path, queue, section = f'{folder}/series', [], ''
    if path not in project.files():
        found('series', path, 1, 'no series')
        return queue
    for number, line in enumerate(project.lines(path), 1):
        if line.startswith('#'):
            section = _section(path, number, line, section, found)
        elif line.strip():
            name = line.strip()
            if name in (known for _, known, _ in queue):
                found('series', path, number, f'{name} is listed twice')
                continue
            if f'{folder}/{name}' not in project.files():
                found('series', path, number, f'no file {name}')
            if not section:
                found('section', path, number, f'{name} is in no section')
            queue.append((section, name, number))
    known = {f'{folder}/{name}' for _, name, _ in queue} | {path}
    for name in project.files(f'{folder}/*'):
        if name not in known:
            found('series', name, 1, f'not listed in {path}')
    return queue


def _section(path, number, line, section, found):
    name = line.lstrip('#').strip()
    if name.startswith('SPDX-') or (not section and name not in SECTIONS):
        return section
    if name not in SECTIONS:
        found('section', path, number, f'no such section: {name!r}')
        return section
    if section and SECTIONS.index(name) <= SECTIONS.index(section):
        found('section', path, number, f'{name} comes before {section}')
    return name


def _same(queues, found):
    versions = list(queues)
    for version in versions[1:]:
        first, other = queues[versions[0]], queues[version]
        for i in range(max(len(first), len(other))):
            want = first[i][:2] if i < len(first) else ('', 'nothing')
            have = other[i][:2] if i < len(other) else ('', 'nothing')
            if want != have:
                line = other[i][2] if i < len(other) else 1
                found('same-queue', f'patches/{version}/series', line,
                      f'{have[1]} ({have[0]}) where {versions[0]} has '
                      f'{want[1]} ({want[0]})')
                break


def _patch(path, patch, total, found):
    _header(path, patch.head, found)
    _budget(path, patch, found)
    for number, reason in patch.broken:
        found('patch-broken', path, number, reason)
    if not patch.files:
        found('patch-broken', path, 1, 'the patch changes nothing')
    for line in patch.extended:
        found('patch-existing', path, line.number, line.text)
    for file in patch.files:
        if '/dev/null' in (file.old, file.new):
            found('patch-existing', path, file.number,
                  'the patch creates or deletes a file')
            continue
        if file.old.partition('/')[2] != file.path:
            found('patch-existing', path, file.number, 'the patch renames a file')
        _size(path, file, total, found)
        for hunk in file.hunks:
            _added(path, file, hunk, found)
            _removed(path, hunk, found)
        for block in file.blocks:
            _blank(path, block, found)


def _header(path, head, found):
    number, subject = next(((line.number, line.text) for line in head
                            if line.text.startswith('Subject: ')), (1, ''))
    match = SUBJECT.match(subject)
    if not match or NOT_IMPERATIVE.match(match.group(2)):
        found('patch-header', path, number,
              'no "Subject: area: imperative, lower case", no full stop')
    if not any(re.match(r'From: .+ <.+@.+>$', line.text) for line in head):
        found('patch-header', path, 1, 'no "From: Name <address>"')
    if not any(re.match(r'Signed-off-by: .+ <.+@.+>$', line.text)
               for line in head):
        found('patch-header', path, 1, 'no "Signed-off-by: Name <address>"')
    blank = next((i for i, line in enumerate(head) if not line.text.strip()),
                 len(head))
    body = []
    for line in head[blank:]:
        if line.text == '---' or line.text.startswith(('diff ', 'Index: ')):
            break
        if not TAG.match(line.text):
            body.append(line.text.strip())
    if len(' '.join(body).strip()) < 40:
        found('patch-header', path, number, 'the body has no reason')


def _budget(path, patch, found):
    for line in patch.head:
        match = BUDGET.match(line.text)
        added = sum(len(file.added) for file in patch.files)
        if match and added > int(match.group(1)):
            found('patch-budget', path, line.number,
                  f'{added} lines added, {match.group(1)} stated')


def _size(path, file, total, found):
    before, queue = total.get(file.path, 0), sum(total.values())
    total[file.path] = before + len(file.added)
    if before <= MAX_FILE < total[file.path]:
        found('patch-small', path, file.number,
              f'{total[file.path]} lines added to {file.path}')
    if queue <= MAX_QUEUE < sum(total.values()):
        found('patch-small', path, file.number,
              f'{sum(total.values())} lines added in the queue')


def _added(path, file, hunk, found):
    # A line that is added again consists of its old words and possibly a
    # variable for a result that a hook needs.
    old = {token for line in hunk.removed for token in _tokens(line.text)}
    old |= set('int long unsigned ret return = ; { }'.split()) if old else set()
    depth = 0
    for line in hunk.added:
        if re.match(r'\s*#\s*(if|el|endif)', line.text) and \
                file.path.endswith('.c'):
            found('patch-if', path, line.number, line.text.strip())
            continue
        hook = depth > 0 or HOOK.search(line.text)
        depth = max(0, depth + line.text.count('(') - line.text.count(')')) \
            if hook else 0
        glue = any(re.search(where, file.path) and re.search(what, line.text)
                   for where, what in GLUE)
        blank = not line.text.strip() and \
            any(HOOK.search(other.text) for other in hunk.added)
        back = line.text.strip() and set(_tokens(line.text)) <= old
        if not (hook or glue or blank or back):
            found('patch-hook', path, line.number,
                  f'not a hook: {line.text.strip()!r}')


def _tokens(text):
    """The words of a line, without the prefix ktau_."""
    return re.findall(r'\w+|[^\s\w]', re.sub(r'\b_*(ktau|KTAU)_', '', text))


def _removed(path, hunk, found):
    left = iter([t for line in hunk.added for t in _tokens(line.text)])
    for line in hunk.removed:
        tokens = _tokens(line.text)
        # "return f();" may be added again as "ret = f();", and a function without "static".
        tokens = tokens[1:] if tokens[:1] in (['return'], ['static']) else tokens
        if not all(token in left for token in tokens):
            found('patch-removed', path, line.number,
                  f'is not added again: {line.text.strip()!r}')
            return


def _blank(path, block, found):
    for line in block.added:
        if re.search(r'\s$| \t', line.text):
            found('patch-blank', path, line.number, 'stray white space')
    old, new = ([re.sub(r'\s', '', line.text) for line in lines]
                for lines in (block.removed, block.added))
    if ''.join(old) == ''.join(new):
        line = (block.removed + block.added)[0]
        found('patch-blank', path, line.number, 'only white space changes')
