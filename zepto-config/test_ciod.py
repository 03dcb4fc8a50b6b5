#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ciod as a process, and programs behind its shim: test_ciod.py BUILD."""

import contextlib
import os
import pathlib
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import job

BUILD = pathlib.Path(sys.argv[1]).resolve()
HERE = pathlib.Path(__file__).resolve().parent
TOKEN = '0123456789abcdef' * 2
USER = 1000
ROOT = 0xffffffff
NR = {name: number for number, name in enumerate(
    'hello bye end openat close read write pread64 pwrite64 lseek statx getdents64 mkdirat '
    'unlinkat renameat2 linkat symlinkat readlinkat faccessat fchmodat fchmod fchownat '
    'fchown utimensat ftruncate fsync'.split())}
O_RDWR, O_CREAT, O_DIRECTORY, O_PATH = 2, 4, 0x40, 0x100


def f(fd):
    return struct.pack('>I', fd)


def n(number):
    return struct.pack('>Q', number & (1 << 64) - 1)


def d(data):
    return struct.pack('>I', len(data)) + data


def p(path):
    return d(path.encode() + b'\0')


def free_port():
    """A port that no connection gets for itself: to connect to that would succeed."""
    while True:
        port = random.randrange(20000, 30000)
        with socket.socket() as free, contextlib.suppress(OSError):
            free.bind(('127.0.0.1', port))
            return port


class Peer:
    """A compute node that speaks by hand."""

    def __init__(self, port, token=TOKEN, role=job.COMPUTE, source='127.0.0.1'):
        self.socket = socket.create_connection(('127.0.0.1', port), 10, (source, 0))
        self.send(job.hello(role, token))
        self.pid = self.reply()[1]

    def send(self, raw):
        self.socket.sendall(raw)

    def receive(self, count):
        got = b''
        while len(got) < count:
            more = self.socket.recv(count - len(got))
            if not more:
                raise ConnectionError
            got += more
        return got

    def reply(self):
        size, error, result = job.REPLY.unpack(self.receive(job.REPLY.size))
        return error, result, self.receive(size - job.REPLY.size)

    def call(self, name, *fields):
        self.send(job.message(NR[name], b''.join(fields)))
        return self.reply()

    def error(self, name, *fields):
        return os.strerror(self.call(name, *fields)[0])

    def open(self, path, flags=0):
        return self.call('openat', f(ROOT), p(path), n(flags), n(0o644))

    def close(self):
        self.socket.close()


class Job(unittest.TestCase):
    """One job, its root and its ciod."""

    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.dir = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        self.dir.chmod(0o755)
        self.root = self.dir / 'root'
        self.root.mkdir()
        os.chown(self.root, USER, USER)
        (self.dir / 'secret').write_text('secret')
        self.ciod = None

    def write_job(self, **changes):
        self.port = free_port()
        settings = {'token': TOKEN, 'peer': '127.0.0.1', 'uid': USER, 'gid': USER,
                    'root': self.root, 'port': self.port, **changes}
        path = self.dir / 'job'
        path.write_text(''.join(f'{k}={v}\n' for k, v in settings.items()))
        return path

    def start(self, **changes):
        self.log = open(self.dir / 'log', 'w+', encoding='utf-8')
        self.stack.callback(self.log.close)
        self.ciod = subprocess.Popen([BUILD / 'zepto-config/ciod', self.write_job(**changes)],
                                     stderr=self.log, extra_groups=[1, 2])
        self.stack.callback(self.ciod.wait)
        self.stack.callback(self.ciod.kill)
        while self.ciod.poll() is None:
            with contextlib.suppress(OSError):
                socket.create_connection(('127.0.0.1', self.port), 1,
                                         (changes.get('source', '127.0.0.1'), 0)).close()
                return
            time.sleep(0.01)

    def control(self):
        return job.Control('127.0.0.1', self.port, TOKEN, 10)

    def said(self):
        self.log.flush()
        return pathlib.Path(self.log.name).read_text()

    def ends(self, status, words):
        self.assertEqual(self.ciod.wait(90), status, self.said())
        self.assertIn(words, self.said())
        self.assertNotRegex(self.said(), 'Sanitizer|runtime error')


