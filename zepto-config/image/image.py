# SPDX-License-Identifier: GPL-2.0-only
"""Ramdisks and kernels, the same to the byte each time they are made of the same."""

import gzip
import stat
import struct
import zlib

MAGIC_UIMAGE = 0x27051956


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
        """The part of a path above its last that is no folder; None if all are."""
        parts = path.strip('/').split('/')
        above = ('/'.join(parts[:i]) for i in range(1, len(parts)))
        return next((p for p in above if p in self.files and not stat.S_ISDIR(self.files[p][0])),
                    None)

    def __contains__(self, path):
        return path.strip('/') in self.files

    def cpio(self, time):
        """The archive that the kernel unpacks: sorted, all of it root's, all of one time."""
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
    """gzip -n, padded so that another archive may follow it."""
    packed = gzip.compress(archive, 9, mtime=0)
    return packed + bytes(-len(packed) % 4)


def stamp_uimage(image, time):
    """A uImage with another time: it says when it was wrapped, and has a sum over that."""
    head = bytearray(image[:64])
    if len(head) < 64 or struct.unpack_from('>I', head)[0] != MAGIC_UIMAGE:
        raise ValueError('not a uImage')
    struct.pack_into('>I', head, 8, time)
    struct.pack_into('>I', head, 4, 0)
    struct.pack_into('>I', head, 4, zlib.crc32(head))
    return bytes(head) + image[64:]
