# SPDX-License-Identifier: GPL-2.0-only
"""A NATS server, ktau-land and ktaud-ship as processes, and a client without manners."""

import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import time

PATIENCE_SECONDS = 60
SERVER = shutil.which('nats-server', path=f'{os.environ.get("PATH", "")}:/usr/sbin')
CONF = pathlib.Path('ktaud/ship/nats_conf.py').resolve()


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def wait_for(condition, what=lambda: ''):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() >= deadline:
            raise AssertionError(f'timeout: {what()}')
        time.sleep(0.02)


class Cluster:
    """Servers, and what they serve. All that is started ends with the with statement.

    Password of a host is p followed by its name. With tls, which is the folder of the servers'
    certificate for localhost, there is none.
    """

    def __init__(self, build, folder, hosts, servers=1, max_bytes='4G', options=(), tls=None):
        self.build, self.dir = pathlib.Path(build).resolve(), pathlib.Path(folder)
        self.out = self.dir / 'out'
        self.ports = [free_port() for _ in range(servers)]
        self.started = 0
        self.servers, self.lands = [None] * servers, []
        self.running = []
        (self.dir / 'hosts').write_text(''.join(
            f'{host}\n' if tls else f'{host} p{host}\n' for host in hosts))
        (self.dir / 'password').write_text('pland\n')
        (self.dir / 'route').write_text('proute\n')
        self.routes = [free_port() for _ in self.ports]
        routes = ','.join(f'nats://localhost:{port}' for port in self.routes)
        trust = [f'--tls={tls}'] if tls else ['--no-tls', f'--land-password={self.dir}/password']
        for number, port in enumerate(self.ports):
            more = [f'--name=s{number}', f'--routes={routes}',
                    f'--cluster=127.0.0.1:{self.routes[number]}',
                    *([] if tls else [f'--cluster-password={self.dir}/route'])] \
                if servers > 1 else []
            (self.dir / f'conf.{number}').write_text(self.conf(
                *trust, f'--listen=127.0.0.1:{port}', f'--store={self.dir}/store.{number}',
                f'--max-bytes={max_bytes}', *more, *options))

    def conf(self, *options):
        return subprocess.run([CONF, *options, self.dir / 'hosts'], check=True,
                              stdout=subprocess.PIPE, encoding='utf-8').stdout

    def __enter__(self):
        for number in range(len(self.ports)):
            self.serve(number)
        return self

    def __exit__(self, *_):
        for process in self.running:
            process.kill()
            process.wait()

    def start(self, *argv, prefix=()):
        """Start a process; returns it and the path of its log."""
        self.started += 1
        log = self.dir / f'log.{self.started}'
        with open(log, 'wb') as f:
            process = subprocess.Popen([*prefix, *(str(a) for a in argv)], stdout=f, stderr=f)
        self.running.append(process)
        return process, log

    def serve(self, number=0):
        self.servers[number], self.log = self.start(SERVER, '-c', self.dir / f'conf.{number}')
        wait_for(lambda: b'Server is ready' in self.log.read_bytes(), self.log.read_text)
        return self.servers[number]

    def stop(self, process):
        """Kill it, as a power cut does, but the page cache survives."""
        process.kill()
        process.wait()

    def url(self, user, password=None):
        return ','.join(f'nats://{user}:{password or "p" + user}@127.0.0.1:{port}'
                        for port in self.ports)

    def land(self, *options, prefix=(), wait=True):
        process, log = self.start(self.build / 'ktaud/ship/ktau-land',
                                  f'--from={self.url("ktau-land", "pland")}', *options, self.out,
                                  prefix=prefix)
        if wait:
            wait_for(lambda: 'landing' in log.read_text(), log.read_text)
        return process, log

    def command(self, host, spool, *options, program='ktaud/ship/ktaud-ship'):
        return [self.build / program, f'--to={self.url(host)}', f'--host={host}', '--every=20ms',
                *options, spool]

    def ship(self, host, spool, *options, **more):
        """Ship once; returns the status and the messages."""
        done = subprocess.run([str(a) for a in self.command(host, spool, '--once', *options,
                                                            **more)],
                              stderr=subprocess.PIPE, encoding='utf-8', check=False,
                              timeout=2 * PATIENCE_SECONDS)
        return done.returncode, done.stderr


class Client:
    """Any bytes of NATS's protocol."""

    def __init__(self, port, user, password=None):
        self.socket = socket.create_connection(('127.0.0.1', port), 10)
        self.said = b''
        while b'\n' not in self.said:
            self.said += self.socket.recv(1 << 16)
        hello = {'verbose': False, 'headers': True, 'no_responders': True, 'user': user,
                 'pass': password or f'p{user}'}
        self.pings = 1
        self.put(f'CONNECT {json.dumps(hello)}\r\nPING\r\n'.encode())

    def close(self):
        self.socket.close()

    def put(self, data):
        with contextlib.suppress(OSError):
            self.socket.sendall(data)

    def publish(self, subject, data=b'', reply='', headers=None):
        head = b''
        if headers is not None:
            head = b'NATS/1.0\r\n' + b''.join(f'{k}: {v}\r\n'.encode()
                                              for k, v in headers.items()) + b'\r\n'
        sizes = f'{len(head)} {len(head) + len(data)}' if head else f'{len(data)}'
        self.put(f'{"HPUB" if head else "PUB"} {subject} {reply} {sizes}\r\n'.encode() +
                 head + data + b'\r\n')

    def answers(self, seconds=0.3):
        """What the server says to all that it has got, and what arrives until nothing does for some time."""
        got = b''
        self.pings += 1
        self.put(b'PING\r\n')
        with contextlib.suppress(OSError):
            more = True
            while more:
                answered = got.count(b'PONG\r\n') >= self.pings
                self.socket.settimeout(seconds if answered else PATIENCE_SECONDS)
                more = self.socket.recv(1 << 16)
                got += more
        self.pings -= got.count(b'PONG\r\n')
        return got.decode('ascii', 'replace')

    def info(self, stream, part='state'):
        """The state or the configuration of a stream, for the archive's user."""
        self.put(b'SUB _x 7\r\n')
        self.publish(f'$JS.API.STREAM.INFO.{stream}', b'{"subjects_filter":">"}', '_x')
        text = self.answers()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while '{' not in text and time.monotonic() < deadline:
            text += self.answers()
        return json.loads(text[text.index('{'):].splitlines()[0])[part]
