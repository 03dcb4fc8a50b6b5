# SPDX-License-Identifier: GPL-2.0-only
"""Receives the data that an I/O node sends while its job runs and at the end.

The recordings come from ktaud-ship, over a NATS server that runs on this machine as long as the
job, or over one that has an archive already. At the end a connection sends a line with the job's
token, and then a tar archive of all other files.
"""

import contextlib
import hmac
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tarfile
import tempfile
import threading
import time

from jobs import job

TOP = pathlib.Path(__file__).resolve().parents[2]
NAME = re.compile(r'\w[\w.:+-]{0,200}')
# The user is the name of the host
URL = re.compile(r'nats://([A-Za-z0-9_][A-Za-z0-9_.-]{0,62}):[A-Za-z0-9_.-]+@([A-Za-z0-9_.-]+):[0-9]{1,5}')
LOCAL = re.compile(r'@(127\.[0-9.]+|localhost):')
MOST_BYTES = 1 << 30        # of the archive, and of what has not landed
HOME_SECONDS = 120          # for the I/O node to send the rest after the command has ended
HELLO_SECONDS = 10          # for the token
IDLE_SECONDS = 600
START_SECONDS = 20
MOST_UNKNOWN = 16           # connections that have not sent the token


class Refused(Exception):
    """The data from the I/O node is invalid."""


class Stream:
    """A connection as a file for tarfile, with a limit."""

    def __init__(self, connection):
        self.connection = connection
        self.left = MOST_BYTES

    def read(self, size):
        data = self.connection.recv(min(size, 1 << 16))
        self.left -= len(data)
        if self.left < 0:
            raise Refused(f'more than {MOST_BYTES} bytes have been sent')
        return data


def free_port(host):
    with socket.socket() as s:
        s.bind((host, 0))
        return s.getsockname()[1]


