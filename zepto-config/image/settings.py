# SPDX-License-Identifier: GPL-2.0-only
"""A kernel profile: a file of key=value lines that describes the image of an I/O node."""

import dataclasses
import pathlib
import re
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]


def built_groups():
    """The groups with a Kconfig option, from the common list of groups."""
    groups = (TOP / 'kernel-ext/include/uapi/linux/ktau_groups.h').read_text(encoding='ascii')
    options = (TOP / 'kernel-ext/kernel/ktau/Kconfig').read_text(encoding='ascii')
    return tuple(name for symbol, name in re.findall(r'^KTAU_(?:TASK_)?GROUP\((\w+), (\w+),', groups, re.M)
                 if f'config KTAU_{symbol}\n' in options)


GROUPS = built_groups()
MODES = ('all', 'self', 'pid', 'name')
INFO = ('profile', 'trace', 'both')
UNITS = {'ms': 0.001, 's': 1, 'm': 60, 'h': 3600, 'd': 86400}
SIZES = {'k': 1 << 10, 'M': 1 << 20, 'G': 1 << 30}


# The I/O node mounts file systems here, which hide files of the ramdisk.
HIDDEN = ('dev', 'proc', 'sys', 'var')


class Error(Exception):
    """file:line: reason"""


def one_of(*words):
    def check(value):
        if value not in words:
            raise ValueError(f"'{value}' is not one of {', '.join(words)}")
    return check


def check_groups(value):
    for group in value.split(','):
        if group not in GROUPS and value != 'all':
            raise ValueError(f"there is no group '{group}'; the groups are {', '.join(GROUPS)}, or all")


def check_period(value):
    match = re.fullmatch(r'(\d+(?:\.\d{1,6})?)(ms|s|m|h|d)?', value)
    if not match or not 0.001 <= float(match[1]) * UNITS[match[2] or 's'] <= 86400:
        raise ValueError(f"'{value}' is not a time from 1ms to 1d")


def check_pids(value):
    for pid in value.split(','):
        if not re.fullmatch(r'[1-9]\d{0,9}', pid):
            raise ValueError(f"'{pid}' is not a process id")


def check_names(value):
    if not re.fullmatch(r'[^\s,#]+(,[^\s,#]+)*', value):
        raise ValueError('names must be separated by commas')


def check_memory(value):
    if not 64 << 20 <= size(value) <= 1 << 29:
        raise ValueError(f"'{value}' is not between 64M and 512M")


def check_prefix(value):
    if not re.fullmatch(r'[\w./+-]*-', value):
        raise ValueError('the prefix of a toolchain must end in -, such as powerpc-linux-gnu-')


def check_kernel(value):
    if not re.fullmatch(r'\d+\.\d+', value) and '/' not in value:
        raise ValueError(f"'{value}' is neither a version such as 6.1 nor a path with a /")


def check_tree(value):
    if not re.fullmatch(r'[\w-]+', value) and '/' not in value:
        raise ValueError(f"'{value}' is neither a name such as bamboo nor a path with a /")


def check_file(value):
    """HOST:TARGET[:MODE]"""
    parts = value.split(':')
    if len(parts) not in (2, 3) or not parts[0]:
        raise ValueError('a file must be HOST-PATH:/TARGET or HOST-PATH:/TARGET:MODE')
    target = parts[1]
    if not target.startswith('/') or target.endswith('/') or \
            any(part in ('', '.', '..') for part in target[1:].split('/')):
        raise ValueError(f"'{target}' is not an absolute path of a file")
    if len(parts) == 3 and not re.fullmatch(r'[0-7]{3,4}', parts[2]):
        raise ValueError(f"'{parts[2]}' is not a mode in octal digits")


def check_rc(value):
    if not re.fullmatch(r'[0-9]{2}[\w.-]*', pathlib.PurePath(value).name):
        raise ValueError('the name of an rc script must begin with two digits')


def size(value):
    match = re.fullmatch(r'(\d+)([kMG]?)', value)
    if not match:
        raise ValueError(f"'{value}' is not a size such as 256M")
    return int(match[1]) * SIZES.get(match[2], 1)


