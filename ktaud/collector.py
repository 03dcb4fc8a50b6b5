#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Receive recordings from ktaud-ship while they grow: see ktaud-collect(8).

A connection starts with a line that contains the token; the line is empty if there is none.
After that, each line is a request, and the requests are answered in order:

    size NAME [BEGINNING]       The answer is the size of the file; 0 if it does not exist.
    part NAME OFFSET BYTES      BYTES bytes follow, which are written if OFFSET is the size of
                                the file. The answer is the size that is now on disk.

The answer is "other" if the existing file begins differently: with other bytes than BEGINNING,
which is at most 64 bytes in hexadecimal, or than the part from offset 0. Any other answer that is
not a number is an error message, after which the connection is closed.
"""

import argparse
import contextlib
import os
import pathlib
import re
import secrets
import select
import signal
import socket
import ssl
import stat
import sys
import threading
import time

VERSION = '1.0.0'
MOST_UNKNOWN = 16           # connections that have not sent the token
MOST_LINE = 256
MOST_PART = 1 << 20
MOST_BEGINNING = 64
HELLO_SECONDS = 10          # in total, for TLS and the token
IDLE_SECONDS = 600
NAME = re.compile(r'\w[\w.:+-]{0,200}')
RECORDING = re.compile(r'\w[\w.:+-]{0,120}\.ktau')


class Refused(Exception):
    """The error message for the peer, whose connection is then closed."""


class Peer:
    """A connection, read by lines and by bytes. Once it is admitted, its bytes are counted."""

    def __init__(self, connection):
        self.connection = connection
        self.count = None
        self.buffer = b''

    def admit(self, count):
        self.count = count
        count(len(self.buffer))

    def _more(self):
        data = self.connection.recv(1 << 16)
        if self.count:
            self.count(len(data))
        self.buffer += data
        return bool(data)

    def line(self, deadline=None):
        """A line without its end; None at the end of input. Raise OSError after the deadline."""
        while b'\n' not in self.buffer:
            if deadline is not None:
                self.connection.settimeout(max(deadline - time.monotonic(), 0.001))
            if len(self.buffer) > MOST_LINE:
                raise Refused('a line is too long')
            if not self._more():
                return None
        line, _, self.buffer = self.buffer.partition(b'\n')
        return line.decode('ascii', 'replace')

    def read(self, size):
        """At most size bytes; none at the end of the input."""
        if not self.buffer:
            self._more()
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data

    def exactly(self, size):
        while len(self.buffer) < size:
            if not self._more():
                raise ConnectionError('the connection ended within a part')
        return self.read(size)

    def answer(self, text):
        self.connection.sendall(f'{text}\n'.encode())


class Collector:
    """Serves any number of connections, each in a thread; writes to the folder out.

    Without resume, files that already exist in the folder are not changed.
    """

    def __init__(self, listener, out, token='', tls=None, resume=False, limit=None):
        self.listener = listener
        self.out = pathlib.Path(out)
        self.token = token.encode()
        self.tls = tls
        self.resume = resume
        self.limit = limit
        self.errors = []
        self.names = set()              # files received so far
        self.bytes = 0
        self.lock = threading.Lock()    # guards names, bytes, unknown, serving and the files
        self.unknown = []               # connections without the token, oldest first
        self.serving = 0                # number of connections
        listener.setblocking(False)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        # Wake up accept(); close() alone does not
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def failed(self, text):
        """Called when a request of an admitted peer failed."""
        self.errors.append(text)

    def arrived(self, name, size):
        """Called when a file has grown to size bytes."""

    def count(self, size):
        with self.lock:
            self.bytes += size
            if self.limit is not None and self.bytes > self.limit:
                raise Refused(f'more than {self.limit} bytes have been sent')

    def is_idle(self):
        """Whether there is no connection, neither an open nor a pending one."""
        with self.lock:
            return not self.serving and not select.select([self.listener], [], [], 0)[0]

    def _next(self):
        """The next connection, counted. Raise OSError if there are no more."""
        while True:
            select.select([self.listener], [], [])
            with self.lock, contextlib.suppress(BlockingIOError):
                connection, _ = self.listener.accept()
                self.serving += 1
                return connection

    def _accept(self):
        while True:
            try:
                connection = self._next()
            except (OSError, ValueError):
                return
            if self.tls:
                try:
                    connection = self.tls.wrap_socket(connection, server_side=True,
                                                      do_handshake_on_connect=False)
                except OSError:
                    with self.lock:
                        self.serving -= 1
                    continue
            with self.lock:
                self.unknown.append(connection)
                oldest = self.unknown.pop(0) if len(self.unknown) > MOST_UNKNOWN else None
            if oldest:
                # Its thread will close it
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(oldest, socket.SHUT_RDWR)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _greet(self, connection, peer):
        """Return whether the peer has sent the right token."""
        deadline = time.monotonic() + HELLO_SECONDS
        try:
            if self.tls:
                connection.settimeout(HELLO_SECONDS)
                connection.do_handshake()
            line = peer.line(deadline)
            return line is not None and secrets.compare_digest(line.encode(), self.token)
        except (OSError, ValueError, Refused):
            return False

    def _serve(self, connection):
        try:
            self._serve_open(connection)
        finally:
            with self.lock:
                self.serving -= 1

    def _serve_open(self, connection):
        with connection:
            peer = Peer(connection)
            known = self._greet(connection, peer)
            with self.lock:
                if connection in self.unknown:
                    self.unknown.remove(connection)
            if not known:
                return
            connection.settimeout(IDLE_SECONDS)
            try:
                peer.admit(self.count)
                while (line := peer.line()) is not None:
                    self.take(line, peer)
            except Refused as refused:
                self.failed(str(refused))
                with contextlib.suppress(OSError):
                    peer.answer(refused)
            except TimeoutError:
                pass
            except OSError as error:
                self.failed(error.strerror or str(error))
                with contextlib.suppress(OSError):
                    peer.answer(error.strerror or error)

    def take(self, line, peer):
        """Handle a request of an admitted peer."""
        match = re.fullmatch(r'size (\S+)(?: ((?:[0-9a-f]{2}){1,64}))?', line)
        if match:
            with self.lock:
                name = self.checked(match[1])
                size = self._size(name)
                other = self._is_other(name, bytes.fromhex(match[2] or ''))
            # Without the lock: a peer that does not read must not block other connections
            peer.answer('other' if other else size)
            return
        match = re.fullmatch(r'part (\S+) (\d{1,18}) (\d{1,7})', line)
        if not match or int(match[3]) > MOST_PART:
            raise Refused('not a request')
        name, offset = self.checked(match[1]), int(match[2])
        data = peer.exactly(int(match[3]))
        with self.lock:
            if offset == self._size(name):
                self._append(name, data, offset)
            size = self._size(name)
            other = not offset and self._is_other(name, data[:MOST_BEGINNING])
        self.arrived(name, size)
        peer.answer('other' if other else size)

    def checked(self, name):
        """Return the name if a recording may be written to it; otherwise raise Refused."""
        if not RECORDING.fullmatch(name):
            raise Refused('not the name of a recording')
        if not self.own(name):
            raise Refused('a file of this name was not written by this collector')
        return name

    def own(self, name):
        """Return whether a file of this name may be written."""
        path = self.out / name
        if name not in self.names and os.path.lexists(path) and not \
                (self.resume and stat.S_ISREG(os.lstat(path).st_mode)):
            return False
        self.names.add(name)
        return True

    def _size(self, name):
        try:
            return os.stat(self.out / name, follow_symlinks=False).st_size
        except FileNotFoundError:
            return 0

    def _is_other(self, name, beginning):
        """Whether the existing file begins differently, because two machines share a name."""
        try:
            fd = os.open(self.out / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        with open(fd, 'rb') as f:
            here = f.read(len(beginning))
        return here != beginning[:len(here)]

    def _append(self, name, data, offset):
        """Append data, which is on disk on return: the peer may then remove its copy."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(self.out / name, flags, 0o644)
        try:
            with open(fd, 'r+b', buffering=0, closefd=False) as f:
                f.seek(offset)
                while data:
                    data = data[f.write(data):]
            os.fdatasync(fd)
        except OSError:
            # Keep either all of a part or nothing
            os.ftruncate(fd, offset)
            raise
        finally:
            os.close(fd)
        if not offset:
            self._sync_folder()

    def _sync_folder(self):
        fd = os.open(self.out, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


class Logging(Collector):
    """Logs files and failures to standard error."""

    def failed(self, text):
        print(f'ktaud-collect: {text}', file=sys.stderr, flush=True)

    def arrived(self, name, size):
        if name not in self.said:
            self.said.add(name)
            print(f'ktaud-collect: receiving {self.out / name}', file=sys.stderr, flush=True)

    said = set()


def listen(address):
    """A socket for tcp:HOST:PORT, tls:HOST:PORT or unix:PATH."""
    kind, _, where = address.partition(':')
    if kind == 'unix' and where:
        return listen_unix(where)
    host, _, port = where.rpartition(':')
    if kind not in ('tcp', 'tls') or not port.isdigit():
        raise ValueError(f"'{address}' is none of tcp:HOST:PORT, tls:HOST:PORT, unix:PATH")
    host = host.strip('[]')
    family = socket.AF_INET6 if ':' in host else socket.AF_INET
    return socket.create_server((host, int(port)), family=family, backlog=128)


def listen_unix(path):
    """Only the owner can connect. A stale socket is replaced."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            os.unlink(path)
        except OSError:
            pass
    listener = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)
    try:
        listener.bind(path)
    finally:
        os.umask(before)
    listener.listen(128)
    return listener


class Formatter(argparse.HelpFormatter):
    """The other programs, which use argp, write "Usage:"."""

    def add_usage(self, usage, actions, groups, prefix=None):
        super().add_usage(usage, actions, groups, prefix or 'Usage: ')


class Usage(argparse.Action):
    """Print a short usage message."""

    def __call__(self, parser, *_):
        parser.print_usage()
        parser.exit()


class Parser(argparse.ArgumentParser):
    """argparse does not check that help and the version were written."""

    def _print_message(self, message, file=None):
        try:
            (file or sys.stderr).write(message)
            (file or sys.stderr).flush()
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            print(f'{self.prog}: cannot write the output: {error.strerror}', file=sys.stderr)
            sys.exit(1)


def add_help(parser):
    parser.add_argument('-h', '-?', '--help', action='help', help='Give this help list')
    parser.add_argument('--usage', action=Usage, nargs=0, help='Give a short usage message')
    parser.add_argument('-V', '--version', action='version', version=f'{parser.prog} {VERSION}',
                        help='Print program version')


def arguments():
    parser = Parser(prog='ktaud-collect', formatter_class=Formatter, add_help=False,
                    description='Receive recordings from ktaud-ship into DIR.')
    parser.add_argument('-l', '--listen', default='tcp:127.0.0.1:7201', metavar='ADDRESS',
                        help='tcp:HOST:PORT, tls:HOST:PORT or unix:PATH (default: %(default)s)')
    parser.add_argument('--token-file', metavar='FILE',
                        help='admit only senders with the token in FILE')
    parser.add_argument('--cert', metavar='FILE', help='certificate of the collector, for tls')
    parser.add_argument('--key', metavar='FILE', help='key of the certificate')
    parser.add_argument('--client-ca', metavar='FILE',
                        help='admit only senders with a certificate from this authority')
    add_help(parser)
    parser.add_argument('out', metavar='DIR', type=pathlib.Path)
    known = parser.parse_args()
    if known.listen.startswith('tls:') != bool(known.cert and known.key):
        parser.error('tls requires --cert and --key, and they require tls')
    if known.client_ca and not known.cert:
        parser.error('--client-ca requires tls')
    try:
        known.listener = listen(known.listen)
    except ValueError as error:
        parser.error(error)
    except OSError as error:
        raise OSError(error.errno, error.strerror, known.listen) from error
    return known


def tls_context(a):
    if not a.cert:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(a.cert, a.key)
    if a.client_ca:
        context.load_verify_locations(a.client_ca)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def main():
    a = arguments()
    token = ''
    if a.token_file:
        token = pathlib.Path(a.token_file).read_text(encoding='ascii').split('\n')[0].strip()
        if not token:
            raise OSError(0, 'the first line is empty: it must contain a token', a.token_file)
    a.out.mkdir(exist_ok=True)
    # Before any thread is started, because threads inherit the mask
    ends = {number for number in (signal.SIGTERM, signal.SIGINT)
            if signal.getsignal(number) != signal.SIG_IGN}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    collector = Logging(a.listener, a.out, token, tls_context(a), resume=True)
    print(f'ktaud-collect: listening on {a.listen}', file=sys.stderr, flush=True)
    signal.sigwait(ends)
    collector.close()
    if a.listen.startswith('unix:'):
        os.unlink(a.listen.removeprefix('unix:'))
    return 0


if __name__ == '__main__':
    try:
        sys.exit(main())
    except ssl.SSLError as error:
        print(f'ktaud-collect: the certificate: {error.reason or error}', file=sys.stderr)
    except OSError as error:
        print(f'ktaud-collect: {error.filename}: {error.strerror}', file=sys.stderr)
    sys.exit(1)
