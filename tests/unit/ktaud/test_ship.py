# SPDX-License-Identifier: GPL-2.0-only
"""ktaud-ship and ktaud-collect as processes: test_ship.py BUILD."""

import contextlib
import fcntl
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
import termios
import threading
import time
import unittest

import recording
from tap.runner import TAPTestRunner

BUILD = pathlib.Path(sys.argv[1]).resolve()
KTAUD = pathlib.Path('ktaud').resolve()
PATIENCE_SECONDS = 60
PART_BYTES = 256 << 10        # of ktaud-ship


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def place(address):
    host, port = address.split(':')[1:]
    return host, int(port)


def talk(to, sent):
    """The collector's answer to these bytes."""
    with socket.create_connection(place(to), 10) as s:
        s.sendall(sent)
        s.shutdown(socket.SHUT_WR)
        answer = b''
        with contextlib.suppress(OSError):
            while more := s.recv(4096):
                answer += more
        return answer.decode()


class Relay:
    """A proxy in place of a collector, which forwards both directions.

    The connection is cut before the answer with the number cut. Instead of the first answer,
    forge is given; without a collector that is all.
    """

    def __init__(self, address, to, cut=0, forge=None):
        self.to, self.cut, self.forge = to, cut, forge
        self.on_cut = lambda: None
        self.listener = socket.create_server(place(address) if address != to else
                                             ('127.0.0.1', 0))
        self.address = 'tcp:127.0.0.1:%d' % self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listener.close()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                with near, contextlib.suppress(OSError):
                    self._lie(near) if self.to is None else self._pass_on(near)

    def _lie(self, near):
        near.recv(1 << 16)
        near.sendall(self.forge)
        near.shutdown(socket.SHUT_WR)
        while near.recv(1 << 16):
            pass

    def _pass_on(self, near):
        with socket.create_connection(place(self.to), 10) as far:
            thread = threading.Thread(target=self._answers, args=(far, near))
            thread.start()
            with contextlib.suppress(OSError):
                while data := near.recv(1 << 16):
                    far.sendall(data)
                far.shutdown(socket.SHUT_WR)
            thread.join()

    def _answers(self, far, near):
        number = 0
        with contextlib.suppress(OSError), far.makefile('rb') as lines:
            for line in lines:
                number += 1
                if number == self.cut:
                    self.on_cut()
                    break
                near.sendall(self.forge if self.forge and number == 1 else line)
        with contextlib.suppress(OSError):
            near.shutdown(socket.SHUT_RDWR)


class Case(unittest.TestCase):

    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.dir = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        self.spool, self.out = self.dir / 'spool', self.dir / 'out'
        self.spool.mkdir()
        self.to = f'tcp:127.0.0.1:{free_port()}'
        self.started = 0

    def start(self, *argv):
        """Start a process; returns it and the path of its log."""
        self.started += 1
        log = self.dir / f'log.{self.started}'
        with open(log, 'wb') as f:
            process = subprocess.Popen([str(a) for a in argv], stdout=f, stderr=f)
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        return process, log

    def waits(self, condition, log=None):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            self.assertLess(time.monotonic(), deadline, log and log.read_text())
            time.sleep(0.02)

    def says(self, log, text):
        self.waits(lambda: text in log.read_text(), log)

    def collect(self, *options, prefix=(), to=None):
        process, log = self.start(*prefix, sys.executable, '-B', KTAUD / 'collector.py', '-l',
                                  to or self.to, *options, self.out)
        self.says(log, 'listening')
        return process, log

    def command(self, *options):
        return [BUILD / 'ktaud/ktaud-ship', f'--to={self.to}', '--every=20ms', *options,
                self.spool]

    def ship(self, *options):
        """Ship once; returns the messages."""
        done = subprocess.run([str(a) for a in self.command('--once', *options)],
                              stderr=subprocess.PIPE, encoding='utf-8', timeout=PATIENCE_SECONDS)
        self.status = done.returncode
        return done.stderr

    def ships(self, *options):
        said = self.ship(*options)
        self.assertEqual((self.status, said), (0, ''))

    def write(self, number, *parts, mode='wb', host='node'):
        path = self.spool / recording.name(number, host)
        with open(path, mode) as f:
            f.write(b''.join(parts))
        return path

    def fill(self, number, blocks=5, host='node'):
        return self.write(number, recording.HEADER, *(recording.block(os.urandom(
            random.randrange(1, 200000))) for _ in range(blocks)), host=host)

    def hold(self, path):
        """Lock a file as ktaud does while it writes it; returns the file."""
        file = self.stack.enter_context(open(path, 'rb'))
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return file

    def same(self):
        """Whether the collector has the same files as the spool."""
        return {p.name: p.read_bytes() for p in self.spool.iterdir()} == \
            {p.name: p.read_bytes() for p in self.out.iterdir()}


