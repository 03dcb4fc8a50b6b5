# SPDX-License-Identifier: GPL-2.0-only
"""The ways to break the good project, each with the finding that it must cause."""

import dataclasses
import typing

FORK = 'patches/9.1/task.patch'
GLUE = 'patches/9.1/glue.patch'
SERIES = 'patches/9.1/series'
CORE = 'kernel-ext/kernel/ktau/base/core.c'
README = 'kernel-ext/kernel/ktau/base/README.md'
UAPI = 'kernel-ext/include/uapi/linux/ktau.h'
HEADER = 'libktau/include/ktau.h'
OPEN = 'libktau/open.c'
DESIGN = 'docs/dev/design.md'


@dataclasses.dataclass
class Case:
    """@path, @line: the finding that @rule must report after @spoil."""
    rule: str
    name: str
    path: str
    line: int
    spoil: typing.Callable
    programs: tuple = ('tools/prog',)


def edit(path, old, new):
    def spoil(root):
        text = (root / path).read_text()
        assert old in text, f'{old!r} is not in {path}'
        (root / path).write_text(text.replace(old, new, 1))
    return spoil


def write(path, text):
    def spoil(root):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return spoil


def append(path, text):
    def spoil(root):
        with open(root / path, 'a') as file:
            file.write(text)
    return spoil


def remove(path):
    return lambda root: (root / path).unlink()


def both(*ways):
    def spoil(root):
        for way in ways:
            (root / 'kernel-ext/include/linux').mkdir(parents=True, exist_ok=True)
            way(root)
    return spoil


def nothing(_):
    pass


def hunk(added, path='kernel/fork.c', removed='', at=1):
    """Another file section for a patch; it need not apply."""
    minus = ''.join(f'-{line}\n' for line in removed.splitlines())
    plus = ''.join(f'+{line}\n' for line in added.splitlines())
    return (f'--- a/{path}\n+++ b/{path}\n@@ -{at},{minus.count(chr(10))} '
            f'+{at},{plus.count(chr(10))} @@\n{minus}{plus}')


def function(body, head='int f(int x)'):
    return f'\n{head}\n{{\n{body}}}\n'


