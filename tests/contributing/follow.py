#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Follow CONTRIBUTING.md: add toys, such as a hook and a subcommand, to a copy of the project.

The page's section on each lists the files to touch. It is an error if a toy changes a file
that is not in the list, or does not change one that is. Patches are made with the commands
from the section on hooks.
"""

import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import typing

TOP = pathlib.Path(__file__).resolve().parents[2]
TOY = pathlib.Path(__file__).resolve().parent / 'toy'
sys.path.insert(0, str(TOP / 'tests/lint'))

import patch as patchfile  # noqa: E402
from project import Project  # noqa: E402

PAGE = 'CONTRIBUTING.md'
# A version that no queue has, after the oldest one.
TOY_VERSION = '6.2'


class Wrong(Exception):
    """The page cannot be followed; the text is the reason."""


@dataclasses.dataclass
class Copy:
    """@root: the project that the toys are added to; @project: the one that is copied."""
    root: pathlib.Path
    project: Project

    def edit(self, path, old, new):
        """Replace @old, which must occur exactly once in the file, with @new."""
        text = (self.root / path).read_text(encoding='utf-8')
        if text.count(old) != 1:
            raise Wrong(f'{path} has {text.count(old)} times {old!r}')
        (self.root / path).write_text(text.replace(old, new), encoding='utf-8')

    def after(self, path, pattern, line):
        """Add a line after the only one that matches @pattern."""
        text = (self.root / path).read_text(encoding='utf-8')
        found = re.findall(rf'^{pattern}', text, re.M)
        if len(found) != 1:
            raise Wrong(f'{path} has {len(found)} lines {pattern!r}')
        self.edit(path, '\n' + found[0], '\n' + found[0] + line)

    def append(self, path, text):
        with open(self.root / path, 'a', encoding='utf-8') as file:
            file.write(text)

    def add(self, path, source):
        shutil.copy(TOY / source, self.root / path)

    def contents(self):
        """Path -> contents, for each file."""
        return {str(path.relative_to(self.root)): path.read_bytes()
                for path in self.root.rglob('*') if path.is_file()}


@dataclasses.dataclass
class Toy:
    """@heading: heading of the page's section; @names: placeholder -> value;
    @make: function that adds the toy to a Copy; @most: how many files it may change, 0 for any
    number."""
    heading: str
    names: dict
    make: typing.Callable
    most: int = 0


def record_interface(copy):
    """Record what has been added to the interface."""
    test = 'tests/unit/libktau/test_frozen.sh'
    done = subprocess.run([test, copy.project.scratch / 'frozen'], cwd=copy.root, encoding='utf-8',
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                          env={**os.environ, 'KTAU_FROZEN': 'write'})
    if 'not ok' in done.stdout:
        raise Wrong(f'{test}: {done.stdout.strip()}')


def section(page, heading):
    """The text of one section."""
    match = re.search(rf'^## {heading}\n(.*?)(?=^## |\Z)', page, re.M | re.S)
    if not match:
        raise Wrong(f'{PAGE} has no section "{heading}"')
    return match.group(1)


def listed(page, toy, copy):
    """The files that a section lists, with its placeholders replaced and its patterns expanded."""
    match = re.search(r'^Files:\n\n((?:- .*\n(?: .*\n)*)+)', section(page, toy.heading), re.M)
    if not match:
        raise Wrong(f'{PAGE}: "{toy.heading}" has no list of files')
    files = set()
    for path in re.findall(r'`([^`\s]*/[^`\s]*)`', match.group(1)):
        for word, name in toy.names.items():
            path = path.replace(word, name)
        for name in {path.replace('VERSION', version) for version in copy.project.installed()}:
            found = copy.root.glob(name) if '*' in name else ()
            files |= {str(path.relative_to(copy.root)) for path in found} or {name}
    return files


def refresh_command(page):
    """The quilt command with which the page writes a patch, as arguments."""
    match = re.search(r'^ *quilt (refresh .*)$', section(page, 'A hook'), re.M)
    if not match:
        raise Wrong(f'{PAGE} has no "quilt refresh"')
    return match.group(1).split()


def quilt(tree, *arguments, **options):
    done = subprocess.run(['quilt', '--quiltrc', '-', *arguments], cwd=tree, encoding='utf-8',
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                          **options)
    if done.returncode:
        raise Wrong(f'quilt {" ".join(arguments)}: {done.stdout.strip()}')


def unpacked(copy, version):
    """The files of a kernel that its queue touches, with the queue as patches."""
    queue = copy.root / 'patches' / version
    touched = {file.path for path in queue.glob('*.patch')
               for file in patchfile.parse(path.read_text(encoding='utf-8')).files}
    tree = copy.project.kernel_tree(version, sorted(touched), f'quilt-{version}')
    (tree / 'patches').symlink_to(queue)
    return tree


def hook(copy, page, patch, path, edit):
    """Add a hook to @path, in an existing or a new patch of every version, as the page says."""
    for version in copy.project.installed():
        tree = unpacked(copy, version)
        if isinstance(patch, str):
            quilt(tree, 'push', patch)
        else:
            after, patch_name, header = patch
            quilt(tree, 'push', after)
            quilt(tree, 'new', patch_name)
            quilt(tree, 'add', path)
            quilt(tree, 'header', '-r', input=(TOY / header).read_text())
        Copy(tree, copy.project).edit(path, *edit)
        quilt(tree, *refresh_command(page))
        quilt(tree, 'push', '-a')


def make_hook(copy, page):
    head = 'static int kill_something_info(int sig, struct kernel_siginfo *info, pid_t pid)\n{\n'
    hook(copy, page, 'signal.patch', 'kernel/signal.c',
         (head, head + '\tKTAU_SCOPE(SIGNAL, kill_something_info);\n'))
    line = '\tself_expect("500 signals dequeued", self_entry(p, "collect_signal").count, 500);\n'
    copy.edit('tests/progs/exact/exact_counts.c', line, line +
              '\tself_expect("500 calls", self_entry(p, "kill_something_info").count, 500);\n')


def make_group(copy, page):
    uapi = 'kernel-ext/include/uapi/linux/'
    bits = [int(bit) for bit in re.findall(
        r'^KTAU_(?:TASK_)?GROUP\(\w+, \w+, (\d+)\)', (copy.root / uapi / 'ktau_groups.h').read_text(), re.M)]
    bit = max(bits) + 1
    copy.edit(uapi + 'ktau_groups.h', '\n#undef KTAU_GROUP\n',
              f'KTAU_GROUP(TOY, toy, {bit})\t\t/* what toys do */\n\n#undef KTAU_GROUP\n')
    copy.edit('kernel-ext/kernel/ktau/Kconfig', 'config KTAU_PARANOID\n',
              (TOY / 'Kconfig').read_text() + '\nconfig KTAU_PARANOID\n')
    copy.append('tests/kernel/ktau.config', 'CONFIG_KTAU_TOY=y\n')
    head = 'int ksys_unshare(unsigned long unshare_flags)\n{\n'
    hook(copy, page, ('task.patch', 'toy.patch', 'header'), 'kernel/fork.c',
         (head, head + '\tKTAU_SCOPE(TOY, ksys_unshare);\n'))
    last = 'user mode, a root frame for each entry into the kernel, kernel threads, task work and exit\n'
    copy.edit('libktau/ktau.7', last, last + '.It toy\nwhat toys do\n')
    record_interface(copy)


def make_subcommand(copy, _):
    copy.add('tools/ktau/commands/ktau-toy.c', 'ktau-toy.c')
    copy.add('tools/ktau/commands/ktau-toy.1', 'ktau-toy.1')
    copy.edit('tools/ktau/ktau.1', '.TP\n.BR help ',
              '.TP\n.B toy\nSay hello; see\n.BR ktau-toy (1).\n.TP\n.BR help ')
    golden = 'tests/unit/tools/data/golden/'
    copy.edit('tests/unit/tools/test_cli.c', '\t{ "help", "ktau --help", 0 },\n',
              '\t{ "help", "ktau --help", 0 },\n\t{ "toy", "ktau toy", 0 },\n')
    copy.add(golden + 'toy', 'golden')
    copy.edit(golden + 'help', "\nRecord:\n", "\n  toy        say hello\nRecord:\n")


def make_slot(copy, _):
    uapi, kernel = 'kernel-ext/include/uapi/linux/ktau.h', 'kernel-ext/kernel/ktau/'
    page, table = 'docs/dev/abi.md', 'libktau/include/ktau_fields.h'
    name, number = re.findall(r'^#define (KTAU_TRACE_\w+)\t+(\d+)\b.*\n\n',
                              (copy.root / uapi).read_text(encoding='utf-8'), re.M)[0]
    copy.after(uapi, rf'#define {name}\t+{number}\n',
               f'#define KTAU_TRACE_TOY\t\t{int(number) + 1}\n')
    copy.after(page, rf'\| `{name}` \|.*\n',
               f'| `KTAU_TRACE_TOY` | {int(number) + 1} | u64: the number of toys |\n')
    line = '\t\tktau_trace(ref->state, 0, KTAU_TRACE_TASK_EXIT, 0, code);\n'
    copy.edit(kernel + 'tasks/task.c', '\tif (ref->mask & KTAU_MODE_TRACE)\n' + line,
              '\tif (ref->mask & KTAU_MODE_TRACE) {\n'
              '\t\tktau_trace(ref->state, 0, KTAU_TRACE_TOY, 0, 1);\n' + line + '\t}\n')
    copy.after(kernel + 'tasks/snapshot_trace.c', '\tcase KTAU_TRACE_CGROUP:\n',
               '\tcase KTAU_TRACE_TOY:\n')
    test = kernel + 'tests/ktau_slots_test.c'
    copy.after(test, r'\tktau_trace\(state, 0, KTAU_TRACE_GROUPS, .*\n',
               '\tktau_trace(state, 0, KTAU_TRACE_TOY, 0, 2);\n')
    copy.after(test, r'\t\t{ KTAU_ID_NONE, KTAU_TRACE_GROUPS, 3 },\n',
               '\t\t{ KTAU_ID_NONE, KTAU_TRACE_TOY, 3 },\n')
    copy.edit(test, '7 + 5 * 2 + 2 * 3ULL', '8 + 5 * 2 + 2 * 3ULL')
    copy.after(table, rf'KTAU_(?:SLOT|WORDS)\({name[len("KTAU_TRACE_"):]}, .*\n',
               'KTAU_WORDS(TOY, "")\n')
    copy.after('tests/unit/libktau/test_misc.c', rf'.*ktau_slot_type_name\({name}\).*\n',
               '\tassert_string_equal(ktau_slot_type_name(KTAU_TRACE_TOY), "TOY");\n')
    record_interface(copy)


def make_format(copy, _):
    copy.add('tools/ktau/export/export_toy.c', 'export_toy.c')
    copy.edit('tools/ktau/commands/ktau-export.1', '.SH OPTIONS\n',
              '.SS Toys: \\-\\-toy\nWrites the name of the table of each row.\n.SH OPTIONS\n')
    judge = 'tests/judge/export'
    copy.edit(judge, '\nCHECKS = {\n', """