class Shipping(Case):

    def test_all_of_several_hosts(self):
        self.collect()
        for number in range(3):
            self.fill(number)
            self.fill(number, host='other')
        self.ships()
        self.assertTrue(self.same())
        self.ships()

    def test_whole_blocks_only(self):
        self.collect()
        block = recording.block(b'x' * 1000)
        path = self.write(1, recording.HEADER, block)
        whole = path.read_bytes()
        there = self.out / path.name
        held = self.hold(path)
        for cut in 1, 30, 60, len(block) - 1:
            path.write_bytes(whole + block[:cut])
            self.ships()
            self.assertEqual(there.read_bytes(), whole)
        # A next file is not enough: ktaud may not have closed this one yet
        self.write(2, recording.HEADER)
        self.ships()
        self.assertEqual(there.read_bytes(), whole)
        held.close()
        self.write(2, recording.HEADER, block)
        self.ships()
        self.assertTrue(self.same())

    def test_other_files_stay(self):
        self.collect()
        for name in 'note', '.hidden.ktau', 'a b.ktau', 'a\nb.ktau', '.ktau', '-x.ktau':
            (self.spool / name).write_bytes(recording.HEADER + recording.block(b'x'))
        (self.spool / 'link.ktau').symlink_to('/etc/passwd')
        (self.spool / 'folder.ktau').mkdir()
        os.mkfifo(self.spool / 'fifo.ktau')
        path = self.fill(1)
        self.ships()
        self.assertEqual([p.name for p in self.out.iterdir()], [path.name])

    def test_while_it_grows(self):
        self.collect()
        path = self.write(1, recording.HEADER)
        process, log = self.start(*self.command())
        for _ in range(3):
            self.write(1, recording.block(os.urandom(50000)), mode='ab')
            self.waits(self.same, log)
        self.write(1, recording.block(b'last'), mode='ab')
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(PATIENCE_SECONDS), 0, log.read_text())
        self.assertTrue(self.same())
        self.assertEqual(path.stat().st_size, (self.out / path.name).stat().st_size)

    def test_files_come_and_go(self):
        # Each scan finds the new files among those that it knows
        self.collect()
        process, log = self.start(*self.command())
        for first in 50, 10, 80, 0:
            for number in random.sample(range(first, first + 10), 10):
                self.write(number, recording.HEADER, recording.block(os.urandom(100)))
            self.waits(self.same, log)
        for number in range(10, 60):
            (self.spool / recording.name(number)).unlink(missing_ok=True)
            (self.out / recording.name(number)).unlink(missing_ok=True)
        self.write(30, recording.HEADER, recording.block(b'new'))
        self.waits(self.same, log)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(PATIENCE_SECONDS), 0, log.read_text())
        self.assertEqual(log.read_text(), '')

    def test_an_unreliable_link(self):
        self.fill(1)
        process, log = self.start(*self.command())
        self.says(log, 'Connection refused; trying again')
        for number in range(2, 7):
            collector, _ = self.collect()
            self.fill(number, 20)
            if number % 2:
                self.waits(lambda: (self.out / recording.name(number)).exists(), log)
            # In the middle of a transfer
            collector.kill()
            collector.wait()
        self.assertFalse(self.same())
        self.collect()
        self.waits(self.same, log)
        self.says(log, f'shipping to {self.to} again')
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(PATIENCE_SECONDS), 0)

    def test_resumes_after_its_own_crash(self):
        self.collect()
        for number in range(5):
            self.fill(number, 30)
            process, log = self.start(*self.command())
            self.waits(lambda: any(self.out.iterdir()) or process.poll() is not None, log)
            process.kill()
            process.wait()
        self.ships()
        self.assertTrue(self.same())

    def test_lost_acknowledgements(self):
        # The collector is killed between writing each part and answering
        to, self.to = self.to, f'tcp:127.0.0.1:{free_port()}'
        path = self.fill(1, 30)
        self.assertGreater(path.stat().st_size, 4 * PART_BYTES)
        sizes = []
        for _ in range(4):
            collector, log = self.collect(to=to)
            with Relay(self.to, to, 2) as relay:
                relay.on_cut = lambda: (collector.kill(), collector.wait())
                self.ship()
            self.assertEqual(self.status, 1)
            sizes.append((self.out / path.name).stat().st_size)
        self.assertEqual(sizes, sorted(set(sizes)))
        self.collect(to=to)
        with Relay(self.to, to):
            self.ships()
        self.assertTrue(self.same())

    def test_two_recordings_with_one_name(self):
        for beginning in False, True:
            with self.subTest(from_the_start=beginning):
                shutil.rmtree(self.out, ignore_errors=True)
                collector, _ = self.collect()
                path = self.write(1, recording.file_header(7), recording.block(b'first' * 9999))
                first = path.read_bytes()
                if beginning:
                    # The other shipper asks while there is no file, and sends once there is one
                    self.assertEqual(talk(self.to, b'\nsize %s\n' % path.name.encode()), '0\n')
                self.ships()
                path.write_bytes(recording.file_header(8) + recording.block(b'other' * 99999))
                if beginning:
                    with Relay(self.to, self.to, forge=b'0\n') as relay:
                        self.to, to = relay.address, self.to
                        said = self.ship('--remove')
                        self.to = to
                else:
                    self.fill(2)
                    self.hold(self.fill(3))
                    said = self.ship('--remove')
                self.assertIn('has another recording of this name', said)
                self.assertEqual((self.status, path.exists()), (1, True))
                self.assertEqual((self.out / path.name).read_bytes(), first)
                if not beginning:
                    # Other connections are not blocked, either
                    self.assertEqual(sorted(p.name for p in self.spool.iterdir()),
                                     [path.name, recording.name(3)])
                collector.kill()
                collector.wait()

    def test_a_peer_that_is_not_a_collector(self):
        path = self.fill(1)
        for answer, wanted in [
                (b'', 'the collector has closed the connection'),
                (b'HTTP/1.1 400 Bad Request\r\n', 'the collector reports: HTTP/1.1 400 Bad Request?'),
                (b'\x1b]0;x\x07\n', 'the collector reports: ?]0;x?'), (b'\0' * 300, 'does not speak'),
                (b'x' * 5000, 'does not speak'), (b'-1\n', 'the collector reports: -1'),
                (b'0\n0\n0\n', 'accepts no more data'), (b'%d\n' % (1 << 32), 'stays here'),
                (b'%d\n' % ((1 << 64) - 1), 'stays here'), (b'%d\n' % (1 << 64), 'reports: 1844')]:
            with self.subTest(answer), Relay(self.to, None, forge=answer):
                said = self.ship('--remove')
                self.assertIn(wanted, said)
                self.assertNotIn('\x1b', said)
                self.assertEqual((self.status, path.exists()), (1, True))

    def test_two_shippers_in_one_folder(self):
        self.collect()
        self.fill(1, 40)
        both = [self.start(*self.command('--once')) for _ in range(2)]
        for process, log in both:
            self.assertEqual(process.wait(PATIENCE_SECONDS), 0, log.read_text())
        self.assertTrue(self.same())

    def test_removes_closed_and_collected_files(self):
        self.collect()
        # Whatever the names say, the one that is locked is being written
        kept = [self.fill(number) for number in range(3)][0]
        held = self.hold(kept)
        before = {p.name: p.read_bytes() for p in self.spool.iterdir()}
        self.ships('--remove')
        self.assertEqual(list(self.spool.iterdir()), [kept])
        self.assertEqual(before, {p.name: p.read_bytes() for p in self.out.iterdir()})
        self.ships('--remove')
        self.assertEqual(list(self.spool.iterdir()), [kept])
        # Its writer closes it, or is killed
        held.close()
        self.ships('--remove')
        self.assertEqual(list(self.spool.iterdir()), [])

    def test_removed_too_early(self):
        self.fill(1)
        process, log = self.start(*self.command())
        self.says(log, 'trying again')
        path = self.spool / recording.name(1)
        size = path.stat().st_size
        path.unlink()
        self.says(log, f'{path} was removed before its last {size} bytes were shipped')
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(PATIENCE_SECONDS), 1)

    def test_no_collector_at_the_end(self):
        path = self.fill(1)
        self.assertIn(f'{path.stat().st_size} bytes in {self.spool} have not been shipped',
                      self.ship())
        self.assertEqual(self.status, 1)
        process, log = self.start(*self.command('--linger=300ms'))
        self.says(log, 'trying again')
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(PATIENCE_SECONDS), 1)
        self.assertEqual(log.read_text().count('trying again'), 1)

    def test_a_full_disk(self):
        collector, log = self.collect(prefix=['prlimit', '--fsize=100000'])
        self.fill(1, 10)
        self.assertIn('the collector reports: File too large; trying again', self.ship())
        self.assertIn('File too large', log.read_text())
        self.assertEqual((self.out / recording.name(1)).stat().st_size, 0)
        collector.terminate()
        self.assertEqual(collector.wait(PATIENCE_SECONDS), 0)
        self.collect()
        self.ships()
        self.assertTrue(self.same())


