# SPDX-License-Identifier: GPL-2.0-only
"""Files with the block format of recordings, for tests of shipping and collecting."""

import struct
import zlib

FILE_MAGIC, BLOCK_MAGIC = 0x4c49464b, 0x4b42544b


def file_header(created_ns=0):
    fields = FILE_MAGIC, 2, 40, created_ns, b''
    crc = zlib.crc32(struct.pack('=IHHQ16sII', *fields, 0, 0))
    return struct.pack('=IHHQ16sII', *fields, crc, 0)


HEADER = file_header()


def block(payload):
    head = struct.pack('=IHHBBHIIII4xQQ', BLOCK_MAGIC, 56, 1, 0, 0, 0, len(payload),
                       len(payload), 0, 0, 0, 0)
    head += bytes(56 - len(head))
    return head + payload + bytes(-len(payload) % 8)


def name(number, host='node'):
    """The name of a host's file, in the order of the numbers."""
    return f'{host}-20260101T0000{number:02}.000Z.ktau'