@dataclasses.dataclass(frozen=True)
class Key:
    default: str
    check: object
    text: str
    many: bool = False


KEYS = {
    'kernel': Key('6.1', check_kernel, 'version of a patch queue, or path of a uImage'),
    'device_tree': Key('bamboo', check_tree,
                       'for a real board: name in the kernel source, or path of a .dtb'),
    'toolchain': Key('powerpc-linux-gnu-', check_prefix, 'prefix of the cross compiler'),
    'memory': Key('256M', check_memory, 'memory of the board, from 64M to 512M'),
    'groups': Key('all', check_groups, 'groups to enable while ktaud runs, separated by commas, or all'),
    'period': Key('1', check_period, 'period of ktaud in seconds, or with ms, s, m, h, d'),
    'mode': Key('name', one_of(*MODES), 'which tasks: all, self, pid, name'),
    'pid': Key('', check_pids, 'process ids for mode pid, separated by commas'),
    'name': Key('ciod', check_names, 'names of tasks for mode name, separated by commas; may contain * and ?'),
    'info': Key('profile', one_of(*INFO), 'what ktaud reads: profile, trace, both'),
    'file': Key('', check_file, 'additional files for the ramdisk: HOST-PATH:/TARGET[:MODE]', True),
    'rc': Key('', check_rc, 'additional scripts for /etc/rc.d: path of a file 00NAME to 99NAME', True),
}


class Settings:
    """The values of a profile, with their line numbers."""

    def __init__(self, path='(new)'):
        self.path = path
        self.values = {}        # key -> [(line, value)]

    def set(self, key, value, line=0):
        """Raise Error if the key is unknown or the value is invalid."""
        if key not in KEYS:
            raise self.error(line, f"there is no key '{key}'; the keys are {', '.join(KEYS)}")
        try:
            if value or key not in ('pid', 'file', 'rc'):
                KEYS[key].check(value)
        except ValueError as error:
            raise self.error(line, f'{key}: {error}') from None
        if not KEYS[key].many:
            self.values[key] = [(line, value)]
        elif value:
            self.values.setdefault(key, []).append((line, value))

    def change(self, words):
        """Set each KEY=VALUE."""
        for word in words:
            key, equals, value = word.partition('=')
            if not equals:
                raise Error(f"'{word}' is not KEY=VALUE")
            if not value.strip() and key.strip() in KEYS and KEYS[key.strip()].many:
                self.values.pop(key.strip(), None)
            self.set(key.strip(), value.strip())

    def error(self, line, reason):
        return Error(f'{self.path}:{line}: {reason}' if line else f'{self.path}: {reason}')

    def get(self, key):
        return self.values[key][0][1] if key in self.values else KEYS[key].default

    def line(self, key):
        return self.values[key][0][0] if key in self.values else 0

    def all(self, key):
        return self.values.get(key, [])

    def resolve(self, path):
        """Paths are relative to the folder of the profile."""
        return pathlib.Path(self.path).parent / path

    def check(self):
        """Raise Error if the lines, though valid individually, do not fit together."""
        for _, error in self.problems():
            raise error

    def problems(self):
        """Yield (key, line, value) and an Error for each problem that check() raises."""
        if self.get('mode') == 'pid' and not self.get('pid'):
            yield self.problem('mode', self.line('mode'), 'pid', 'mode pid requires a line pid=')
        kernel = self.get('kernel')
        if '/' in kernel and not self.resolve(kernel).is_file():
            yield self.problem('kernel', self.line('kernel'), kernel,
                               f'kernel: {kernel}: no such file')
        targets = {}
        for line, key, value in sorted((line, key, value) for key in ('file', 'rc')
                                       for line, value in self.all(key)):
            reason = self._wrong_file(key, value, targets)
            if reason:
                yield self.problem(key, line, value, reason)
            targets.setdefault(self.target(key, value), line)
        for target, line in targets.items():
            for parent in pathlib.PurePath(target).parents:
                if str(parent) in targets:
                    yield self.problem('file', line, None, f'file: {parent} is a file: line '
                                       f'{targets[str(parent)]}')

    def problem(self, key, line, value, reason):
        return (key, line, value), self.error(line, reason)

    def _wrong_file(self, key, value, targets):
        host, target = value.split(':')[0], self.target(key, value)
        if not self.resolve(host).is_file():
            return f'{key}: {host}: no such file'
        if target in targets:
            return f'{target} is already set in line {targets[target]}'
        if target.split('/')[1] in HIDDEN:
            return (f'{key}: {target} would be hidden on the I/O node, which mounts '
                    f'/{target.split("/")[1]}')
        return wrong_script(self.resolve(host), host) if key == 'rc' else None

    def leave_out(self, key, line):
        """Remove the value of a key in this line."""
        self.values[key] = [pair for pair in self.values.get(key, []) if pair[0] != line]
        if not self.values[key]:
            del self.values[key]

    @staticmethod
    def target(key, value):
        if key == 'rc':
            return f'/etc/rc.d/{pathlib.PurePath(value).name}'
        return value.split(':')[1]

    def text(self):
        lines = ['# SPDX-License-Identifier: GPL-2.0-only']
        for key, about in KEYS.items():
            lines.append(f'\n# {about.text}')
            if about.many:
                lines += [f'{key}={value}' for _, value in self.all(key)]
            elif self.get(key):
                lines.append(f'{key}={self.get(key)}')
            else:
                lines.append(f'#{key}=')
        return '\n'.join(lines) + '\n'


