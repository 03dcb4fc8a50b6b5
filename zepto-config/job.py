# SPDX-License-Identifier: GPL-2.0-only
"""A job seen from outside: its life on the I/O node, and a program's environment.

The protocol is that of ciod_proto.h.
"""

import os
import pathlib
import re
import socket
import struct
import time

HELLO, BYE, END = 0, 1, 2
COMPUTE, CONTROL = 0, 1
VERSION = 1
HEAD = struct.Struct('>II')
REPLY = struct.Struct('>IIQ')
HERE = pathlib.Path(__file__).resolve().parent


class Error(Exception):
    """What a person has to be told."""


def message(call, body=b''):
    return HEAD.pack(HEAD.size + len(body), call) + body


def hello(role, token):
    token = token.encode()
    return message(HELLO, struct.pack('>QQI', VERSION, role, len(token)) + token)


def read_token(path):
    """The token of a job file."""
    try:
        text = pathlib.Path(path).read_text()
    except OSError as error:
        raise Error(f'{path}: {error.strerror}') from error
    match = re.search(r'^token=([0-9a-f]{32})$', text, re.M)
    if not match:
        raise Error(f'{path}: there is no token')
    return match.group(1)


class Control:
    """The connection whose life is the job's.

    If it is closed without end(), or this process dies, ciod ends the job as
    failed.
    """

    def __init__(self, address, port, token, patience_seconds=0):
        deadline = time.monotonic() + patience_seconds
        while not self._connect(address, port, token, time.monotonic() >= deadline):
            time.sleep(0.2)

    def _connect(self, address, port, token, last):
        """Whether it did. Nobody there yet is no error unless it is the last time."""
        try:
            self.socket = socket.create_connection((address, port), 30)
            self._ask(hello(CONTROL, token))
            return True
        except OSError as error:
            # A silent one may have begun the job: to leave it would end that
            if last or not isinstance(error, ConnectionError):
                raise Error(f'no ciod at {address}:{port}: {error}') from error
        return False

    def _ask(self, request):
        self.socket.sendall(request)
        reply = b''
        while len(reply) < REPLY.size:
            more = self.socket.recv(REPLY.size - len(reply))
            if not more:
                raise ConnectionError('the connection was closed')
            reply += more

    def end(self):
        try:
            self._ask(message(END))
        except OSError as error:
            raise Error(f'the job had ended before: {error}') from error
        finally:
            self.socket.close()


def find_cnk():
    build = pathlib.Path(os.environ.get('B', HERE.parent / 'build'))
    cnk = (build / 'zepto-config/cnk').resolve()
    if not cnk.exists():
        raise Error(f'{cnk} does not exist: run make')
    return str(cnk)


def environment(address, port, token, prefix, counts=None):
    """The environment of cnk, which keeps it from the programs that it runs."""
    more = {'CIOD_ADDRESS': address, 'CIOD_SERVICE': str(port), 'CIOD_TOKEN': token,
            'CIOD_PREFIX': prefix}
    if counts:
        more['CIOD_COUNTS'] = str(counts)
    return {**os.environ, **more}
