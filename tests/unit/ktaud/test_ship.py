# SPDX-License-Identifier: GPL-2.0-only
"""ktaud-ship and ktau-land with a NATS server, as processes: test_ship.py BUILD."""

import contextlib
import fcntl
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import nats
import recording
from tap.runner import TAPTestRunner

BUILD = pathlib.Path(sys.argv[1]).resolve()
PLAIN = 'tests/unit/ktaud/ship-plain'
PART_BYTES = 256 << 10        # of ktaud-ship
PARTS = 1024                  # of a host in the server
GET = '$JS.API.DIRECT.GET.KTAU_HAVE.have'


class Case(unittest.TestCase):
    HOSTS = 'a', 'b'

    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.dir = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        self.spool = self.dir / 'spool'
        self.spool.mkdir()

    def cluster(self, **options):
        made = nats.Cluster(BUILD, self.dir, self.HOSTS, **options)
        self.out = made.out
        return self.stack.enter_context(made)

    def client(self, cluster, user, password=None):
        client = nats.Client(cluster.ports[0], user, password)
        self.addCleanup(client.close)
        client.put(f'SUB _I.{user}.> 1\r\n'.encode())
        client.answers()
        return client

    def write(self, number, *parts, mode='wb', spool=None):
        path = (spool or self.spool) / recording.name(number)
        with open(path, mode) as f:
            f.write(b''.join(parts))
        return path

    def fill(self, number, blocks=5, spool=None):
        return self.write(number, recording.HEADER, *(recording.block(os.urandom(
            random.randrange(1, 200000))) for _ in range(blocks)), spool=spool)

    def hold(self, path):
        """Lock a file as ktaud does while it writes it; returns the file."""
        file = self.stack.enter_context(open(path, 'rb'))
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return file

    def same(self, host='a', spool=None):
        """Whether the archive has the same files as the spool."""
        there = self.out / host
        return {p.name: p.read_bytes() for p in (spool or self.spool).iterdir()} == \
            {p.name: p.read_bytes() for p in there.iterdir()} if there.exists() else False

    def ships(self, cluster, host='a', *options, **more):
        self.assertEqual(cluster.ship(host, self.spool, *options, **more), (0, ''))


