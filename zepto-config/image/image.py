# SPDX-License-Identifier: GPL-2.0-only
"""Ramdisks and kernel images. The same input always gives the same bytes."""

import gzip
import stat
import struct
import zlib

MAGIC_UIMAGE = 0x27051956
UIMAGE = struct.Struct('>7I4B32s')
LINUX, POWERPC = 5, 7
KERNEL, RAMDISK, SCRIPT = 2, 3, 6       # types of a uImage
GNU_BUILD_ID = struct.pack('>III4s', 4, 20, 3, b'GNU')


class Tree:
    """Files of a ramdisk: path without a leading / -> (mode, device, contents)."""

    def __init__(self):
        self.files = {}

    def _parents(self, path):
        while '/' in path:
            path = path.rsplit('/', 1)[0]
            self.files.setdefault(path, (stat.S_IFDIR | 0o755, 0, b''))

    def _add(self, path, mode, contents=b'', device=0):
        path = path.strip('/')
        self._parents(path)
        self.files[path] = (mode, device, contents)

    def folder(self, path, mode=0o755):
        self._add(path, stat.S_IFDIR | mode)

    def file(self, path, contents, mode=0o644):
        self._add(path, stat.S_IFREG | mode, contents)

    def link(self, path, target):
        self._add(path, stat.S_IFLNK | 0o777, target.encode())

    def character(self, path, major, minor, mode=0o600):
        self._add(path, stat.S_IFCHR | mode, device=(major, minor))

    def file_above(self, path):
        """The first parent of a path that is not a folder; None if all are folders."""
        parts = path.strip('/').split('/')
        above = ('/'.join(parts[:i]) for i in range(1, len(parts)))
        return next((p for p in above if p in self.files and not stat.S_ISDIR(self.files[p][0])),
                    None)

    def __contains__(self, path):
        return path.strip('/') in self.files

    def cpio(self, time):
        """The archive that the kernel unpacks: sorted, owned by root, all with the same time."""
        out = bytearray()
        for inode, path in enumerate(sorted(self.files), 1):
            mode, device, contents = self.files[path]
            out += entry(path, inode, mode, time, contents, device or (0, 0))
        return bytes(out + entry('TRAILER!!!', 0, 0, 0, b'', (0, 0)))


def entry(path, inode, mode, time, contents, device):
    name = path.encode() + b'\0'
    links = 2 if stat.S_ISDIR(mode) else 1
    fields = (inode, mode, 0, 0, links, time, len(contents), 0, 0, *device, len(name), 0)
    head = b'070701' + b''.join(b'%08X' % field for field in fields) + name
    return head + bytes(-len(head) % 4) + contents + bytes(-len(contents) % 4)


def compress(archive):
    """gzip -n, padded so that another archive can be appended."""
    packed = gzip.compress(archive, 9, mtime=0)
    return packed + bytes(-len(packed) % 4)


def wrap(kind, data, name, time):
    """An image for U-Boot: a header with a checksum, followed by the data."""
    fields = [MAGIC_UIMAGE, 0, time, len(data), 0, 0, zlib.crc32(data), LINUX, POWERPC, kind, 0,
              name.encode()]
    fields[1] = zlib.crc32(UIMAGE.pack(*fields))
    return UIMAGE.pack(*fields) + data


def script(commands, time):
    """A script for U-Boot's "source" command."""
    text = commands.encode()
    return wrap(SCRIPT, struct.pack('>II', len(text), 0) + text, 'boot', time)


def build_id(uimage, system_map):
    """The kernel's GNU build-id. Raise ValueError if the map belongs to another kernel.

    A System.map does not identify its kernel. But it contains the address of the kernel's notes,
    and a build-id is only found there if the map is the right one.
    """
    symbols = dict(line.split()[::-2] for line in system_map.splitlines() if line.strip())
    try:
        kernel = gzip.decompress(uimage[UIMAGE.size:])
        at = int(symbols['__start_notes'], 16) - int(symbols['_text'], 16)
        end = int(symbols['__stop_notes'], 16) - int(symbols['_text'], 16)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f'not a kernel compressed with gzip: {error}') from error
    except KeyError as error:
        raise ValueError(f'the System.map contains no symbol {error}') from None
    found = kernel.find(GNU_BUILD_ID, max(at, 0), max(end, 0))
    if found < 0:
        raise ValueError('the System.map belongs to another kernel')
    return kernel[found + len(GNU_BUILD_ID):][:20]


def stamp_uimage(image, time):
    """Replace the time in the header of a uImage, and update its checksum."""
    head = bytearray(image[:64])
    if len(head) < 64 or struct.unpack_from('>I', head)[0] != MAGIC_UIMAGE:
        raise ValueError('not a uImage')
    struct.pack_into('>I', head, 8, time)
    struct.pack_into('>I', head, 4, 0)
    struct.pack_into('>I', head, 4, zlib.crc32(head))
    return bytes(head) + image[64:]