def wrong_script(path, name):
    """Return the error in an rc script; None if there is none."""
    with open(path, 'rb') as f:
        first = f.readline()
    if not first.startswith(b'#!'):
        return f'rc: {name}: does not begin with #!'
    if not re.match(rb'#! */bin/sh\s', first):
        return None
    done = subprocess.run(['sh', '-n', path], stderr=subprocess.PIPE, encoding='utf-8',
                          errors='replace', check=False)
    if not done.returncode:
        return None
    match = re.search(r'(?:line )?(\d+): (.*)', done.stderr.removeprefix(str(path)))
    return f'rc: {name}: ' + (f'line {match[1]}: {match[2].lower()}' if match else done.stderr)


def read(path, errors=None):
    """Read the settings of a file. Raise Error with the line and the reason.

    If errors is a list, invalid lines are left out and (key, Error) pairs are added to the list
    instead, and check() is not called.
    """
    settings = Settings(str(path))
    try:
        lines = pathlib.Path(path).read_text(encoding='utf-8').splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, 'strerror', None) or 'not a text file'
        raise Error(f'{path}: {reason}') from error
    seen = {}
    for number, line in enumerate(lines, 1):
        key = line.partition('=')[0].strip()
        try:
            _take_line(settings, line.strip(), number, seen)
        except Error as error:
            if errors is None:
                raise
            errors.append((key, error))
    if errors is None:
        settings.check()
    return settings


def _take_line(settings, line, number, seen):
    if not line or line.startswith('#'):
        return
    key, equals, value = (part.strip() for part in line.partition('='))
    if not equals:
        raise settings.error(number, f"'{line}' is not key=value")
    if key in seen and not KEYS[key].many:
        raise settings.error(number, f'{key} is already set in line {seen[key]}')
    if key in KEYS:
        seen[key] = number
    settings.set(key, value, number)


def ktaud_conf(settings):
    """ktaud.conf(5) for the image."""
    lines = ['# Generated from the kernel profile.', f'sample_period {settings.get("period")}',
             f'mode {settings.get("mode")}', f'info {settings.get("info")}',
             f'groups {settings.get("groups")}', 'output_dir /var/job/ktau',
             # Leaves room for the file being written and one being shipped
             f'rotate_size {size(settings.get("memory")) // 32}']
    if settings.get('mode') in ('pid', 'name'):
        lines.append(f'{settings.get("mode")} {settings.get(settings.get("mode"))}')
    return '\n'.join(lines) + '\n'