class Collecting(Case):
    """The collector's protocol, with hand-written requests."""

    def test_requests(self):
        self.collect()
        (self.out / 'link.ktau').symlink_to(self.dir / 'victim')
        for line, wanted in [
                ('size a.ktau\n', '0\n'), ('part a.ktau 0 3\none', '3\n'),
                ('part a.ktau 3 3\ntwo', '6\n'), ('part a.ktau 3 3\nTWO', '6\n'),
                ('part a.ktau 9 3\ngap', '6\n'), ('size a.ktau 6f6e65\n', '6\n'),
                ('size a.ktau 6f6e6574776f21\n', '6\n'), ('size a.ktau 6f6e66\n', 'other\n'),
                ('part a.ktau 0 3\none', '6\n'), ('part a.ktau 0 3\nOne', 'other\n'),
                ('size b.ktau 6f\n', '0\n'), ('size a.ktau 6\n', 'not a request\n'),
                ('size a.ktau ' + '00' * 65 + '\n', 'not a request\n'),
                ('size a.ktau\nsize a.ktau\n', '6\n6\n'),
                ('part a.ktau 6 5\ncut', 'the connection ended within a part\n'),
                ('part a.ktau 6 1048577\n', 'not a request\n'), ('hello\n', 'not a request\n'),
                ('x' * 999, 'a line is too long\n'), ('part a 0 3\none', 'not the name'),
                ('part ../a.ktau 0 3\none', 'not the name'), ('size /a.ktau\n', 'not the name'),
                ('size .a.ktau\n', 'not the name'), ('size link.ktau\n', 'a file of this name'),
                ('size a\0.ktau\n', 'not the name')]:
            with self.subTest(line):
                self.assertIn(wanted, talk(self.to, b'\n' + line.encode()))
        self.assertEqual((self.out / 'a.ktau').read_bytes(), b'onetwo')
        self.assertEqual(sorted(p.name for p in self.dir.iterdir()), ['log.1', 'out', 'spool'])

    def test_a_token(self):
        token = self.dir / 'token'
        token.write_text('secret\n')
        self.collect('--token-file', token)
        self.fill(1)
        self.assertEqual(talk(self.to, b'wrong\nsize a.ktau\n'), '')
        # What it had not read yet when it closed the connection makes the kernel reset that
        self.assertRegex(self.ship(), 'the collector has closed the connection|reset by peer')
        self.assertEqual(list(self.out.iterdir()), [])
        self.ships(f'--token-file={token}')
        self.assertTrue(self.same())

    def test_silent_connections_do_not_block_others(self):
        self.collect()
        host, port = self.to.split(':')[1:]
        silent = [self.stack.enter_context(socket.create_connection((host, int(port)), 60))
                  for _ in range(50)]
        self.fill(1)
        self.ships()
        self.assertTrue(self.same())
        # Single bytes do not extend the deadline
        with self.assertRaises(OSError):
            for _ in range(120):
                silent[-1].sendall(b't')
                time.sleep(0.25)

    def test_a_peer_that_reads_nothing(self):
        self.to = f'unix:{self.dir / "socket"}'
        self.collect()
        self.fill(1)
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(str(self.dir / 'socket'))
            s.sendall(b'\n' + b'size a.ktau\n' * 5000)
            # Continue until the collector cannot send more answers
            before, waiting = -1, 0
            while not waiting or waiting != before:
                time.sleep(0.1)
                before = waiting
                waiting, = struct.unpack('i', fcntl.ioctl(s, termios.FIONREAD, bytes(4)))
            self.assertLess(waiting, len('0\n') * 5000)
            self.ships()
        self.assertTrue(self.same())

    def test_unix_socket(self):
        self.to = f'unix:{self.dir / "socket"}'
        collector, _ = self.collect()
        self.assertEqual((self.dir / 'socket').stat().st_mode & 0o777, 0o600)
        self.fill(1)
        self.ships()
        self.assertTrue(self.same())
        # A stale socket file does not prevent a start
        collector.kill()
        collector.wait()
        collector, _ = self.collect()
        self.fill(2)
        self.ships()
        collector.terminate()
        self.assertEqual(collector.wait(PATIENCE_SECONDS), 0)
        self.assertFalse((self.dir / 'socket').exists())