def check_toy(bench):
    with open(bench.export('toy', 'plain'), encoding='utf-8') as file:
        need(file.read().splitlines().count('frames') == bench.frames('plain')[0], 'frames')


CHECKS = {
    'toy': [('it has all frames', check_toy)],
""")


TOY_RECORD = """
/* A toy. */
struct ktau_rec_toy {
	struct ktau_rec rec;
	__aligned_u64 toys;		/* number of toys */
};
"""
TOY_SECTION = """### TOY

### struct ktau_rec_toy (16 bytes)

| at | type | field | meaning |
|---:|---|---|---|
| 0 | struct ktau_rec | `rec` | type `KTAU_REC_TOY` |
| 8 | u64 | `toys` | number of toys |

"""
TOY_WRITER = """static int put_toy(struct ktau_stream *stream)
{
	struct ktau_rec_toy *rec = new_record(stream, KTAU_REC_TOY, sizeof(*rec), 0);

	if (!rec)
		return -ENOMEM;
	rec->toys = 3;
	return 0;
}

"""
TOY_KUNIT = """static void toys(struct kunit *test)
{
	struct ktau_stream *stream = kunit_kzalloc(test, sizeof(*stream), GFP_KERNEL);
	const struct ktau_rec_toy *toy;

	KUNIT_ASSERT_NOT_NULL(test, stream);
	KUNIT_ASSERT_EQ(test, ktau_compose_gone(stream), 0);
	toy = stream->out;
	KUNIT_EXPECT_EQ(test, toy->rec.type, (u16)KTAU_REC_TOY);
	KUNIT_EXPECT_EQ(test, toy->toys, 3ULL);
}

"""
TOY_FIELDS = """KTAU_STRUCT(ktau_rec_toy)
KTAU_FIELD(ktau_rec_toy, rec, rec)
KTAU_SHOWN(ktau_rec_toy, u64, toys, DECIMAL, "toys")
KTAU_END(ktau_rec_toy)

KTAU_RECORD(TOY, ktau_rec_toy, "toy")
"""
TOY_READ = """static void toy(void **state)
{
	struct stream s = { .big = true };
	struct ktau_reader *r;
	union ktau_record rec;

	(void)state;
	put_stream(&s, KTAU_REC_PROFILE, 1);
	record_begin(&s, KTAU_REC_TOY);
	put64(&s, 3);
	record_fixed(&s);
	record_end(&s);
	assert_int_equal(ktau_reader_create(&r), 0);
	assert_int_equal(ktau_reader_open_memory(r, s.data, s.size), 0);
	next(r, &rec, KTAU_REC_STREAM);
	next(r, &rec, KTAU_REC_TOY);
	assert_int_equal(((const struct ktau_rec_toy *)rec.rec)->toys, 3);
	ktau_reader_destroy(r);
	stream_free(&s);
}

"""


def make_record(copy, _):
    uapi, kernel = 'kernel-ext/include/uapi/linux/ktau.h', 'kernel-ext/kernel/ktau/'
    name, number = re.findall(r'^#define (KTAU_REC_\w+)\t+(\d+)\b.*\n#define KTAU_REC_USER',
                              (copy.root / uapi).read_text(encoding='utf-8'), re.M)[0]
    copy.after(uapi, rf'#define {name}\t+{number}\b.*\n',
               f'#define KTAU_REC_TOY\t\t{int(number) + 1}\n')
    line = '\n#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L\n'
    copy.edit(uapi, line, TOY_RECORD + line +
              '_Static_assert(sizeof(struct ktau_rec_toy) == 16, "ktau_rec_toy");\n')
    page = 'docs/dev/abi.md'
    copy.after(page, rf'\| `{name}` \| {number} \|.*\n',
               f'| `KTAU_REC_TOY` | {int(number) + 1} | kernel | toys |\n')
    copy.edit(page, '### TRACE\n', TOY_SECTION + '### TRACE\n')
    compose = kernel + 'read/compose.c'
    head = '/**\n * ktau_compose_gone() - '
    copy.edit(compose, head, TOY_WRITER + head)
    copy.edit(compose, '\tif (!settle->nr)\n\t\treturn 0;\n',
              '\tif (!settle->nr)\n\t\treturn put_toy(stream);\n')
    test = kernel + 'tests/ktau_stream_test.c'
    copy.edit(test, 'static void levels(', TOY_KUNIT + 'static void levels(')
    line = '#include "read/record.h"\n'
    copy.edit(test, line, '#include "read/compose.h"\n' + line)
    copy.edit(test, '\tKUNIT_CASE(levels),\n', '\tKUNIT_CASE(levels),\n\tKUNIT_CASE(toys),\n')
    line = 'KTAU_RECORD(STREAM, ktau_rec_stream, "stream")\n'
    copy.edit('libktau/include/ktau_fields.h', line, TOY_FIELDS + line)
    test = 'tests/unit/libktau/test_stream.c'
    copy.edit(test, 'static void short_head(', TOY_READ + 'static void short_head(')
    line = '\t\tcmocka_unit_test(short_head),\n'
    copy.edit(test, line, line + '\t\tcmocka_unit_test(toy),\n')
    record_interface(copy)


def new_kernel(project, version):
    """Make a source of a version whose files are those of the oldest one, most of them two
    lines lower. Return: the folder with all sources."""
    base = project.installed()[0]
    sources = project.scratch / 'toy-sources'
    shutil.rmtree(sources, ignore_errors=True)
    sources.mkdir()
    for known in project.installed():
        (sources / project.tarball(known).name).symlink_to(project.tarball(known).resolve())
    first = {}
    for path in (project.root / 'patches' / base).glob('*.patch'):
        for file in patchfile.parse(path.read_text(encoding='utf-8')).files:
            starts = [hunk.start for hunk in file.hunks]
            first[file.path] = min(starts + [first.get(file.path, starts[0])])
    tree = project.kernel_tree(base, sorted({*first, 'Makefile'}), f'linux-source-{version}')
    for path, line in first.items():
        # The licence has to stay the first line of a patch that shows it.
        if line > 1:
            text = (tree / path).read_text(encoding='utf-8')
            (tree / path).write_text('\n\n' + text, encoding='utf-8')
    subprocess.run(['tar', '-C', tree.parent, '-cJf', sources / f'{tree.name}.tar.xz', tree.name],
                   check=True)
    return sources


def make_version(copy, _):
    base, version = copy.project.installed()[0], TOY_VERSION
    sources = new_kernel(copy.project, version)
    done = subprocess.run(
        [sys.executable, copy.root / 'tests/lint/port.py', '--root', copy.root,
         '--build', copy.project.scratch.parent, '--sources', sources, '--queue', base, '--write',
         version], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8', check=False)
    if done.returncode:
        raise Wrong(f'make port: {done.stdout[-1000:].strip()}')
    copy.after('docs/user/kernels.md', rf'\| Linux {base} \|.*\n',
               f'| Linux {version} | no | no | no | no |\n')
    line = '\n### 6.12\n'
    copy.edit('docs/dev/porting.md', line, f'\n### {version}\n\nNothing.\n' + line)


TOYS = (
    Toy('A hook', {'SUBSYSTEM': 'signal'}, make_hook),
    Toy('A group', {'NAME': 'toy'}, make_group),
    Toy('A type of trace slot', {'FOLDER': 'tasks', 'WRITER': 'task'}, make_slot, 8),
    Toy('A type of record', {}, make_record, 8),
    Toy('A subcommand of ktau', {'NAME': 'toy'}, make_subcommand),
    Toy('A format of ktau export', {'FORMAT': 'toy'}, make_format),
    Toy('A kernel version', {'x.y': TOY_VERSION}, make_version),
)


def follow(copy, toy, page):
    """Add one toy. Return: the differences between the list and the files that it changed."""
    before = copy.contents()
    try:
        toy.make(copy, page)
        wanted = listed(page, toy, copy)
    except Wrong as reason:
        return [str(reason)]
    after = copy.contents()
    changed = {path for path in before.keys() | after.keys()
               if before.get(path) != after.get(path)}
    if 0 < toy.most < len(changed):
        return [f'"{toy.heading}" takes {len(changed)} files, not {toy.most}: {sorted(changed)}']
    return [f'{PAGE}: "{toy.heading}" does not list {path}' for path in sorted(changed - wanted)] + \
        [f'{PAGE}: "{toy.heading}" lists {path}, which the toy does not change'
         for path in sorted(wanted - changed)]


def copy_files(source, names, target):
    for name in names:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / name, target / name)


def update(source, target):
    """Make @target equal to @source; write only files that differ, to keep builds incremental."""
    new, old = Copy(source, None).contents(), {}
    if target.exists():
        old = Copy(target, None).contents()
    for name in old.keys() - new.keys():
        (target / name).unlink()
    copy_files(source, [name for name in new if new[name] != old.get(name)], target)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', default='build', help='where to work')
    parser.add_argument('--sources', default='/usr/src',
                        help='where linux-source-VERSION.tar.xz are')
    parser.add_argument('tree', type=pathlib.Path, help='the copy with the toys')
    args = parser.parse_args()
    os.chdir(TOP)
    project = Project('.', args.build, args.sources)
    staged = project.scratch / 'contributing'
    shutil.rmtree(staged, ignore_errors=True)
    # A patch cannot be made for a kernel whose source is missing, and all queues must be equal.
    missing = [f'patches/{version}/' for version in project.versions()
               if version not in project.installed()]
    copy_files(TOP, [name for name in project.files()
                     if not name.startswith(tuple(missing))], staged)
    copy = Copy(staged, project)
    page = (staged / PAGE).read_text(encoding='utf-8')
    wrong = [reason for toy in TOYS for reason in follow(copy, toy, page)]
    update(staged, args.tree)
    print('\n'.join(wrong), end='\n' if wrong else '')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