class Daemon(Job):

    def job_file(self, text):
        path = self.dir / 'job'
        path.write_text(text)
        done = subprocess.run([BUILD / 'zepto-config/ciod', path], stderr=subprocess.PIPE,
                              encoding='utf-8', timeout=30)
        self.assertEqual(done.returncode, 2)
        return done.stderr.replace(str(path), 'JOB')

    def test_job_files(self):
        good = f'token={TOKEN}\npeer=127.0.0.1\nuid=1000\ngid=1000\nroot={self.root}\n'
        for more, wanted in [
                ('port=0\n', 'JOB:6: a port'), ('port=65536\n', 'JOB:6: a port'),
                ('wait=1h\n', 'JOB:6: seconds'), ('colour=red\n', 'JOB:6: unknown key'),
                ('# well\n\nport\n', 'JOB:8: not key=value'),
                ('uid=1000\n', 'JOB:6: given twice'), ('x' * 9000, 'JOB:6: the line is too long')]:
            self.assertIn(wanted, self.job_file(good + more))
        for line, wanted in [
                ('uid=0', 'JOB:3: a job has a user id above 0'),
                ('uid=-1', 'JOB:3: a job has a user'), ('uid=4294967295', 'JOB:3: a job'),
                ('gid=0', 'JOB:4: a job has a group id'), ('root=root', 'JOB:5: not an absolute'),
                ('root=/nowhere', 'JOB:5: there is no such directory'),
                ('peer=ionode', 'JOB:2: not an IPv4 address'),
                ('token=abc', 'JOB:1: a token is 32 hex')]:
            key = line.split('=')[0]
            lines = [line if x.startswith(key) else x for x in good.splitlines()]
            self.assertIn(wanted, self.job_file('\n'.join(lines) + '\n'))
            without = [x for x in good.splitlines() if not x.startswith(key)]
            self.assertIn(f"JOB: there is no '{key}'", self.job_file('\n'.join(without) + '\n'))
        path = self.dir / 'nowhere'
        done = subprocess.run([BUILD / 'zepto-config/ciod', path], stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b'No such file', done.stderr)

    def test_ends_with_the_job(self):
        self.start()
        control = self.control()
        peer = Peer(self.port)
        self.assertEqual(peer.open('file', O_RDWR | O_CREAT)[0], 0)
        control.end()
        self.ends(0, 'has ended the job')
        with self.assertRaises(ConnectionError):
            peer.call('fsync', f(5))

    def test_only_its_own_peer(self):
        self.start(peer='127.0.0.2')
        with self.assertRaises(OSError):
            Peer(self.port)
        self.assertIn('127.0.0.1 was refused', self.said())
        Peer(self.port, source='127.0.0.2').close()
        self.ends(1, 'has vanished')

    def test_only_with_the_token(self):
        self.start()
        for token in 'f' * 32, TOKEN[:-1] + 'e', TOKEN[:-1], TOKEN + '0', '':
            with self.assertRaises(OSError):
                Peer(self.port, token)
        for raw in b'GET / HTTP/1.0\r\n\r\n', b'\0' * 64, b'\xff' * 64, job.message(NR['end']), \
                job.message(NR['openat'], f(ROOT) + p('x') + n(O_RDWR | O_CREAT) + n(0)):
            with socket.create_connection(('127.0.0.1', self.port), 10) as s:
                # It may have closed before all is said
                with contextlib.suppress(OSError):
                    s.sendall(raw)
                    s.shutdown(socket.SHUT_WR)
                    self.assertEqual(s.recv(1), b'')
        self.assertEqual(list(self.root.iterdir()), [])
        self.control().end()
        self.ends(0, 'is not of this job')

    def test_no_way_out(self):
        os.symlink('/etc/passwd', self.root / 'absolute')
        os.symlink('../secret', self.root / 'relative')
        os.symlink('../..', self.root / 'up')
        os.symlink(str(self.dir), self.root / 'dir')
        (self.root / 'locked').write_text('root only')
        (self.root / 'locked').chmod(0o600)
        self.start()
        peer = Peer(self.port)
        secret = str(self.dir / 'secret')
        for path in ('/etc/passwd', '../secret', '../../../../../etc/passwd', secret,
                     'absolute', 'relative', 'up/secret', 'dir/secret', 'up/etc/passwd',
                     '/proc/self/root/etc/passwd', '/dev/stdin', './/..//secret'):
            self.assertEqual(peer.open(path)[0], 2, path)
        self.assertEqual(peer.call('mkdirat', f(ROOT), p('../out'), n(0o755))[0], 0)
        self.assertTrue((self.root / 'out').is_dir())      # .. of the root is the root
        self.assertEqual(peer.error('renameat2', f(ROOT), p('out'), f(ROOT),
                                    p(str(self.dir) + '/out'), n(0)), 'No such file or directory')
        self.assertEqual(peer.error('linkat', f(ROOT), p(secret), f(ROOT), p('mine'), n(0)),
                         'No such file or directory')
        self.assertEqual(peer.error('unlinkat', f(ROOT), p(secret), n(0)),
                         'No such file or directory')
        up = peer.open('up', O_PATH | O_DIRECTORY)[1]
        self.assertEqual(peer.call('openat', f(up), p('secret'), n(0), n(0))[0], 2)
        self.assertEqual(peer.open('locked')[0], 13)
        self.assertEqual(peer.error('fchownat', f(ROOT), p('out'), n(0), n(0), n(0)),
                         'Operation not permitted')
        fd = peer.open('new', O_RDWR | O_CREAT)[1]
        self.assertEqual((self.root / 'new').stat().st_uid, USER)
        self.assertEqual((self.root / 'new').stat().st_gid, USER)
        status = pathlib.Path(f'/proc/{peer.pid}/status').read_text()
        self.assertRegex(status, r'\nCapEff:\t0+\n')
        self.assertRegex(status, r'\nGroups:\t *\n')
        self.assertEqual(sorted(os.listdir(f'/proc/{peer.pid}/fd')),
                         ['0', '1', '2', '3', str(up), str(fd)])

    def test_only_its_own_descriptors(self):
        self.start()
        peer = Peer(self.port)
        for fd in 0, 1, 2, 3, 4, 100, 1023, 1024, 65536, 2**31, 2**32 - 100, ROOT:
            for name, rest in (('close', b''), ('read', n(10)), ('write', d(b'x')),
                               ('fsync', b''), ('lseek', n(0) + n(0)), ('fchmod', n(0))):
                self.assertEqual(peer.error(name, f(fd), rest), 'Bad file descriptor')
            if fd != ROOT:
                self.assertEqual(peer.error('statx', f(fd), p(''), n(0x1000)),
                                 'Bad file descriptor')
        fd = peer.open('x', O_RDWR | O_CREAT)[1]
        self.assertEqual(peer.call('write', f(fd), d(b'data'))[1], 4)
        self.assertEqual(peer.call('pread64', f(fd), n(2**63), n(1))[2], b'ata')
        self.assertEqual(peer.error('close', f(fd)), 'Success')
        self.assertEqual(peer.error('close', f(fd)), 'Bad file descriptor')
        self.assertEqual(peer.open('x', 0x800)[0], 22)
        self.assertEqual(peer.open('x', 3)[0], 22)

    def test_a_fifo_does_not_block(self):
        os.mkfifo(self.root / 'fifo')
        (self.root / 'fifo').chmod(0o666)
        self.start()
        peer = Peer(self.port)
        self.assertEqual(peer.open('fifo')[0], 0)
        self.assertEqual(peer.open('fifo', 1)[0], 0)

    def test_broken_messages(self):
        path = f(ROOT) + p('file')
        for raw in (struct.pack('>II', 7, 3), struct.pack('>II', 0, 3),
                    struct.pack('>II', 0xffffffff, 3), struct.pack('>II', 300000, 6),
                    job.message(99), job.message(NR['hello'], n(1) + n(0) + d(TOKEN.encode())),
                    job.message(NR['end']), job.message(NR['fsync']),
                    job.message(NR['mkdirat'], path), job.message(NR['mkdirat'], path + n(0) + b'x'),
                    job.message(NR['mkdirat'], f(ROOT) + d(b'no end') + n(0)),
                    job.message(NR['mkdirat'], f(ROOT) + d(b'in\0side\0') + n(0)),
                    job.message(NR['mkdirat'], f(ROOT) + p('x' * 5000) + n(0))):
            self.start()
            peer = Peer(self.port)
            peer.send(raw)
            self.ends(1, 'breaks the protocol')
            self.assertEqual(list(self.root.iterdir()), [])

    def test_vanished(self):
        self.start()
        self.control().socket.close()
        self.ends(1, 'has vanished')
        for cut in 1, 8, 12, 100:
            self.start()
            control = self.control()
            peer = Peer(self.port)
            peer.send(job.message(NR['write'], f(5) + d(b'x' * 1000))[:cut])
            peer.close()
            self.ends(1, 'has vanished')
            with self.assertRaises(job.Error):
                control.end()

    def test_killed(self):
        self.start()
        peer = Peer(self.port)
        self.ciod.kill()
        with self.assertRaises(ConnectionError):
            for _ in range(1000):
                peer.call('fsync', f(5))
                time.sleep(0.01)

    def test_power_cut(self):
        self.start()
        control = self.control()
        peer = Peer(self.port)
        # In repair mode a connection is closed without a word to the other side
        peer.socket.setsockopt(socket.IPPROTO_TCP, 19, 1)
        peer.close()
        self.ends(1, 'has vanished')
        control.socket.close()

    def test_nobody_comes(self):
        self.start(wait=1)
        self.ends(1, 'nobody came for the job')

    def test_signal(self):
        self.start()
        peer = Peer(self.port)
        self.ciod.send_signal(signal.SIGTERM)
        self.ends(1, 'ended by a signal')
        with self.assertRaises(ConnectionError):
            peer.call('fsync', f(5))

    def spoiled(self, rng):
        """A few calls that make sense, with some bytes changed, cut out or added."""
        raw = bytearray()
        for _ in range(rng.randrange(1, 12)):
            path = p(rng.choice(['a', 'b', '.', '..', 'a/b', '/', '../secret', '']))
            fd = f(rng.choice([ROOT, 4, 5, 6, 7, rng.getrandbits(32)]))
            signature = {'openat': fd + path + n(rng.getrandbits(11)) + n(0o755),
                         'mkdirat': fd + path + n(0o755), 'write': fd + d(rng.randbytes(99)),
                         'read': fd + n(rng.getrandbits(64)), 'close': fd,
                         'getdents64': fd + n(rng.getrandbits(20)),
                         'lseek': fd + n(rng.getrandbits(64)) + n(rng.randrange(6)),
                         'statx': fd + path + n(rng.choice([0, 0x100, 0x1000])),
                         'renameat2': fd + path + fd + path + n(rng.randrange(8)),
                         'symlinkat': path + fd + path, 'ftruncate': fd + n(rng.getrandbits(24)),
                         'utimensat': fd + path + n(rng.getrandbits(64)) * 4 + n(0)}
            name = rng.choice(list(signature))
            raw += job.message(NR[name], signature[name])
        for _ in range(rng.randrange(4)):
            at = rng.randrange(len(raw))
            raw[at:at + rng.randrange(3)] = rng.randbytes(rng.randrange(3))
            raw = raw or bytearray(b'\0')
        return bytes(raw)

    def test_fuzzed_streams(self):
        for seed in range(int(os.environ.get('CIOD_STREAMS', '60'))):
            rng = random.Random(seed)
            self.start()
            control = self.control()
            peer = Peer(self.port)
            with contextlib.suppress(OSError):
                peer.send(self.spoiled(rng))
                peer.socket.shutdown(socket.SHUT_WR)
                while peer.socket.recv(65536):
                    pass
            peer.close()
            # What makes sense to the last byte is cut off without goodbye
            self.assertEqual(self.ciod.wait(90), 1, f'seed {seed}: {self.said()}')
            self.assertRegex(self.said(), 'has vanished|breaks the protocol', f'seed {seed}')
            self.assertNotRegex(self.said(), 'Sanitizer|runtime error', f'seed {seed}')
            self.assertEqual((self.dir / 'secret').read_text(), 'secret')
            control.socket.close()