@unittest.skipUnless(b'gnutls' in (BUILD / 'ktaud/ktaud-ship').read_bytes(), 'without GnuTLS')
class Tls(Case):

    @classmethod
    def setUpClass(cls):
        cls.keys = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.keys.cleanup)
        cls.path = pathlib.Path(cls.keys.name)
        for ca in 'ca', 'other':
            cls.openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256',
                        '-nodes', '-subj', f'/CN={ca}', '-keyout', f'{ca}.key', '-out',
                        f'{ca}.pem', '-addext', 'keyUsage=keyCertSign')
        for name, subject in ('server', 'IP:127.0.0.1'), ('client', 'DNS:node'), \
                             ('elsewhere', 'DNS:elsewhere'):
            cls.openssl('req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes',
                        '-subj', f'/CN={name}', '-keyout', f'{name}.key', '-out', f'{name}.csr')
            (cls.path / 'extra').write_text(f'subjectAltName={subject}\n')
            cls.openssl('x509', '-req', '-in', f'{name}.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key',
                        '-CAcreateserial', '-extfile', 'extra', '-out', f'{name}.pem')

    @classmethod
    def openssl(cls, *args):
        subprocess.run(['openssl', *args], cwd=cls.path, check=True, stderr=subprocess.PIPE)

    def setUp(self):
        super().setUp()
        self.to = f'tls:127.0.0.1:{free_port()}'
        self.fill(1)

    def serve(self, name='server', *options):
        return self.collect('--cert', self.path / f'{name}.pem', '--key',
                            self.path / f'{name}.key', *options)

    def test_the_right_certificate(self):
        self.serve()
        self.ships(f'--ca={self.path}/ca.pem')
        self.assertTrue(self.same())

    def test_wrong_certificates(self):
        server, _ = self.serve()
        said = self.ship(f'--ca={self.path}/other.pem')
        self.assertIn('the certificate of 127.0.0.1: ', said)
        self.assertEqual(self.status, 1)
        self.assertIn('the certificate of 127.0.0.1: ', self.ship())
        server.kill()
        server.wait()
        self.serve('elsewhere')
        said = self.ship(f'--ca={self.path}/ca.pem')
        self.assertIn('name', said)
        self.assertEqual(list(self.out.iterdir()), [])

    def test_certificates_on_both_sides(self):
        self.serve('server', '--client-ca', self.path / 'ca.pem')
        self.ship(f'--ca={self.path}/ca.pem')
        self.assertEqual(self.status, 1)
        self.assertEqual(list(self.out.iterdir()), [])
        self.ships(f'--ca={self.path}/ca.pem', f'--cert={self.path}/client.pem',
                   f'--key={self.path}/client.key')
        self.assertTrue(self.same())

    def test_half_a_handshake(self):
        self.serve()
        hello = bytes.fromhex('16030102000100')
        for sent in b'', hello, b'\xff' * 100, b'GET / HTTP/1.0\r\n\r\n':
            for _ in range(20):
                s = self.stack.enter_context(socket.create_connection(place(self.to), 10))
                s.sendall(sent)
        self.ships(f'--ca={self.path}/ca.pem')
        self.assertTrue(self.same())

    def test_no_tls_on_the_other_side(self):
        port = self.to.split(':')[-1]
        self.collect(to=f'tcp:127.0.0.1:{port}')
        self.assertIn('TLS: ', self.ship(f'--ca={self.path}/ca.pem'))
        self.assertEqual(self.status, 1)

    def test_bad_files(self):
        self.serve()
        self.assertIn('/nowhere: ', self.ship('--ca=/nowhere'))