PATCHES = [
    Case('series', 'a missing patch', SERIES, 7,
         append(SERIES, 'more.patch\n')),
    Case('series', 'an unlisted patch', 'patches/9.1/more.patch', 1,
         write('patches/9.1/more.patch', '')),
    Case('series', 'a patch listed twice', SERIES, 7,
         append(SERIES, 'task.patch\n')),
    Case('series', 'no series', SERIES, 1, remove(SERIES)),
    Case('section', 'an unknown section', SERIES, 6,
         edit(SERIES, '# entry', '# entrance')),
    Case('section', 'sections in the wrong order', SERIES, 7,
         append(SERIES, '# glue\n')),
    Case('section', 'a patch before all sections', SERIES, 2,
         edit(SERIES, '# glue\n', '')),
    Case('same-queue', 'another order', 'patches/9.2/series', 3,
         write('patches/9.2/series',
               '# SPDX\n# glue\ntask.patch\nglue.patch\n')),
    Case('same-queue', 'a missing patch', 'patches/9.2/series', 1,
         edit('patches/9.2/series', '# task\ntask.patch\n', '')),
    Case('same-queue', 'another section', 'patches/9.2/series', 5,
         edit('patches/9.2/series', '# task', '# irq')),
    Case('patch-header', 'no area', FORK, 2,
         edit(FORK, 'kernel: hook', 'hook')),
    Case('patch-header', 'not imperative', FORK, 2,
         edit(FORK, 'hook fork', 'hooked fork')),
    Case('patch-header', 'upper case', FORK, 2,
         edit(FORK, 'hook fork', 'Hook fork')),
    Case('patch-header', 'no author', FORK, 1,
         edit(FORK, 'From: A Writer', 'By: A Writer')),
    Case('patch-header', 'no sign-off', FORK, 1,
         edit(FORK, 'Signed-off-by: ', 'Thanks-to: ')),
    Case('patch-header', 'no body', FORK, 2,
         edit(FORK, 'The table of a task has to be there before the task '
              'runs, so it is made\nwhere everything else of the task is '
              'made.\n', '')),
    Case('patch-broken', 'a truncated hunk', FORK, 28,
         edit(FORK, '-	two();\n+	ktau_two(two());\n 	return err;\n }\n', '')),
    Case('patch-broken', 'no hunks at all', FORK, 1,
         write(FORK, 'Subject: x: y\n')),
    Case('patch-existing', 'a new file', FORK, 42,
         append(FORK, '--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+int x;\n')),
    Case('patch-existing', 'a file made executable', FORK, 42,
         append(FORK, 'old mode 100644\n')),
    Case('patch-existing', 'a renamed file', FORK, 42,
         append(FORK, '--- a/kernel/x.c\n+++ b/kernel/y.c\n')),
    Case('patch-small', 'too many lines in a file', FORK, 42,
         append(FORK, hunk('ktau_x();\n' * 17))),
    Case('patch-small', 'too many lines in the queue', FORK, 477,
         append(FORK, ''.join(hunk('ktau_x();\n' * 12, f'kernel/f{i}.c')
                              for i in range(30)))),
    Case('patch-budget', 'more lines than the budget', FORK, 7,
         edit(FORK, 'Signed-off-by:',
              'Budget: 0 added lines.\n\nSigned-off-by:')),
    Case('patch-hook', 'an ordinary statement', FORK, 45,
         append(FORK, hunk('\tx = 1;\n'))),
    Case('patch-hook', 'glue in the wrong file', FORK, 45,
         append(FORK, hunk('obj-$(CONFIG_KTAU) += ktau/\n'))),
    Case('patch-hook', 'a line after a complete hook', FORK, 46,
         append(FORK, hunk('\tktau_x(1);\n\t2);\n'))),
    Case('patch-if', 'an #ifdef in a .c file', FORK, 45,
         append(FORK, hunk('#ifdef CONFIG_KTAU\n'))),
    Case('patch-removed', 'a line that is not added again', FORK, 45,
         append(FORK, hunk('\tktau_x();\n', removed='\ty();\n'))),
    Case('patch-blank', 'a trailing blank', FORK, 45,
         append(FORK, hunk('\tktau_x(); \n'))),
    Case('patch-blank', 'another indentation', FORK, 45,
         append(FORK, hunk('\tx();\n', removed='    x();\n'))),
    Case('patch-blank', 'an added empty line', FORK, 45,
         append(FORK, hunk('\n'))),
    Case('apply', 'a patch that needs fuzz', FORK, 1,
         edit(FORK, ' int fork(int flags)\n', ' int fork(int flag)\n')),
    Case('apply', 'a patch that does not apply', FORK, 1, edit(FORK, 'two()', 'three()')),
    Case('apply', 'a patch of a missing file', FORK, 42,
         append(FORK, hunk('\tktau_x();\n', 'kernel/gone.c'))),
    Case('patch-checkpatch', 'no blank after a comma', FORK, 32,
         edit(FORK, 'KTAU_SCOPE(SYSCALL)', 'KTAU_SCOPE(1,2)')),
]

