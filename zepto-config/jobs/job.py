# SPDX-License-Identifier: GPL-2.0-only
"""Controls a job on an I/O node, and runs a program as the job.

The protocol is described in tests/bgl/ciod/proto.h.
"""

import os
import pathlib
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import time

NODE = 'ionode'             # its name for a server of its own
HELLO, BYE, END = 0, 1, 2
COMPUTE, CONTROL = 0, 1
VERSION = 1
HEAD = struct.Struct('>II')
REPLY = struct.Struct('>IIQ')
HERE = pathlib.Path(__file__).resolve().parent


class Error(Exception):
    """A message for the user."""


class Interrupted(Exception):
    """SIGINT, SIGTERM or SIGHUP was received."""

    def __init__(self, number):
        super().__init__(signal.Signals(number).name)
        self.status = 128 + number


class Signals:
    """SIGINT, SIGTERM and SIGHUP raise Interrupted; a with statement defers them."""

    def __init__(self):
        self.held = False
        self.number = None
        # A signal that arrives just before select() would not interrupt it; this descriptor does
        self.wake, end = os.pipe()
        os.set_blocking(end, False)
        signal.set_wakeup_fd(end)
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            # What is ignored, as under nohup(1), is left to be ignored
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._take)

    def _take(self, number, _):
        self.number = number
        if not self.held:
            raise Interrupted(number)

    def __enter__(self):
        self.held = True

    def __exit__(self, *_):
        self.held = False
        if self.number:
            raise Interrupted(self.number)


def message(call, body=b''):
    return HEAD.pack(HEAD.size + len(body), call) + body


def hello(role, token):
    token = token.encode()
    return message(HELLO, struct.pack('>QQI', VERSION, role, len(token)) + token)


def own_server(token, home, port):
    """Where recordings go to a server for this job alone: its URL, and the node's name there."""
    return f'nats://{NODE}:{token}@{home}:{port}', NODE


def files(token, board, home, home_port, ship, port, wait, uid=1000, gid=1000):
    """The files in /etc/job on the I/O node: the job file of ciod, and settings for its scripts.

    home_port is where home receives the archive, ship is as returned by own_server().
    """
    ciod = (f'token={token}\npeer={home}\nuid={uid}\ngid={gid}\nroot=/var/root\n'
            f'port={port}\nwait={wait}\n')
    node = (f'ADDRESS={board.ip}\nNETMASK={board.netmask}\nTOKEN={token}\n'
            f'HOME_ADDRESS={home}\nHOME_PORT={home_port}\n'
            f'SHIP_SERVERS={ship[0]}\nSHIP_HOST={ship[1]}\n'
            f'TIME={int(time.time())}\n')
    return ciod.encode(), node.encode()


def printable(text):
    """Text with control characters escaped."""
    return ''.join(c if c.isprintable() else f'\\x{ord(c):02x}' for c in text)


def read_token(path):
    """Read the token from a job file."""
    try:
        text = pathlib.Path(path).read_text()
    except OSError as error:
        raise Error(f'{path}: {error.strerror}') from error
    match = re.search(r'^token=([0-9a-f]{32})$', text, re.M)
    if not match:
        raise Error(f'{path}: contains no token')
    return match.group(1)


class Control:
    """The control connection, which lasts as long as the job.

    If it is closed without end(), or this process dies, ciod ends the job as failed.
    """

    def __init__(self, address, port, token, patience_seconds=0):
        deadline = time.monotonic() + patience_seconds
        while not self._connect(address, port, token, time.monotonic() >= deadline):
            time.sleep(0.2)

    def _connect(self, address, port, token, last):
        """Return whether it succeeded. A refused connection is an error only at the last attempt."""
        try:
            self.socket = socket.create_connection((address, port), 30)
            self._ask(hello(CONTROL, token))
            return True
        except OSError as error:
            # If ciod did not answer, it may have started the job, which another attempt would end
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
        """End the job. Raise Error if it has failed."""
        try:
            self._ask(message(END))
        except OSError as error:
            raise Error(f'the job had already ended: {error}') from error
        finally:
            self.socket.close()


def find_cnk():
    build = pathlib.Path(os.environ.get('B', HERE.parent.parent / 'build'))
    cnk = (build / 'tests/bgl/cnk/cnk').resolve()
    if not cnk.exists():
        raise Error(f'{cnk} does not exist: run make')
    return str(cnk)


def environment(address, port, token, prefix, counts=None):
    """The environment of cnk, which removes these variables before it runs programs."""
    more = {'CIOD_ADDRESS': address, 'CIOD_SERVICE': str(port), 'CIOD_TOKEN': token,
            'CIOD_PREFIX': prefix}
    if counts:
        more['CIOD_COUNTS'] = str(counts)
    return {**os.environ, **more}


def run(command, surroundings, control, signals):
    """Run a command as the job, and end the job. Return the exit status.

    If the job ends first, or a signal arrives, the command is terminated. The status is 0 only
    if nothing has failed.
    """
    process = None
    try:
        with signals:
            process = subprocess.Popen([find_cnk(), *command], env=surroundings)
        status = _wait(process, control, signals)
    except Interrupted as interrupted:
        signals.number = None
        if process:
            process.terminate()
            process.wait()
        status = interrupted.status
    try:
        control.end()
    except Error as error:
        print(f'{pathlib.Path(sys.argv[0]).name}: {error}', file=sys.stderr)
        status = status or 1
    return status


def _wait(process, control, signals):
    ended = os.pidfd_open(process.pid)
    try:
        ready = []
        while not ready or ready == [signals.wake]:
            ready, _, _ = select.select([ended, control.socket, signals.wake], [], [])
    finally:
        os.close(ended)
    # ciod sends nothing unasked, so the connection has been closed
    if control.socket in ready and process.poll() is None:
        process.terminate()
    status = process.wait()
    return status if status >= 0 else 128 - status
