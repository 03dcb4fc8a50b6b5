# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's checkpatch.pl, on patches or on whole files."""

import concurrent.futures
import hashlib
import re
import shutil

from project import CannotRun, run

# False positives: a keyword of C11; the names of groups, which macros paste and
# never evaluate; printk_deferred_once(), which has no pr_ form; a function name
# that a test expects in a message; and a name that the kernel uses.
WRONG = re.compile(r"<_Static_assert>|argument reuse 'g'|UNNECESSARY_KERN_LEVEL"
                   r"|EMBEDDED_FUNCTION_NAME|<DebugException>")
FINDING = re.compile(r'(?:.+?):(\d+): ((?:ERROR|WARNING|CHECK):.*)')


def checkpatch(project, base, paths, options):
    """Yield (path, line, reason). Paths are below the folder @base, which
    checkpatch.pl treats as a kernel tree."""
    script = project.kernel_scripts() / 'checkpatch.pl'
    # checkpatch.pl leaves a file in its folder, so it runs in a separate one.
    place = project.scratch / 'checkpatch' / base
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    # It takes a second a file, so its output for each text is kept.
    (project.scratch / 'checkpatch' / 'known').mkdir(exist_ok=True)
    for entry in (project.root / base).iterdir():
        (place / entry.name).symlink_to(entry)

    def one(path):
        text = project.text(path)
        key = hashlib.sha256('\0'.join(
            [path, text, *options, script.read_text()]).encode()).hexdigest()
        known = project.scratch / 'checkpatch' / 'known' / key
        if not known.exists():
            said = _output(script, place, path[len(base) + 1:], options)
            known.with_suffix('.new').write_text(said)
            known.with_suffix('.new').rename(known)
        matches = [FINDING.match(line)
                   for line in known.read_text().splitlines()]
        lines = text.splitlines()
        # A line of the list of groups is an item, not an expression.
        return [(path, int(m.group(1)), m.group(2)) for m in matches
                if m and not WRONG.search(m.group(2)) and
                not re.match(r'#define KTAU_(TASK_)?GROUP\(', lines[int(m.group(1)) - 1])]

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for findings in pool.map(one, paths):
            yield from findings


def _output(script, place, path, options):
    done = run(['perl', script, '--strict', '--no-tree', '--terse',
                '--no-summary', '--show-types', *options, path], cwd=place)
    if done.returncode and not FINDING.search(done.stdout):
        raise CannotRun(f'checkpatch.pl {path}: {done.stdout.strip()}')
    return done.stdout