KERNEL = [
    Case('kernel-checkpatch', 'indentation by spaces', CORE, 6,
         edit(CORE, '\treturn value / 2', '        return value / 2')),
    Case('kernel-if', 'an #ifdef', CORE, 3,
         edit(CORE, '\nstatic int half', '#ifdef X\n#endif\nstatic int half')),
    Case('kernel-if', 'two options in a header', 'kernel-ext/kernel/ktau/base/half.h', 6,
         write('kernel-ext/kernel/ktau/base/half.h',
               '/* SPDX-License-Identifier: GPL-2.0-only */\n#ifndef _KERNEL_KTAU_HALF_H\n'
               '#define _KERNEL_KTAU_HALF_H\n#ifdef CONFIG_A\n#endif\n#ifdef CONFIG_B\n#endif\n'
               '#endif /* _KERNEL_KTAU_HALF_H */\n')),
    Case('kernel-if', 'an architecture in the header of the hooks',
         'kernel-ext/include/linux/ktau.h', 5,
         write('kernel-ext/include/linux/ktau.h',
               '/* SPDX-License-Identifier: GPL-2.0-only */\n#ifndef _LINUX_KTAU_H\n'
               '#define _LINUX_KTAU_H\n#ifdef CONFIG_KTAU\n#ifdef CONFIG_X86_64\n#endif\n'
               '#endif\n#endif /* _LINUX_KTAU_H */\n')),
    Case('kernel-doc', 'a function without it', CORE, 9,
         edit(CORE, 'static int half(int value)\n{\n\treturn value / 2;\n}\n',
              'static int half(int value)\n{\n\treturn value / 2;\n}\n\n'
              'void ktau_more(void)\n{\n}\n')),
    Case('kernel-doc', 'a slow path without it', CORE, 21,
         append(CORE, function('\treturn x;\n', 'int __ktau_f(int x)'))),
    Case('kernel-doc', 'a comment that is not kernel-doc', CORE, 16,
         edit(CORE, '/**', '/*')),
    Case('kernel-doc', 'the name of another function', CORE, 16,
         edit(CORE, '* ktau_quarter()', '* ktau_half()')),
    Case('kernel-doc-context', 'no Context:', CORE, 16,
         edit(CORE, ' * Context: any.\n', ' *\n')),
    Case('kernel-doc-return', 'no Return:', CORE, 16,
         edit(CORE, ' * Return: the', ' * the')),
    Case('kernel-doc-form', 'a parameter that the function does not have', CORE, 18,
         edit(CORE, ' * @value: what', ' * @other: what')),
    Case('kernel-doc-form', 'a member without a description', CORE, 28,
         append(CORE, '\n/**\n * struct pair - two numbers\n * @a: the first of them\n */\n'
                      'struct pair {\n\tint a, b;\n};\n')),
    Case('kernel-doc-says', 'a description that says nothing', CORE, 11,
         edit(CORE, ' * @value: what to divide\n', ' * @value: the value\n')),
    Case('uapi-compile', 'an unknown type', UAPI, 9,
         edit(UAPI, '__u32 type', '__u33 type')),
    Case('uapi-compile', 'padding', UAPI, 9,
         edit(UAPI, '\t__u32 type;\n', '')),
    Case('uapi-compile', 'a type that only C++ has', UAPI, 8,
         edit(UAPI, '__u32 size', 'bool size')),
    Case('public-compile', 'a keyword of C++', HEADER, 7,
         edit(HEADER, '*path', '*class')),
]

TEXT = [
    Case('spdx', 'a file without it', OPEN, 1,
         edit(OPEN, '// SPDX-License-Identifier: LGPL-2.1-or-later\n', '')),
    Case('spdx', 'a script with it on the third line', 'tools/run.sh', 2,
         edit('tools/run.sh', '#!/bin/sh\n', '#!/bin/sh\n\n')),
    Case('spdx', 'the syscall note left out', UAPI, 1,
         edit(UAPI, ' WITH Linux-syscall-note', '')),
    Case('spdx', 'the library under the GPL', OPEN, 1,
         edit(OPEN, 'LGPL-2.1-or-later', 'GPL-2.0-only')),
    Case('spdx', 'the kernel under another version', CORE, 1,
         edit(CORE, 'GPL-2.0-only', 'GPL-2.0-or-later')),
    Case('copyright', 'the library under the GPL', HEADER, 1,
         edit('tools/debian/copyright', 'License: LGPL-2.1+\n', 'License: GPL-2\n')),
    Case('copyright', 'a folder that is left out', UAPI, 1,
         edit('tools/debian/copyright', 'kernel-ext/include/uapi/*', 'kernel-ext/uapi/*')),
    Case('reuse', 'a licence without a text', OPEN, 1,
         edit(OPEN, 'LGPL-2.1-or-later', 'MIT')),
    Case('spelling', 'a word with a wrong letter', OPEN, 13,
         append(OPEN, '/* The ad' 'ress. */\n')),
    Case('markdown-column', 'a long line', DESIGN, 8,
         append(DESIGN, 'word ' * 21 + '\n')),
    Case('shell', 'a variable without quotes', 'tools/run.sh', 3,
         edit('tools/run.sh', '"$1"', '$1')),
    Case('python', 'an undefined name', 'tools/thing.py', 5,
         edit('tools/thing.py', 'exit(0)', 'exit(zero)')),
    Case('man', 'an unknown macro', 'tools/prog.1', 9,
         edit('tools/prog.1', 'Does a', '.Xz Does a')),
    Case('man-program', 'a program without a page', 'tools/other', 1,
         nothing, ('tools/prog', 'tools/other')),
    Case('man-function', 'a function without a page', HEADER, 8,
         edit(HEADER, 'path);\n', 'path);\nvoid ktau_close(int fd);\n')),
]