class Programs(Job):
    """Unmodified programs behind the shim."""

    def run_job(self, script):
        self.start()
        return subprocess.run(
            [HERE / 'launch', '-p', str(self.port), '--counts', self.dir / 'counts',
             self.dir / 'job', 'sh', '-c', script], cwd=self.dir, encoding='utf-8',
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120,
            env={**os.environ, 'B': str(BUILD)})

    def tree(self):
        top = self.dir / 'tree'
        (top / 'a/b').mkdir(parents=True)
        (top / 'a/file').write_text('text')
        (top / 'a/empty').touch()
        (top / 'a/b/big').write_bytes(random.Random(1).randbytes(600001))
        os.symlink('file', top / 'a/link')
        os.link(top / 'a/file', top / 'a/hard')
        for i in range(300):
            (top / f'a/b/{"n" * 100}{i}').touch()
        (top / 'a/file').chmod(0o640)
        return top

    def test_tar_and_cp(self):
        self.tree()
        done = self.run_job('set -e\ntar cf /bgl/t.tar tree; mkdir -m 700 /bgl/x\n'
                            'tar xf /bgl/t.tar -C /bgl/x --no-same-owner\n'
                            'cp -r /bgl/x/tree back; cp -rp /bgl/x/tree /bgl/again\n'
                            'mv /bgl/again /bgl/moved; rm -r /bgl/moved/a/b; ls -l /bgl/moved/a\n')
        self.assertEqual(done.returncode, 0, done.stdout)
        self.ends(0, 'has ended the job')
        for got, wanted in (('root/x/tree', 'tree'), ('back', 'tree')):
            same = subprocess.run(['diff', '-r', '--no-dereference', self.dir / got,
                                   self.dir / wanted], stdout=subprocess.PIPE)
            self.assertEqual(same.stdout, b'')
        inside = self.root / 'x/tree/a'
        self.assertEqual(inside.joinpath('file').stat().st_mode & 0o7777, 0o640)
        self.assertEqual(inside.joinpath('hard').stat().st_ino, inside.joinpath('file').stat().st_ino)
        self.assertEqual(os.readlink(inside / 'link'), 'file')
        self.assertEqual((self.root / 'x').stat().st_mode & 0o7777, 0o700)
        self.assertEqual(int(inside.joinpath('file').stat().st_mtime),
                         int((self.dir / 'tree/a/file').stat().st_mtime))
        self.assertFalse((self.root / 'moved/a/b').exists())

    def test_killed(self):
        # Whether it or the end of the job is seen first, it has vanished
        self.run_job('sh -c "exec 9> /bgl/file; kill -9 \\$\\$"; true')
        self.ends(1, 'has vanished')
        self.assertTrue((self.root / 'file').exists())

    def test_no_rights(self):
        done = self.run_job('CIOD_TOKEN=wrong cat /bgl/x; cat /bgl/../../etc/passwd /bglx')
        self.assertIn('not accepted by the I/O node', done.stdout)
        self.assertIn('cat: /bgl/../../etc/passwd: No such file', done.stdout)
        self.assertIn('cat: /bglx: No such file', done.stdout)
        self.ends(0, 'has ended the job')

    def test_fork(self):
        done = self.run_job('python3 -c "\n'
                            'import os\n'
                            'fd = os.open(\'/bgl/file\', os.O_RDWR | os.O_CREAT)\n'
                            'pid = os.fork()\n'
                            'if not pid:\n'
                            '    os.mkdir(\'/bgl/child\')\n'
                            '    try: os.write(fd, b\'not its own\')\n'
                            '    except OSError: os._exit(7)\n'
                            'print(os.waitpid(pid, 0)[1] >> 8, os.write(fd, b\'parent\'))"')
        self.assertEqual(done.stdout, '7 6\n')
        self.assertEqual((self.root / 'file').read_text(), 'parent')
        self.assertTrue((self.root / 'child').is_dir())


class Made(unittest.TestCase):

    def test_knows_nothing_of_ktau(self):
        for name in 'ciod', 'libciodshim.so':
            self.assertNotIn(b'ktau', (BUILD / 'zepto-config' / name).read_bytes().lower()
                             .replace(str(BUILD).lower().encode(), b''))
        for made in (BUILD / 'zepto-config').glob('*.d'):
            self.assertNotRegex(made.read_text(), r'ktau\w*\.h')


def main():
    if os.geteuid():
        if not shutil.which('newuidmap'):
            print('[  SKIPPED ] needs root, or newuidmap (uidmap)')
            return
        os.execvp('unshare', ['unshare', '--user', '--map-root-user', '--map-auto',
                              sys.executable, *sys.argv])
    os.environ['PYTHONDONTWRITEBYTECODE'] = '1'
    if b'__asan' in (BUILD / 'zepto-config/libciodshim.so').read_bytes():
        del globals()['Programs']    # they are not built for it
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], warnings='ignore')


if __name__ == '__main__':
    main()