class Usage(Case):

    def test_errors(self):
        ship = BUILD / 'ktaud/ktaud-ship'
        for options, status, wanted in [
                ([], 2, 'a collector is required'), (['--to=udp:a:1', 'x'], 2, 'is none of tcp'),
                (['--to=tcp:a', 'x'], 2, 'is none of'), (['--to=unix:', 'x'], 2, 'is none of'),
                (['--to=unix:' + 'x' * 200, 'x'], 2, 'is none of'),
                ([f'--to={self.to}'], 2, 'a DIR is required'),
                ([f'--to={self.to}', 'a', 'b'], 2, ''), ([f'--to={self.to}', '--key=a', 'b'], 2,
                                                         'must be given together'),
                ([f'--to={self.to}', '--every=x', 'b'], 2, 'is not a time'),
                ([f'--to={self.to}', '/nowhere'], 1, 'cannot read /nowhere: No such file'),
                ([f'--to={self.to}', '--token-file=/nowhere', '.'], 1, '/nowhere: No such file'),
                ([f'--to={self.to}', '--token-file=/dev/null', '.'], 1, 'is not a token')]:
            with self.subTest(options):
                done = subprocess.run([ship, *options], stderr=subprocess.PIPE, encoding='utf-8',
                                      timeout=PATIENCE_SECONDS)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(wanted, done.stderr)
        collect = [sys.executable, '-B', KTAUD / 'collector.py']
        for options, status, wanted in [
                (['-l', 'udp:1', 'x'], 2, 'is none of tcp'), (['-l', 'tls:a:1', 'x'], 2, '--cert'),
                (['-l', 'tcp:192.0.2.1:1', 'x'], 1, 'tcp:192.0.2.1:1: '),
                (['--token-file', '/nowhere', 'x'], 1, '/nowhere: No such file')]:
            with self.subTest(options):
                done = subprocess.run([*collect, *options], stderr=subprocess.PIPE,
                                      encoding='utf-8', cwd=self.dir, timeout=PATIENCE_SECONDS)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(wanted, done.stderr)


if __name__ == '__main__':
    runner = TAPTestRunner()
    runner.set_stream(True)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], warnings='ignore',
                  testRunner=runner)