DEEP = ''.join('\t' * i + 'if (x) {\n' for i in range(1, 5)) + '\t\t\t\t\tx++;\n' + \
       ''.join('\t' * i + '}\n' for i in range(4, 0, -1)) + '\treturn x;\n'
LONG = function('\tx++;\n' * 57 + '\treturn x;\n')
MANY = function('\treturn a;\n',
                'int f(int a, int b, int c, int d, void (*e)(int, int), int g)')

C = [
    Case('c-format', 'a brace in the wrong place', OPEN, 11,
         edit(OPEN, 'if (fd < 0)\n', 'if (fd < 0) {\n\t}\n\tif ( fd )\n')),
    Case('c-format', 'a statement on the line of its condition', OPEN, 9,
         edit(OPEN, 'if (fd < 0)\n\t\treturn', 'if (fd < 0) return')),
    Case('c-format', 'indentation by spaces', OPEN, 11,
         edit(OPEN, '\treturn fd', '        return fd')),
    Case('c-column', '101 columns', OPEN, 13,
         append(OPEN, f'/* {"x" * 95} */\n')),
    Case('c-file', '801 lines', OPEN, 801,
         append(OPEN, 'extern int x;\n' * 789)),
    Case('c-function', '61 lines', CORE, 21, append(CORE, LONG)),
    Case('c-depth', 'four blocks', CORE, 21, append(CORE, function(DEEP))),
    Case('c-parameters', 'six parameters', CORE, 21, append(CORE, MANY)),
    Case('clang-tidy', '61 lines', OPEN, 14, append(OPEN, LONG)),
    Case('clang-tidy', 'four blocks', OPEN, 14, append(OPEN, function(DEEP))),
    Case('clang-tidy', 'six parameters', OPEN, 14, append(OPEN, MANY)),
    Case('clang-tidy', 'equal operands', OPEN, 16,
         append(OPEN, function('\treturn x == 1 && x == 1;\n'))),
    Case('clang-tidy', 'code that does not compile', OPEN, 16,
         append(OPEN, function('\treturn y;\n'))),
    Case('cppcheck', 'a division by zero', OPEN, 16,
         append(OPEN, function('\treturn x / 0;\n'))),
]