class Server:
    """nats-server and ktau-land for one job, which end with this process."""

    def __init__(self, token, out, host, port):
        self.token = token
        self.port = port or free_port(host)
        self.landed = out / job.NODE
        self.processes = []
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='ktau-nats.'))
        try:
            self._start(token, out, host)
        except BaseException:
            self.close()
            raise

    def _start(self, token, out, host):
        land = pathlib.Path(os.environ.get('B', TOP / 'build')) / 'ktaud/ship/ktau-land'
        if not land.exists():
            raise job.Error('ktau-land has not been built: apt-get install libnats-dev; make')
        if not shutil.which('nats-server', path=f'{os.environ["PATH"]}:/usr/sbin'):
            raise job.Error('nats-server is not installed: apt-get install nats-server')
        (self.folder / 'password').write_text(f'{token}\n')
        (self.folder / 'hosts').write_text(f'{job.NODE} {token}\n')
        with open(self.folder / 'conf', 'wb') as conf:
            subprocess.run([TOP / 'ktaud/ship/nats_conf.py', '--no-tls', '--land-password',
                            self.folder / 'password', f'--listen={host}:{self.port}',
                            f'--store={self.folder}/store', f'--max-bytes={MOST_BYTES}',
                            self.folder / 'hosts'], stdout=conf, check=True)
        self._run('nats-server', '-c', self.folder / 'conf')
        self._await(lambda: 'Server is ready' in self._log('nats-server'))
        # Any user of this machine can read the arguments of a process
        (self.folder / 'servers').write_text(f'nats://ktau-land:{token}@{host}:{self.port}\n')
        self._run(land, f'--from={self.folder}/servers', out)
        self._await(lambda: 'landing' in self._log(land.name))

    def _log(self, name):
        return (self.folder / f'{name}.log').read_text(errors='replace')

    def _await(self, condition):
        deadline = time.monotonic() + START_SECONDS
        while not condition():
            name = pathlib.Path(self.processes[-1].args[3]).name
            if time.monotonic() >= deadline or self.processes[-1].poll() is not None:
                raise job.Error(f'{name} cannot be started: {self._log(name)[-500:]}')
            time.sleep(0.05)

    def _run(self, *command):
        log = self.folder / f'{pathlib.Path(command[0]).name}.log'
        with open(log, 'wb') as f:
            self.processes.append(subprocess.Popen(
                ['setpriv', '--pdeathsig', 'KILL', *command], stdin=subprocess.DEVNULL, stdout=f,
                stderr=f, start_new_session=True,
                env={**os.environ, 'PATH': f'{os.environ["PATH"]}:/usr/sbin'}))

    def ship(self, home):
        return job.own_server(self.token, home, self.port)

    def recorded(self):
        return list(self.landed.glob('*.ktau')) if self.landed.is_dir() else []

    def keep(self, out):
        """Move the recordings into the folder of the job."""
        for path in self.recorded():
            path.chmod(0o644)
            if not os.path.lexists(out / path.name):
                path.rename(out / path.name)
        with contextlib.suppress(OSError):
            self.landed.rmdir()
        (out / '.land-0').unlink(missing_ok=True)

    def check(self):
        pass

    def close(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Archive:
    """Servers that somebody runs, and the folder in which their ktau-land writes, if it is here."""

    def __init__(self, path, folder):
        try:
            self.urls = path.read_text(encoding='ascii').partition('\n')[0].strip()
        except (OSError, UnicodeError) as error:
            raise job.Error(f'{path}: {getattr(error, "strerror", None) or error}') from error
        hosts = {match and match[1] for match in map(URL.fullmatch, self.urls.split(','))}
        if None in hosts or len(hosts) != 1:
            raise job.Error(f'{path}: not nats://HOST:PASSWORD@ADDRESS:PORT, or several with '
                            'commas, of one HOST')
        self.host, = hosts
        if folder and not folder.is_dir():
            raise job.Error(f'{folder}: no such folder')
        self.landed = folder and folder / self.host.replace('.', '_')
        self.earlier = {path.name for path in self.files()}

    def files(self):
        return self.landed.glob('*.ktau') if self.landed and self.landed.is_dir() else ()

    def ship(self, home):
        """As job.own_server(), for a node that reaches this machine as home."""
        return LOCAL.sub(f'@{home}:', self.urls), self.host

    def recorded(self):
        """The recordings of this job: the host has no other one."""
        return [path for path in self.files() if path.name not in self.earlier]

    def keep(self, out):
        """Links to the recordings, which stay where they are."""
        for path in self.recorded():
            if not os.path.lexists(out / path.name):
                (out / path.name).symlink_to(path.resolve())

    def check(self):
        if self.landed and not self.recorded():
            raise job.Error(f'{self.landed} has no recording of this job')

    def close(self):
        pass


class Collector:
    """Receives the data of one job into its own folder; recordings only without an archive."""

    def __init__(self, token, out, address=('127.0.0.1', 0), ship_port=0, archive=None):
        self.token = token.encode()
        self.out = pathlib.Path(out)
        self.complete = threading.Event()
        self.errors = []
        self.unknown = []
        self.lock = threading.Lock()
        self.listener = socket.create_server(address, backlog=128)
        self.port = self.listener.getsockname()[1]
        try:
            self.server = archive or Server(token, self.out, address[0], ship_port)
        except BaseException:
            self.listener.close()
            raise
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        # Wake up accept(); close() alone does not
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.server.close()
        self.server.keep(self.out)

    @property
    def recorded(self):
        """Bytes of recordings received so far."""
        return sum(path.stat().st_size for path in self.server.recorded())

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                self._admit(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _admit(self, connection):
        """Add an unknown connection, in place of the oldest one if there are too many.

        The node sends its token at once, so the one that has been silent longest is not the node.
        """
        with self.lock:
            self.unknown.append(connection)
            if len(self.unknown) > MOST_UNKNOWN:
                # Its thread closes it
                with contextlib.suppress(OSError):
                    self.unknown.pop(0).shutdown(socket.SHUT_RDWR)

    def _serve(self, connection):
        with connection:
            try:
                known = self._greeted(connection)
            except OSError:
                known = False
            with self.lock:
                known = known and connection in self.unknown
                if connection in self.unknown:
                    self.unknown.remove(connection)
            if known:
                self._take(Stream(connection))

    def _greeted(self, connection):
        """Whether the first line is the token. No more than that line is read."""
        deadline, line = time.monotonic() + HELLO_SECONDS, b''
        while len(line) <= len(self.token) and time.monotonic() < deadline:
            connection.settimeout(max(deadline - time.monotonic(), 0.001))
            more = connection.recv(1)
            if not more or more == b'\n':
                break
            line += more
        connection.settimeout(IDLE_SECONDS)
        return hmac.compare_digest(line, self.token)

    def _take(self, stream):
        try:
            self._unpack(stream)
            # tar pads its archives
            while stream.read(1 << 16):
                pass
        except (tarfile.TarError, Refused, OSError) as error:
            self.errors.append(f'the data from the I/O node is damaged: {error}')
        finally:
            self.complete.set()

    def _unpack(self, stream):
        """Write each regular file to out under its own name, completely or not at all."""
        left = MOST_BYTES
        with tarfile.open(fileobj=stream, mode='r|') as archive:
            for member in archive:
                # It keeps all members it has read
                archive.members = []
                name = member.name.removeprefix('./').removeprefix('ktau/')
                path = self.out / name
                # A sparse file of a few bytes in the archive may have any size
                if (not member.isfile() or member.issparse() or not NAME.fullmatch(name) or
                        os.path.lexists(path)):
                    continue
                left -= member.size
                if left < 0:
                    raise Refused(f'its files have more than {MOST_BYTES} bytes')
                with tempfile.NamedTemporaryFile(dir=self.out, delete=False) as f:
                    try:
                        shutil.copyfileobj(archive.extractfile(member), f)
                        os.chmod(f.name, 0o644)
                        os.rename(f.name, path)
                    except BaseException:
                        os.unlink(f.name)
                        raise

    def await_rest(self, gone=lambda: False):
        """Wait until everything has arrived, or the node is gone and nothing more can arrive."""
        deadline = time.monotonic() + HOME_SECONDS
        while not self.complete.wait(0.1) and time.monotonic() < deadline:
            if gone():
                # What it has sent last may still be on its way
                self.complete.wait(1)
                break
        self.server.keep(self.out)
        self.check()
        check_status(self.out)
        self.server.check()

    def check(self):
        """Raise Error if any data is missing."""
        reason = f'{self.errors[0]}' if self.errors else ''
        if not self.complete.is_set():
            raise job.Error('the I/O node has not sent its final dump: '
                            f'{self.out} contains only what arrived before' +
                            (f' ({reason})' if reason else ''))
        if reason:
            raise job.Error(reason)


@contextlib.contextmanager
def collecting(signals, start):
    """The collector that start() returns, or None, closed at the end.

    A signal is deferred while it starts or is closed, or it would leave a server and a folder
    with the token behind.
    """
    dumps = None
    try:
        with signals:
            dumps = start()
        yield dumps
    finally:
        if dumps:
            with signals:
                dumps.close()


def check_status(out):
    """Raise Error unless the programs on the I/O node have exited with status 0."""
    for name in 'ciod', 'ktaud', 'ship':
        path = out / f'{name}.status'
        text = path.read_text().strip() if path.exists() else ''
        if text != '0':
            raise job.Error(f'{name} has ended with status {text or "unknown"}: '
                            f'{out / name}.log')
    failed = out / 'rc.failed'
    if failed.exists() and failed.read_text():
        raise job.Error(f'on the I/O node: {failed.read_text().strip()}')


class Progress:
    """Periodically reports how long a job has run and how much of its recording has arrived."""

    def __init__(self, collector, say, seconds):
        self.collector = collector
        self.say = say
        self.seconds = seconds
        self.started = time.monotonic()
        self.ended = threading.Event()
        if seconds:
            threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        while not self.ended.wait(self.seconds):
            self.say(self.text())

    def text(self):
        return (f'{time.monotonic() - self.started:.0f} s, '
                f'{self.collector.recorded / 1024:.1f} KiB of the recording have arrived')

    def end(self):
        self.ended.set()