class Shipping(Case):

    def test_all_files_with_and_without_libnats(self):
        cluster = self.cluster()
        cluster.land()
        for number in range(3):
            self.fill(number)
        # More than a part, and more blocks than are on their way at once
        self.fill(9, 300)
        for host, program in ('a', 'ktaud/ship/ktaud-ship'), ('b', PLAIN):
            self.ships(cluster, host, program=program)
            self.assertTrue(self.same(host))
            self.ships(cluster, host, program=program)
        for path in self.out.rglob('*.ktau'):
            self.assertEqual(path.stat().st_mode & 0o7777, 0o640)
        self.assertEqual((self.out / 'a').stat().st_mode & 0o7777, 0o750)

    def test_whole_blocks_only(self):
        cluster = self.cluster()
        cluster.land()
        block = recording.block(b'x' * 1000)
        path = self.write(1, recording.HEADER, block)
        whole = path.read_bytes()
        there = self.out / 'a' / path.name
        held = self.hold(path)
        for cut in 1, 30, 60, len(block) - 1:
            path.write_bytes(whole + block[:cut])
            self.ships(cluster)
            self.assertEqual(there.read_bytes(), whole)
        held.close()
        self.ships(cluster)
        self.assertTrue(self.same())

    def test_other_files_stay(self):
        cluster = self.cluster()
        cluster.land()
        for name in 'note', '.hidden.ktau', 'a b.ktau', 'a\nb.ktau', '.ktau', '-x.ktau', 'a..ktau':
            (self.spool / name).write_bytes(recording.HEADER + recording.block(b'x'))
        (self.spool / 'link.ktau').symlink_to('/etc/passwd')
        (self.spool / 'folder.ktau').mkdir()
        os.mkfifo(self.spool / 'fifo.ktau')
        path = self.fill(1)
        self.ships(cluster)
        self.assertEqual([p.name for p in (self.out / 'a').iterdir()], [path.name])

    def test_while_it_grows(self):
        cluster = self.cluster()
        cluster.land()
        self.write(1, recording.HEADER)
        for program, host, first in ('ktaud/ship/ktaud-ship', 'a', 2), (PLAIN, 'b', 5):
            process, log = cluster.start(*cluster.command(host, self.spool, program=program))
            for number in range(3):
                self.write(1, recording.block(os.urandom(50000)), mode='ab')
                self.write(first + number, recording.HEADER, recording.block(b'more'))
                nats.wait_for(lambda: self.same(host), log.read_text)
            resident = pathlib.Path(f'/proc/{process.pid}/status').read_text()
            resident = int(resident.partition('VmRSS:')[2].split()[0])
            self.write(1, recording.block(b'last'), mode='ab')
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(nats.PATIENCE_SECONDS), 0, log.read_text())
            self.assertTrue(self.same(host))
            self.assertEqual(log.read_text(), '')
            if b'__asan' not in (BUILD / program).read_bytes():
                self.assertLess(resident, 16 << 10)

    def test_kills(self):
        """Each process is killed while files are on their way."""
        cluster = self.cluster()
        land, _ = cluster.land()
        ship, log = cluster.start(*cluster.command('a', self.spool))
        for number in range(4):
            self.fill(number, 40)
            nats.wait_for(lambda: len(list(self.out.glob('a/*'))) > number, log.read_text)
            cluster.stop((cluster.servers[0], land, ship, cluster.servers[0])[number])
            if number == 1:
                land, _ = cluster.land()
            elif number == 2:
                ship, log = cluster.start(*cluster.command('a', self.spool))
            else:
                if number == 3:
                    self.fill(4, 40)
                    nats.wait_for(lambda: 'trying again' in log.read_text(), log.read_text)
                cluster.serve()
        nats.wait_for(self.same, log.read_text)

    def test_power_loss(self):
        """The server loses what it has acknowledged; the sender still has it."""
        cluster = self.cluster()
        land, _ = cluster.land()
        self.fill(1)
        self.ships(cluster)
        self.fill(2, 40)
        cluster.stop(land)
        ship, log = cluster.start(*cluster.command('a', self.spool, '--remove'))
        archive = self.client(cluster, 'ktau-land', 'pland')
        nats.wait_for(lambda: archive.info('KTAU')['messages'] > 5)
        # Of the files, the one that has landed goes, even if the other has only been acknowledged
        nats.wait_for(lambda: len(list(self.spool.iterdir())) == 1)
        kept = next(self.spool.iterdir()).read_bytes()
        cluster.stop(cluster.servers[0])
        shutil.rmtree(self.dir / 'store.0')
        cluster.serve()
        cluster.land()
        nats.wait_for(lambda: not list(self.spool.iterdir()), log.read_text)
        self.assertEqual((self.out / 'a' / recording.name(2)).read_bytes(), kept)
        ship.send_signal(signal.SIGTERM)
        self.assertEqual(ship.wait(nats.PATIENCE_SECONDS), 0, log.read_text())

    def test_two_recordings_with_one_name(self):
        cluster = self.cluster()
        cluster.land()
        path = self.write(1, recording.file_header(7), recording.block(b'first' * 9999))
        first = path.read_bytes()
        self.ships(cluster)
        for number, other in (2, b'other' * 99999), (3, b'x'):
            path.write_bytes(recording.file_header(8) + recording.block(other))
            self.fill(number)
            status, said = cluster.ship('a', self.spool, '--remove')
            self.assertIn('has another recording of this name', said)
            self.assertEqual((status, path.exists()), (1, True))
            self.assertEqual((self.out / 'a' / path.name).read_bytes(), first)
            self.assertEqual([p.name for p in self.spool.iterdir()], [path.name])

    def test_cut_off_by_a_power_failure(self):
        """What had landed is not in the local file any more; what is there has landed."""
        cluster = self.cluster()
        cluster.land()
        path = self.write(1, recording.HEADER, recording.block(b'first' * 999))
        short = path.read_bytes()
        self.write(1, recording.block(b'last' * 999), mode='ab')
        self.ships(cluster)
        path.write_bytes(short)
        status, said = cluster.ship('a', self.spool, '--remove')
        self.assertEqual((status, path.exists()), (0, False), said)
        self.assertIn('the archive has more of it', said)

    def test_stump(self):
        """What a power failure left of a new file stays, is named, and holds up no other."""
        cluster = self.cluster()
        cluster.land()
        block = recording.block(b'first' * 99)
        header = bytearray(recording.HEADER)
        header[6:8] = b'\xff\xff'     # its size
        parts = ([], [recording.HEADER[:20]], [recording.HEADER], [bytes(4096)],
                 [recording.HEADER, bytes(4096)], [recording.HEADER, block[:-9]], [header, block])
        stumps = [self.write(number, *p) for number, p in enumerate(parts, 1)]
        for path in stumps:
            os.utime(path, (time.time() - 90,) * 2)
        locked = self.write(20, recording.HEADER)
        os.utime(locked, (time.time() - 90,) * 2)
        new = self.write(21, bytes(4096))
        whole = self.write(22, recording.HEADER, block)
        with open(locked, 'rb') as writer:
            fcntl.flock(writer, fcntl.LOCK_EX)
            status, said = cluster.ship('a', self.spool, '--remove')
        for path in stumps:
            self.assertEqual(said.count(f'{path} has no complete block'), 1, said)
            self.assertFalse((self.out / 'a' / path.name).exists(), path)
        self.assertNotIn(new.name, said)
        self.assertNotIn(locked.name, said)
        self.assertIn(f'{sum(path.stat().st_size for path in stumps)} bytes in', said)
        self.assertEqual(status, 1, said)
        self.assertEqual(sorted(self.spool.iterdir()), [*stumps, locked, new])
        self.assertTrue((self.out / 'a' / whole.name).exists())
        for path in stumps[1:]:
            path.unlink()
        self.assertEqual(cluster.ship('a', self.spool)[0], 1)   # by the empty one

    def test_unreadable(self):
        """A file that cannot be read does not stop those after it."""
        if not shutil.which('strace'):
            self.skipTest('strace is not installed')
        cluster = self.cluster()
        cluster.land()
        process, log = cluster.start(*cluster.command('a', self.spool), prefix=(
            'strace', '-f', '-o', '/dev/null', '-P', self.fill(1), '-e', 'trace=pread64',
            '-e', 'inject=pread64:error=EIO:when=6+'))
        for number in range(2, 30):
            self.fill(number)
        nats.wait_for(lambda: len(list(self.out.glob('a/*'))) >= 28, log.read_text)
        cluster.stop(process)

    def test_full_folder_of_a_host(self):
        """The quota of a project on XFS is reported as a full disk; others land."""
        mount = 'mkdir -p "$0" && mount -t tmpfs -o size=1m none "$0" && exec "$@"'
        space = 'unshare', '-rm', 'sh', '-c'
        if subprocess.run([*space, mount, self.dir / 'try', 'true'], check=False,
                          stderr=subprocess.DEVNULL).returncode:
            self.skipTest('no file system can be mounted')
        cluster = self.cluster()
        _, log = cluster.land(prefix=(*space, mount, self.out / 'b'))
        self.fill(1, 40)
        status, said = cluster.ship('b', self.spool, '--linger=1')
        self.assertEqual(status, 1, said)
        nats.wait_for(lambda: 'No space left' in log.read_text(), log.read_text)
        self.ships(cluster)
        self.assertTrue(self.same())

    def test_two_shippers_in_one_folder(self):
        cluster = self.cluster()
        cluster.land()
        self.fill(1, 40)
        both = [cluster.start(*cluster.command('a', self.spool, '--once')) for _ in range(2)]
        for process, log in both:
            self.assertEqual(process.wait(nats.PATIENCE_SECONDS), 0, log.read_text())
        self.assertTrue(self.same())

    def test_removes_closed_and_landed_files(self):
        cluster = self.cluster()
        cluster.land()
        # Whatever the names say, the one that is locked is being written
        kept = [self.fill(number) for number in range(3)][0]
        held = self.hold(kept)
        before = {p.name: p.read_bytes() for p in self.spool.iterdir()}
        self.ships(cluster, 'a', '--remove')
        self.assertEqual(list(self.spool.iterdir()), [kept])
        self.assertEqual(before, {p.name: p.read_bytes() for p in (self.out / 'a').iterdir()})
        held.close()
        self.ships(cluster, 'a', '--remove')
        self.assertEqual(list(self.spool.iterdir()), [])

    def test_removed_too_early(self):
        cluster = self.cluster()
        self.fill(1)
        process, log = cluster.start(*cluster.command('a', self.spool))
        nats.wait_for(lambda: 'trying again' in log.read_text())
        (self.spool / recording.name(1)).unlink()
        nats.wait_for(lambda: 'was removed before its last' in log.read_text())
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(nats.PATIENCE_SECONDS), 1)

    def test_limits_are_not_known(self):
        """A server that does not say what it allows, as while it starts, gets no larger streams."""
        cluster = self.cluster()
        conf = cluster.dir / 'conf.0'
        text = conf.read_text()
        silent = 'password: "pland", permissions: { publish: { deny: "$JS.API.INFO" } }'
        conf.write_text(text.replace('password: "pland"', silent))
        cluster.stop(cluster.servers[0])
        cluster.serve()
        _, log = cluster.land(wait=False)
        nats.wait_for(lambda: 'cannot land: streams' in log.read_text(), log.read_text)
        conf.write_text(text)
        cluster.stop(cluster.servers[0])
        cluster.serve()
        nats.wait_for(lambda: 'landing' in log.read_text(), log.read_text)
        archive = self.client(cluster, 'ktau-land', 'pland')
        self.assertEqual(archive.info('KTAU', 'config')['max_bytes'], (4 << 30) // 5 * 4)

    def test_partitions(self):
        cluster = self.cluster(options=('--partitions=2',))
        cluster.land('--partition=1')
        self.fill(1)
        # Of these two names, one is in each partition
        self.ships(cluster, 'b')
        status, said = cluster.ship('a', self.spool, '--linger=0')
        self.assertEqual(status, 1, said)
        self.assertFalse((self.out / 'a').exists())
        cluster.land()
        self.ships(cluster, 'a')
        self.assertTrue(self.same('a') and self.same('b'))

    def test_one_archive_per_partition(self):
        cluster = self.cluster()
        cluster.land()
        process, log = cluster.land(wait=False)
        self.assertEqual(process.wait(nats.PATIENCE_SECONDS), 1)
        self.assertIn('another ktau-land does', log.read_text())


class Hostile(Case):
    """A host with a valid password that sends anything."""

    def setUp(self):
        super().setUp()
        self.nats = self.cluster()
        self.land, self.landed = self.nats.land()
        self.fill(1)
        self.ships(self.nats, 'b')
        self.host = self.client(self.nats, 'a')
        self.archive = self.client(self.nats, 'ktau-land', 'pland')

    def part(self, name, offset='0', data=b'x' * 100, subject='ktau.a', reply='_I.a.1'):
        self.host.publish(subject, data, reply, {'File': name, 'Offset': offset})

    def test_subjects(self):
        before = self.archive.info('KTAU_HAVE')
        for subject in ('ktau.b', 'ktau.0.b', 'have.b.f.ktau', f'{GET}.b.f.ktau',
                        '$JS.API.STREAM.MSG.GET.KTAU', '$JS.API.STREAM.DELETE.KTAU',
                        '$JS.API.STREAM.PURGE.KTAU_HAVE', '$JS.API.CONSUMER.DELETE.KTAU.land-0',
                        '$JS.API.CONSUMER.MSG.NEXT.KTAU.land-0', '$JS.API.INFO',
                        '$JS.ACK.KTAU.land-0.1.1.1.1.1', '$SYS.REQ.SERVER.PING', '_I.b.1'):
            self.host.publish(subject, b'9', '_I.a.1')
            self.assertIn('Permissions Violation for Publish', self.host.answers(), subject)
        for subject in 'ktau.>', '>', '_I.b.>', '_I.>', 'have.>', '$JS.>':
            self.host.put(f'SUB {subject} 9\r\n'.encode())
            self.assertIn('Permissions Violation for Subscription', self.host.answers(), subject)
        self.assertIn('Publish Violation - User "a"', self.nats.log.read_text())
        after = self.archive.info('KTAU_HAVE')
        self.assertEqual((before['last_seq'], before['subjects']),
                         (after['last_seq'], after['subjects']))
        self.assertTrue(self.same('b'))
        self.assertEqual([p.name for p in self.out.iterdir() if p.is_dir()], ['b'])

    def test_answers_to_subjects_of_the_archive(self):
        """The server must not act on its own answer in the name of a host."""
        self.nats.stop(self.land)
        for number in range(3):
            self.part(f'{number}.ktau')
        self.host.answers()
        before = self.archive.info('KTAU'), self.archive.info('KTAU_HAVE')
        self.assertEqual(before[0]['messages'], 3)
        replies = ('$JS.API.STREAM.PURGE.KTAU', '$JS.API.STREAM.DELETE.KTAU', 'have.b.x.ktau',
                   'ktau.0.b', f'have.b.{recording.name(1)}')
        for reply in replies:
            self.part('more.ktau', reply=reply)
            self.host.answers()
        after = self.archive.info('KTAU'), self.archive.info('KTAU_HAVE')
        self.assertEqual(after[0]['subjects'], {'ktau.0.a': 3 + len(replies)})
        self.assertEqual(after[1]['last_seq'], before[1]['last_seq'])

    def test_names(self):
        for name in '../b/x.ktau', '/etc/x.ktau', '.x.ktau', 'x' * 123 + '.ktau', 'x', '', 'a/b.ktau':
            self.part(name)
        for offset in '-1', 'x', '', '99999999999999999999', '9223372036854775807':
            self.part('f.ktau', offset)
        self.part('g.ktau', '5000000000')
        self.host.publish('ktau.a', b'no headers', '_I.a.1')
        self.part('good.ktau')
        nats.wait_for((self.out / 'a/good.ktau').exists)
        self.assertEqual({p.name for p in (self.out / 'a').iterdir()
                          if p.stat().st_size}, {'good.ktau'})
        self.assertEqual({p.name for p in self.out.iterdir()}, {'a', 'b', '.land-0'})
        self.assertIn('refused', self.landed.read_text())
        # What is refused does not stay in the server
        nats.wait_for(lambda: not self.archive.info('KTAU')['messages'])
        self.ships(self.nats, 'b')

    def test_ids_of_messages(self):
        """The server forgets them soon: a host may send any number."""
        self.assertEqual(self.archive.info('KTAU', 'config')['duplicate_window'], 10 ** 8)

    def test_sizes(self):
        self.part('f.ktau', data=bytes(700 << 10))
        self.assertIn('message size exceeds maximum', self.host.answers(1))
        self.host.publish('ktau.a', bytes(2 << 20), '_I.a.1')
        self.assertIn('Maximum Payload', self.host.answers(1))

    def test_subscriptions(self):
        self.host.put(b''.join(b'SUB _I.a.%d %d\r\n' % (i, i) for i in range(2, 1002)))
        answers = self.host.answers()
        self.assertEqual(answers.count("-ERR 'maximum subscriptions exceeded'"), 901, answers[:200])

    def test_connections(self):
        """A host that takes all it can get leaves some for ktau-land."""
        self.nats.stop(self.land)
        said = ''
        while 'connections exceeded' not in said:
            client = nats.Client(self.nats.ports[0], 'a')
            self.addCleanup(client.close)
            said = client.answers(0)
        self.part('f.ktau')
        self.nats.land()
        nats.wait_for((self.out / 'a/f.ktau').exists)

    def test_wrong_password(self):
        client = nats.Client(self.nats.ports[0], 'b', 'wrong')
        self.assertIn('Authorization Violation', client.answers())
        client.close()
        status, said = self.nats.ship('b', self.spool, '--host=a', '--linger=0', program=PLAIN)
        self.assertEqual(status, 1)
        self.assertIn('Permissions Violation', said)

    def test_quota(self):
        self.nats.stop(self.land)
        for _ in range(PARTS + 3):
            self.part('f.ktau')
        self.assertIn('maximum messages per subject exceeded', self.host.answers())
        nats.wait_for(lambda: self.archive.info('KTAU')['messages'] >= PARTS)
        self.assertEqual(self.archive.info('KTAU')['messages'], PARTS)
        self.fill(2)
        status, said = self.nats.ship('b', self.spool, '--linger=0')
        self.assertNotIn('cannot ship', said)
        self.assertGreater(self.archive.info('KTAU')['messages'], PARTS)
        self.nats.land()
        self.ships(self.nats, 'b')
        self.assertTrue(self.same('b'))
        nats.wait_for(lambda: not self.archive.info('KTAU')['messages'])


def rogue(cluster, *changes):
    """Start a server of the cluster a second time, with changes; returns its log."""
    text = (cluster.dir / 'conf.0').read_text()
    for old, new in (('server_name: "s0"', 'server_name: "rogue"'), ('store.0', 'store.rogue'),
                     (f'listen: "127.0.0.1:{cluster.ports[0]}"', 'listen: "127.0.0.1:-1"'),
                     (f'listen: "127.0.0.1:{cluster.routes[0]}"', 'listen: "127.0.0.1:-1"'),
                     *changes):
        if old not in text:
            raise AssertionError(f'no {old} in {text}')
        text = text.replace(old, new)
    (cluster.dir / 'conf.rogue').write_text(text)
    return cluster.start(nats.SERVER, '-c', cluster.dir / 'conf.rogue')[1]


class Joining(Case):
    """A stranger's server wants to be one of the cluster."""

    def three(self, **options):
        cluster = self.cluster(servers=3, **options)
        nats.wait_for(lambda: any('new metadata leader' in path.read_text()
                                  for path in self.dir.glob('log.*')))
        return cluster

    def refused(self, cluster, *changes):
        log = rogue(cluster, *changes)
        nats.wait_for(lambda: 'Authorization Violation' in log.read_text(),
                      lambda: log.read_text()[-500:])


class Clusters(Joining):

    def test_a_server_needs_the_password(self):
        cluster = self.cluster(servers=3)
        cluster.land('--replicas=3')
        self.fill(1)
        self.ships(cluster)
        self.assertTrue(self.same())
        self.refused(cluster, ('//ktau:proute@', '//'))

    def test_hosts_of_a_server_that_has_died(self):
        """The others count their connections for minutes."""
        cluster = self.three()
        for number in 0, 1:
            for _ in range(54):
                client = nats.Client(cluster.ports[number], 'a')
                self.addCleanup(client.close)
                self.assertNotIn('exceeded', client.answers(0))
            cluster.stop(cluster.servers[number])


class Tls(Joining):
    HOSTS = 'n1.example.org', 'n2.example.org'

    def openssl(self, *args):
        subprocess.run(['openssl', *args], cwd=self.dir, check=True, stderr=subprocess.PIPE)

    def certify(self, name, *names, ca='ca'):
        curve = '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'
        if not (self.dir / f'{ca}.pem').exists():
            self.openssl('req', '-x509', *curve, '-subj', f'/CN={ca}', '-keyout', f'{ca}.key',
                         '-out', f'{ca}.pem', '-addext', 'keyUsage=keyCertSign')
        self.openssl('req', *curve, '-subj', f'/CN={name}', '-keyout', f'{name}.key', '-out',
                     f'{name}.csr')
        (self.dir / 'extra').write_text(f'subjectAltName={",".join(names)}\n')
        self.openssl('x509', '-req', '-in', f'{name}.csr', '-CA', f'{ca}.pem', '-CAkey',
                     f'{ca}.key', '-CAcreateserial', '-extfile', 'extra', '-out', f'{name}.pem')

    def keys(self, name, ca='ca'):
        return (f'--ca={self.dir}/{ca}.pem', f'--cert={self.dir}/{name}.pem',
                f'--key={self.dir}/{name}.key')

    def ship(self, *options):
        return subprocess.run([BUILD / 'ktaud/ship/ktaud-ship', f'--to=tls://localhost:{self.port}',
                               '--once', '--every=20ms', *options, self.spool],
                              stderr=subprocess.PIPE, encoding='utf-8', check=False)

    def test_certificates(self):
        for name, *names in ('server', 'DNS:localhost'), ('land', 'DNS:ktau-land'), \
                            ('n1', 'DNS:n1.example.org'):
            self.certify(name, *names)
        self.certify('stranger', 'DNS:n1.example.org', ca='other')
        cluster = self.cluster(tls=self.dir)
        self.port = cluster.ports[0]
        _, log = cluster.start(BUILD / 'ktaud/ship/ktau-land', *self.keys('land'),
                               f'--from=tls://localhost:{self.port}', self.out)
        nats.wait_for(lambda: 'landing' in log.read_text(), log.read_text)
        self.fill(1)
        for options in self.keys('stranger'), [f'--ca={self.dir}/ca.pem'], self.keys('n1', 'other'):
            done = self.ship('--host=n1.example.org', '--linger=0', *options)
            self.assertEqual(done.returncode, 1, options)
            self.assertIn('cannot ship: ', done.stderr)
        # A certificate does not make one host another
        done = self.ship('--host=n2.example.org', '--linger=0', *self.keys('n1'))
        self.assertIn('Permissions Violation', done.stderr)
        done = self.ship('--host=n1.example.org', *self.keys('n1'))
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertTrue(self.same('n1_example_org'))

    def test_a_host_is_no_server(self):
        """The same authority has signed its certificate."""
        self.certify('server', 'DNS:localhost')
        self.certify('n1', 'DNS:n1.example.org')
        cluster = self.three(tls=self.dir)
        self.refused(cluster, ('server.pem', 'n1.pem'), ('server.key', 'n1.key'))


class Documentation(Case):
    """The commands of the pages for operators."""

    SETUP = r'''
systemctl() {
    for unit; do :; done
    case $unit in
    nats-server)
        sed -i "s/4222/$PORT/; s|/var/lib/nats|$ROOT/nats|; s|\"/etc/|\"$ROOT/etc/|" $ROOT/etc/nats-server.conf
        nats-server -c $ROOT/etc/nats-server.conf > server.log 2>&1 & ;;
    ktau-land)
        . $ROOT/etc/default/ktau-land
        sleep 1
        ktau-land $ARGUMENTS > land.log 2>&1 & ;;
    ktaud-ship)
        . $ROOT/etc/default/ktaud-ship
        ktaud-ship --once $ARGUMENTS $ROOT/spool/$name ;;
    esac
    echo ${!:-} >> pids
}
'''

    @staticmethod
    def blocks(page):
        with open(f'docs/user/{page}', encoding='utf-8') as file:
            return re.findall(r'(?ms)^```shell\n(.*?)^```', file.read())

    def sh(self, text, port=0):
        """Run commands with the paths below the test's folder, and every machine here."""
        for path in '/etc/', '/srv/':
            text = text.replace(path, f'{self.dir}{path}')
        text = text.replace('nats1.example.org:4222', f'localhost:{port}').replace(
            'nats1.example.org', 'localhost').replace(' -g nats', '')
        names = self.dir / 'bin', '/usr/sbin', os.environ['PATH']
        done = subprocess.run(['sh', '-eu', '-c', self.SETUP + text], cwd=self.dir, check=False,
                              env={**os.environ, 'PATH': ':'.join(map(str, names)),
                                   'ROOT': str(self.dir), 'PORT': str(port)},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8')
        self.assertEqual(done.returncode, 0, f'{text}\n{done.stdout}' + ''.join(
            p.read_text()[-2000:] for p in self.dir.glob('*.log')))
        return done.stdout

    def end(self):
        for pid in (self.dir / 'pids').read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGTERM)

    def test_from_nothing_to_an_archive(self):
        programs = self.dir / 'bin'
        programs.mkdir()
        for name, path in ('ktau-nats-conf', nats.CONF), \
                ('ktaud-ship', BUILD / 'ktaud/ship/ktaud-ship'), \
                ('ktau-land', BUILD / 'ktaud/ship/ktau-land'), \
                ('ktau', BUILD / 'tools/ktau/ktau'):
            (programs / name).symlink_to(path)
        (self.dir / 'etc/default').mkdir(parents=True)
        (self.dir / 'srv').mkdir()
        keys, server, land, node, ask, clustered = self.blocks('cluster.md')
        port = nats.free_port()
        self.sh(keys, port)
        (self.dir / 'pids').touch()
        self.addCleanup(self.end)
        self.sh(server, port)
        self.sh(land, port)
        (self.dir / 'made').mkdir()
        subprocess.run([BUILD / 'tests/unit/tools/many_hosts',
                        'tests/unit/tools/data/recorded.ktau', self.dir / 'made', '3', '9050'],
                       check=True)
        made = sorted((self.dir / 'made').rglob('*.ktau'))
        for number in 1, 2, 3:
            spool = self.dir / f'spool/n{number}.example.org'
            spool.mkdir(parents=True)
            shutil.copy(made[number - 1], spool / 'recorded.ktau')
            self.sh(node.replace('n1.', f'n{number}.'), port)
            self.assertEqual((self.dir / f'srv/ktau/n{number}_example_org/recorded.ktau')
                             .read_bytes(), (spool / 'recorded.ktau').read_bytes())
        report, compare, export = ask.splitlines()
        self.assertIn('ASLEEP', self.sh(report))
        self.assertIn('3 hosts', self.sh(compare))
        self.sh(export)
        self.assertEqual({line.split(',')[0] for line in
                          (self.dir / 'hours.csv/hours.csv').read_text().splitlines()[1:]},
                         {path.stem for path in made})
        self.check_cluster(clustered)

    def check_cluster(self, commands):
        """The server accepts the configuration, and the route to it has its certificate's name."""
        self.sh(commands.replace('systemctl restart nats-server', ''))
        conf = self.dir / 'etc/nats-server.conf'
        text = conf.read_text().replace('"/etc/', f'"{self.dir}/etc/')
        conf.write_text(text)
        self.sh('nats-server -t -c /etc/nats-server.conf')
        self.assertIn(f"DNS:{re.search('routes: ..nats://(.*?):', text)[1]}\n", self.sh(
            'openssl x509 -in /etc/ktau-nats/server.pem -noout -ext subjectAltName'))

    def test_common_file_system(self):
        script, epilog = self.blocks('shared-files.md')
        move = self.dir / 'ktau-move'
        move.write_text(script)
        move.chmod(0o755)
        shared = self.dir / 'shared'
        there = shared / os.uname().nodename
        there.mkdir(parents=True)
        kept = self.hold(self.fill(1))
        exists = self.fill(2)
        (there / exists.name).write_text('mine')
        moved = self.fill(3)
        data = moved.read_bytes()
        subprocess.run(['sh', move, self.spool, shared], check=True)
        self.assertEqual(sorted(p.name for p in self.spool.glob('*.ktau')),
                         [pathlib.Path(kept.name).name, exists.name])
        self.assertEqual((there / moved.name).read_bytes(), data)
        self.assertEqual((there / exists.name).read_text(), 'mine')
        self.assertEqual(len(list(there.iterdir())), 2)
        moved = self.fill(4)
        data = moved.read_bytes()
        for place, ours in (('/usr/local/bin', self.dir), ('/var/lib/ktaud', self.spool),
                            ('/lustre/ktau', shared)):
            self.assertIn(place, epilog)
            epilog = epilog.replace(place, str(ours))
        # Another one is running, and has the file half written
        part = there / f'.{moved.name}.part'
        part.write_text('half')
        with self.hold(self.spool / '.move'):
            subprocess.run(['sh', '-e', '-c', epilog], check=True)
        self.assertEqual((part.read_text(), moved.exists()), ('half', True))
        part.unlink()
        subprocess.run(['sh', '-e', '-c', epilog], check=True)
        self.assertEqual((there / moved.name).read_bytes(), data)
        self.assertEqual(len(list(there.iterdir())), 3)


class Usage(Case):

    def refuses(self, command, rows):
        for options, status, wanted in rows:
            with self.subTest(options):
                done = subprocess.run([*command, *options], stderr=subprocess.PIPE,
                                      encoding='utf-8', cwd=self.dir, check=False)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(wanted, done.stderr)

    def test_ship(self):
        to = '--to=nats://127.0.0.1:1'
        self.refuses([BUILD / 'ktaud/ship/ktaud-ship'], [
            ([], 2, 'a server is required'), (['--to=tcp:a:1', 'x'], 2, 'is not a list'),
            (['--to=', 'x'], 2, 'is not a list'), (['--to=nats://a,b', 'x'], 2, 'is not a list'),
            (['--to=' + ','.join(['nats://a'] * 17), 'x'], 2, 'is not a list'),
            (['--to=nats://a"b', 'x'], 2, 'is not a list'),
            (['--to=/nowhere', 'x'], 1, '/nowhere: No such file'),
            (['--to=/dev/null', 'x'], 2, 'is not a list'), ([to], 2, 'a DIR is required'), ([to, 'a', 'b'], 2, ''),
            ([to, '--key=a', 'b'], 2, 'must be given together'),
            ([to, '--every=x', 'b'], 2, 'is not a time'), ([to, '--host=a/b', 'b'], 2, '--host'),
            ([to, '--host=' + 'x' * 99, 'b'], 2, '--host'),
            ([to, '/nowhere'], 1, 'cannot read /nowhere: No such file'),
            (['--to=tls://127.0.0.1:1', '--once', '--linger=0', '--ca=/nowhere', self.spool], 0, '')])

    def test_land(self):
        self.refuses([BUILD / 'ktaud/ship/ktau-land'], [
            ([], 2, 'a server is required'), (['--from=x', 'y'], 2, 'is not a list'),
            (['--from=nats://a'], 2, 'a DIR is required'),
            (['--from=nats://a', '--cert=a', 'x'], 2, 'must be given together'),
            (['--from=nats://a', '--partition=1000', 'x'], 2, 'is not a number up to 999'),
            (['--from=nats://a', '/nowhere/x'], 1, 'cannot write to /nowhere/x: No such file')])

    def test_conf(self):
        (self.dir / 'empty').write_text('# none\n')
        (self.dir / 'twice').write_text('a.b\na_b\n')
        (self.dir / 'bad').write_text('a\nb;c\n')
        (self.dir / 'good').write_text('a # the first\n\nb\n')
        self.refuses([nats.CONF], [
            ([], 2, 'HOSTS'), (['nowhere'], 1, 'nowhere: No such file'),
            (['empty'], 1, 'names no host'), (['twice'], 1, 'two hosts are called a_b'),
            (['bad'], 1, 'bad:2: not the name of a host'),
            (['--no-tls', 'good'], 2, '--land-password'),
            (['--no-tls', '--land-password=empty', 'good'], 1, 'a has no password'),
            (['--name=a', 'good'], 2, 'must be given together'),
            (['--name=a', '--routes=nats://a', 'good'], 2, "'nats://a' is not nats://HOST:PORT"),
            (['--no-tls', '--land-password=good', '--name=a', '--routes=nats://a:1', 'good'], 2,
             '--no-tls requires --cluster-password for a cluster'),
            (['--cluster-password=good', 'good'], 2, '--cluster-password requires --no-tls'),
            (['--store=a"b', 'good'], 2, 'has a character'), (['--max-bytes=x', 'good'], 2, 'size')])

    def test_many_hosts(self):
        """The server accepts the configuration of 10,000 hosts."""
        cluster = nats.Cluster(BUILD, self.dir, [f'n{i:05}.example.org' for i in range(10000)])
        subprocess.run([nats.SERVER, '-t', '-c', cluster.dir / 'conf.0'], check=True,
                       stderr=subprocess.PIPE)


if __name__ == '__main__':
    if not nats.SERVER or not (BUILD / 'ktaud/ship/ktau-land').exists():
        print('1..0 # SKIP nats-server or libnats is not installed')
        sys.exit(0)
    runner = TAPTestRunner()
    runner.set_stream(True)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], warnings='ignore',
                  testRunner=runner)