CALLS = '#include "a.h"\n\nint ktau_c(void)\n{\n\treturn ktau_a();\n}\n'
ORDER = [
    Case('circle', 'two headers', 'kernel-ext/kernel/ktau/base/a.h', 1,
         both(write('kernel-ext/kernel/ktau/base/a.h', '#include "c.h"\n'),
              write('kernel-ext/kernel/ktau/base/c.h', '#include "a.h"\n'))),
    Case('circle', 'a call, declared by a common header',
         'kernel-ext/kernel/ktau/base/a.c', 5,
         both(write('kernel-ext/kernel/ktau/base/a.h',
                    'int ktau_a(void);\nint ktau_c(void);\n'),
              write('kernel-ext/kernel/ktau/base/c.c', CALLS),
              write('kernel-ext/kernel/ktau/base/a.c',
                    CALLS.replace('_c(', '_b(').replace('_a(', '_c(')
                    .replace('_b(', '_a(')))),
    Case('circle', 'a function by its address, through a macro of the hooks',
         'kernel-ext/kernel/ktau/base/a.c', 3,
         both(write('kernel-ext/include/linux/ktau.h',
                    '#define KTAU_HOOK(x) \\\n\tktau_c(x)\n'),
              write('kernel-ext/kernel/ktau/base/a.c',
                    'int ktau_a(int x)\n{\n\treturn KTAU_HOOK(x);\n}\n'),
              write('kernel-ext/kernel/ktau/base/c.c',
                    'int ktau_c(int x)\n{\n\treturn x;\n}\n\n'
                    'int (*ktau_other)(int x) = ktau_a;\n'))),
    Case('circle', 'the library and a tool', 'libktau/open.c', 16,
         both(append(OPEN, function('\treturn sum(x);\n', 'int ktau_sum(int x)')),
              write('tools/sum.c', function('\treturn ktau_sum(x);\n',
                                            'int sum(int x)')))),
    Case('folder-order', 'a module outside the folders', 'kernel-ext/kernel/ktau/a.c', 1,
         write('kernel-ext/kernel/ktau/a.c', '')),
    Case('folder-order', 'a module that calls a later folder', CORE, 8,
         both(write('kernel-ext/kernel/ktau/tasks/README.md', '# tasks\n'),
              write('kernel-ext/kernel/ktau/tasks/a.c',
                    'int ktau_a(int x)\n{\n\treturn x;\n}\n'),
              edit(CORE, 'half(int value)\n{\n\treturn value',
                   'half(int value)\n{\n\n\n\treturn ktau_a(value)'))),
    Case('folder-order', 'a module that includes a later folder', CORE, 2,
         both(write('kernel-ext/kernel/ktau/read/README.md', '# read\n'),
              write('kernel-ext/kernel/ktau/read/a.h', ''),
              edit(CORE, '#include <linux/ktau.h>\n', '#include "read/a.h"\n'))),
    Case('folder-readme', 'a folder without it', 'kernel-ext/kernel/ktau/tasks/a.c', 1,
         write('kernel-ext/kernel/ktau/tasks/a.c', '')),
    Case('folder-readme', '16 lines', README, 16, append(README, '\n' * 14)),
]



def folder(name, included, code=''):
    """A folder of the tools."""
    return both(write(f'tools/{name}/README.md', f'# {name}\n\nMay include: {included}\n'),
                write(f'tools/{name}/{name}.c', code))


FOLDERS = [
    Case('tools-readme', 'a folder without it', 'tools/low/low.c', 1,
         write('tools/low/low.c', '')),
    Case('tools-readme', '16 lines', 'tools/low/README.md', 16,
         both(folder('low', 'nothing'), append('tools/low/README.md', '\n' * 13))),
    Case('tools-readme', 'a page that does not say what may be included', 'tools/low/README.md', 1,
         both(write('tools/low/README.md', '# low\n'), write('tools/low/low.c', ''))),
    Case('tools-order', 'a call of a folder that is not named', 'tools/low/low.c', 4,
         both(folder('low', 'nothing', 'int low(void)\n{\n\n\treturn high();\n}\n'),
              folder('high', '`tools/low`', 'int high(void)\n{\n\treturn 0;\n}\n'))),
    Case('tools-order', 'a header of a folder that is not named', 'tools/low/low.c', 1,
         both(folder('low', 'nothing', '#include "high/high.h"\n'),
              folder('high', 'nothing'), write('tools/high/high.h', ''))),
    Case('tools-order', 'folders that name each other', 'tools/high/README.md', 3,
         both(folder('low', '`tools/high`'), folder('high', '`tools/low`'))),
    Case('tools-order', 'a folder that does not exist', 'tools/low/README.md', 3,
         folder('low', '`tools/high`')),
]

CASES = PATCHES + KERNEL + TEXT + C + ORDER + FOLDERS
