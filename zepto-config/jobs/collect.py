# SPDX-License-Identifier: GPL-2.0-only
"""Receives what an I/O node sends home, while the job runs and at its end.

A connection begins with the job's token in a line. The next line is

    file NAME OFFSET    what follows belongs at this offset of this file
    archive             what follows is a tar archive of all files: the last thing to come
"""

import contextlib
import os
import re
import secrets
import shutil
import socket
import tarfile
import tempfile
import threading
import time

from jobs import job

MOST_BYTES = 1 << 30        # of a job, in all
MOST_UNKNOWN = 16           # connections that have not shown the token
HELLO_SECONDS = 10          # in all, for the two lines
IDLE_SECONDS = 60
NAME = re.compile(r'\w[\w.:+-]*')


class TooMuch(Exception):
    """More than MOST_BYTES."""


class Stream:
    """The data of a connection, counted."""

    def __init__(self, peer, collector):
        self.peer = peer
        self.collector = collector

    def read(self, size=1 << 16):
        data = self.peer.recv(min(size, 1 << 16))
        self.collector.count(len(data))
        return data


class Collector:
    """Serves any number of connections, each in a thread; writes to the folder out."""

    def __init__(self, token, out):
        self.token = token.encode()
        self.out = out
        self.errors = []
        self.names = set()              # of the files that have come
        self.bytes = 0
        self.complete = threading.Event()
        self.lock = threading.Lock()
        self.unknown = []               # guarded by lock; the oldest first
        self.listener = socket.create_server(('127.0.0.1', 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def count(self, size):
        with self.lock:
            self.bytes += size
            if self.bytes > MOST_BYTES:
                raise TooMuch

    def _accept(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                self.unknown.append(peer)
                oldest = self.unknown.pop(0) if len(self.unknown) > MOST_UNKNOWN else None
            if oldest:
                # Its thread closes it
                with contextlib.suppress(OSError):
                    oldest.shutdown(socket.SHUT_RDWR)
            threading.Thread(target=self._serve, args=(peer,), daemon=True).start()

    def _line(self, peer, deadline):
        line = b''
        while not line.endswith(b'\n'):
            peer.settimeout(max(deadline - time.monotonic(), 0.001))
            byte = peer.recv(1)
            if not byte or len(line) > 256:
                raise ConnectionError
            line += byte
        return line[:-1]

    def _greet(self, peer):
        """The line that says what follows; None if it is not this job's."""
        deadline = time.monotonic() + HELLO_SECONDS
        try:
            if secrets.compare_digest(self._line(peer, deadline), self.token):
                return self._line(peer, deadline).decode('ascii', 'replace')
        except OSError:
            pass
        return None

    def _serve(self, peer):
        with peer:
            what = self._greet(peer)
            with self.lock:
                if peer in self.unknown:
                    self.unknown.remove(peer)
            if what is None:
                return
            peer.settimeout(IDLE_SECONDS)
            try:
                self._take(what, Stream(peer, self))
            except TooMuch:
                self.errors.append(f'the I/O node has sent more than {MOST_BYTES} bytes')
            except tarfile.TarError as error:
                self.errors.append(f'what the I/O node sent home is damaged: {error}')
            except OSError as error:
                self.errors.append(f'{what}: {error.strerror or error}')
            if what == 'archive':
                self.complete.set()

    def _take(self, what, stream):
        match = re.fullmatch(r'file (\S+) (\d{1,12})', what)
        if what == 'archive':
            self._unpack(stream)
        elif match and NAME.fullmatch(match[1]) and self._own(match[1]):
            self._write(match[1], int(match[2]), stream)

    def _own(self, name):
        """Whether a file of this name may be written: no other part of the job's folder."""
        if name not in self.names and os.path.lexists(self.out / name):
            return False
        self.names.add(name)
        return True

    def _write(self, name, offset, stream):
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(self.out / name, flags, 0o644), 'r+b', buffering=0) as f:
            if offset > os.fstat(f.fileno()).st_size:
                raise OSError(0, 'a part before this one is missing')
            f.seek(offset)
            shutil.copyfileobj(stream, f)

    def _unpack(self, stream):
        """Each file under its own name in out, whole or not at all. Nothing of the rest."""
        with tarfile.open(fileobj=stream, mode='r|') as archive:
            for member in archive:
                name = member.name.removeprefix('./').removeprefix('ktau/')
                if not member.isfile() or not NAME.fullmatch(name) or not self._own(name):
                    continue
                with tempfile.NamedTemporaryFile(dir=self.out, delete=False) as f:
                    try:
                        shutil.copyfileobj(archive.extractfile(member), f)
                        os.chmod(f.name, 0o644)
                        os.replace(f.name, self.out / name)
                    except BaseException:
                        os.unlink(f.name)
                        raise

    def check(self):
        """Raise Error if something is missing of what was sent."""
        if self.errors:
            raise job.Error(self.errors[0])
        if not self.complete.is_set():
            raise job.Error('the I/O node has not sent its final dump: '
                            f'{self.out} has what came before')
