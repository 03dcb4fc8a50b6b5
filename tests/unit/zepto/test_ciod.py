#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ciod as a process, and programs that cnk runs: test_ciod.py BUILD."""

import contextlib
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

from tap import TAPTestRunner

from jobs import job

BUILD = pathlib.Path(sys.argv[1]).resolve()
ZEPTO = pathlib.Path('zepto-config').resolve()
BGL = pathlib.Path('tests/bgl').resolve()
TOKEN = '0123456789abcdef' * 2
USER = 1000
ROOT = 0xffffffff
HELLO_SECONDS = 10  # ciod's limit for a connection without the token
NR = {name: number for number, name in enumerate(
    'hello bye end openat close read write pread64 pwrite64 lseek statx getdents64 mkdirat '
    'unlinkat renameat2 linkat symlinkat readlinkat faccessat fchmodat fchmod fchownat '
    'fchown utimensat ftruncate fsync fdatasync syncfs fallocate truncate statfs '
    'fstatfs'.split())}
O_RDWR, O_CREAT, O_DIRECTORY, O_PATH = 2, 4, 0x40, 0x100


def f(fd):
    return struct.pack('>I', fd)


def i(number):
    return struct.pack('>I', number)


def n(number):
    return struct.pack('>Q', number & (1 << 64) - 1)


def d(data):
    return struct.pack('>I', len(data)) + data


def p(path):
    return d(path.encode() + b'\0')


def free_port():
    """A port outside the ephemeral range, where a client could connect to itself."""
    while True:
        port = random.randrange(20000, 30000)
        with socket.socket() as free, contextlib.suppress(OSError):
            free.bind(('127.0.0.1', port))
            return port


# System calls without a path or a descriptor of an existing file, calls that treat all
# descriptors alike, and calls that the filter answers itself.
NOT_ON_FILES = """
_sysctl add_key adjtimex afs_syscall alarm arch_prctl bpf brk capget capset clock_adjtime
clock_getres clock_gettime clock_nanosleep clock_settime clone clone3 close close_range
create_module delete_module dup dup2 dup3 epoll_create epoll_create1 epoll_ctl_old
epoll_pwait epoll_pwait2 epoll_wait epoll_wait_old eventfd eventfd2 exit exit_group
fanotify_init fork fsmount fsopen futex futex_waitv get_kernel_syms get_mempolicy
get_robust_list get_thread_area getcpu getcwd getegid geteuid getgid getgroups getitimer
getpgid getpgrp getpid getpmsg getppid getpriority getrandom getresgid getresuid getrlimit
getrusage getsid gettid gettimeofday getuid init_module inotify_init inotify_init1
inotify_rm_watch io_cancel io_destroy io_getevents io_pgetevents io_setup io_uring_enter
io_uring_register io_uring_setup ioperm iopl ioprio_get ioprio_set kcmp kexec_load keyctl
kill landlock_add_rule landlock_create_ruleset landlock_restrict_self lookup_dcookie madvise
mbind membarrier memfd_create memfd_secret migrate_pages mincore mlock mlock2 mlockall
modify_ldt move_pages mprotect mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend
mq_unlink mremap msgctl msgget msgrcv msgsnd msync munlock munlockall munmap nanosleep
nfsservctl open_by_handle_at pause perf_event_open personality pidfd_getfd pidfd_open
pidfd_send_signal pipe pipe2 pkey_alloc pkey_free pkey_mprotect poll ppoll prctl prlimit64
process_madvise process_mrelease process_vm_readv process_vm_writev pselect6 ptrace putpmsg
query_module reboot remap_file_pages request_key restart_syscall rseq rt_sigaction
rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait
rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min sched_getaffinity
sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity
sched_setattr sched_setparam sched_setscheduler sched_yield seccomp security select semctl
semget semop semtimedop set_mempolicy set_mempolicy_home_node set_robust_list
set_thread_area set_tid_address setdomainname setfsgid setfsuid setgid setgroups sethostname
setitimer setns setpgid setpriority setregid setresgid setresuid setreuid setrlimit setsid
settimeofday setuid shmat shmctl shmdt shmget sigaltstack signalfd signalfd4 socket
socketpair sync sysfs sysinfo syslog tgkill time timer_create timer_delete timer_getoverrun
timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime times tkill
tuxcall umask uname unshare userfaultfd ustat vfork vhangup vserver wait4 waitid
"""

# Calls without a path or a descriptor whose numbers are between those of Debian 12, which does not
# have them.
NEWER = {'uretprobe'}


class Peer:
    """A compute node that sends hand-written messages."""

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
        return self.call('openat', f(ROOT), p(path), i(flags), i(0o644))

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
        self.ciod = subprocess.Popen([BUILD / 'tests/bgl/ciod/ciod', self.write_job(**changes)],
                                     stderr=self.log, extra_groups=[1, 2])
        (self.dir / 'pid').write_text(str(self.ciod.pid))
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

    def waits(self, condition):
        deadline = time.monotonic() + 30
        while not condition():
            self.assertLess(time.monotonic(), deadline, self.said())
            time.sleep(0.05)

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
        done = subprocess.run([BUILD / 'tests/bgl/ciod/ciod', path], stderr=subprocess.PIPE,
                              encoding='utf-8', timeout=30)
        self.assertEqual(done.returncode, 2)
        return done.stderr.replace(str(path), 'JOB')

    def test_job_files(self):
        good = f'token={TOKEN}\npeer=127.0.0.1\nuid=1000\ngid=1000\nroot={self.root}\n'
        for more, wanted in [
                ('port=0\n', 'JOB:6: the port must'), ('port=65536\n', 'JOB:6: the port must'),
                ('wait=1h\n', 'JOB:6: the time must'), ('nodes=0\n', 'JOB:6: the number of compute nodes'),
                ('lost_node=maybe\n', "JOB:6: neither 'end' nor 'continue'"), ('colour=red\n', 'JOB:6: unknown key'),
                ('# well\n\nport\n', 'JOB:8: not key=value'),
                ('uid=1000\n', 'JOB:6: the key is set twice'), ('x' * 9000, 'JOB:6: the line is too long')]:
            self.assertIn(wanted, self.job_file(good + more))
        for line, wanted in [
                ('uid=0', 'JOB:3: the user id must be greater than 0'),
                ('uid=-1', 'JOB:3: the user id'), ('uid=4294967295', 'JOB:3: the user id'),
                ('gid=0', 'JOB:4: the group id'), ('root=root', 'JOB:5: not an absolute'),
                ('root=/nowhere', 'JOB:5: no such directory'),
                ('peer=ionode', 'JOB:2: not an IPv4 address'),
                ('token=abc', 'JOB:1: the token must be 32 hex')]:
            key = line.split('=')[0]
            lines = [line if x.startswith(key) else x for x in good.splitlines()]
            self.assertIn(wanted, self.job_file('\n'.join(lines) + '\n'))
            without = [x for x in good.splitlines() if not x.startswith(key)]
            self.assertIn(f"JOB: key '{key}' is missing", self.job_file('\n'.join(without) + '\n'))
        path = self.dir / 'nowhere'
        done = subprocess.run([BUILD / 'tests/bgl/ciod/ciod', path], stderr=subprocess.PIPE)
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
                job.message(NR['openat'], f(ROOT) + p('x') + i(O_RDWR | O_CREAT) + i(0)):
            with socket.create_connection(('127.0.0.1', self.port), 10) as s:
                # It may close before all bytes are sent
                with contextlib.suppress(OSError):
                    s.sendall(raw)
                    s.shutdown(socket.SHUT_WR)
                    self.assertEqual(s.recv(1), b'')
        self.assertEqual(list(self.root.iterdir()), [])
        self.control().end()
        self.ends(0, 'is not part of this job')

    def test_paths_stay_below_the_root(self):
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
        self.assertEqual(peer.call('mkdirat', f(ROOT), p('../out'), i(0o755))[0], 0)
        self.assertTrue((self.root / 'out').is_dir())      # .. of the root is the root
        self.assertEqual(peer.error('renameat2', f(ROOT), p('out'), f(ROOT),
                                    p(str(self.dir) + '/out'), i(0)), 'No such file or directory')
        self.assertEqual(peer.error('linkat', f(ROOT), p(secret), f(ROOT), p('mine'), i(0)),
                         'No such file or directory')
        self.assertEqual(peer.error('unlinkat', f(ROOT), p(secret), i(0)),
                         'No such file or directory')
        up = peer.open('up', O_PATH | O_DIRECTORY)[1]
        self.assertEqual(peer.call('openat', f(up), p('secret'), i(0), i(0))[0], 2)
        self.assertEqual(peer.open('locked')[0], 13)
        self.assertEqual(peer.error('fchownat', f(ROOT), p('out'), i(0), i(0), i(0)),
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
                               ('fsync', b''), ('lseek', n(0) + i(0)), ('fchmod', i(0))):
                self.assertEqual(peer.error(name, f(fd), rest), 'Bad file descriptor')
            if fd != ROOT:
                self.assertEqual(peer.error('statx', f(fd), p(''), i(0x1000)),
                                 'Bad file descriptor')
        fd = peer.open('x', O_RDWR | O_CREAT)[1]
        self.assertEqual(peer.call('write', f(fd), d(b'data'))[1], 4)
        self.assertEqual(peer.call('pread64', f(fd), n(2**63), n(1))[2], b'ata')
        self.assertEqual(peer.error('close', f(fd)), 'Success')
        self.assertEqual(peer.error('close', f(fd)), 'Bad file descriptor')
        self.assertEqual(peer.open('x', 0x800)[0], 22)
        self.assertEqual(peer.open('x', 3)[0], 22)

    def test_the_root_is_opened_once(self):
        self.start()
        first = Peer(self.port)
        self.root.rename(self.dir / 'moved')
        (self.dir / 'root').symlink_to(self.dir)
        second = Peer(self.port)
        for peer in first, second:
            self.assertEqual(peer.open('secret')[0], 2)
            self.assertEqual(peer.open('file', O_RDWR | O_CREAT)[0], 0)
        self.assertEqual([path.name for path in (self.dir / 'moved').iterdir()], ['file'])

    def test_one_control_connection(self):
        self.start()
        control = self.control()
        with self.assertRaises(OSError):
            Peer(self.port, role=job.CONTROL)
        # ciod's process for the connection closes it before it exits
        self.waits(lambda: 'was refused: the job already has a control connection' in self.said())
        control.end()
        self.ends(0, 'has ended the job')

    def test_silent_connections_do_not_block_others(self):
        self.start()
        control = self.control()
        for number in 100, 50, 25, 20:
            silent = [socket.create_connection(('127.0.0.1', self.port), HELLO_SECONDS)
                      for _ in range(number - 1)]
            begun = time.monotonic()
            silent.append(socket.create_connection(('127.0.0.1', self.port), HELLO_SECONDS))
            peer = Peer(self.port)
            self.assertEqual(peer.open('file', O_RDWR | O_CREAT)[0], 0)
            self.assertEqual(peer.call('bye')[0], 0)
            silent[-1].setblocking(False)
            try:
                closed = silent[-1].recv(1) == b''
            except OSError as error:
                closed = not isinstance(error, BlockingIOError)
            if time.monotonic() - begun < HELLO_SECONDS:
                break
        else:
            self.skipTest('this machine needs more time for a connection than ciod gives it')
        # The peer was served before the last silent connection timed out
        self.assertFalse(closed)
        # Single bytes do not extend the deadline: the complete hello would take 30 s
        with self.assertRaises(OSError):
            for byte in job.hello(job.COMPUTE, TOKEN):
                silent[-1].sendall(bytes([byte]))
                time.sleep(0.5)
        control.end()
        self.ends(0, 'was refused')

    def test_the_job_file_limits_the_number_of_nodes(self):
        self.start(nodes=2)
        control = self.control()
        peers = [Peer(self.port), Peer(self.port)]
        with self.assertRaises(OSError):
            Peer(self.port)
        refused = 'was refused: the job has reached its limit of compute nodes'
        self.waits(lambda: refused in self.said())
        self.assertEqual(peers[0].call('bye')[0], 0)
        peers[0].close()
        self.waits(lambda: 'said goodbye' in self.said())
        peers.append(Peer(self.port))
        self.assertEqual(peers[2].open('file', O_RDWR | O_CREAT)[0], 0)
        control.end()
        self.ends(0, 'has ended the job')

    def test_a_lost_node(self):
        for policy, status in ('end', 1), ('continue', 0):
            self.start(lost_node=policy)
            control = self.control()
            peer = Peer(self.port)
            Peer(self.port).close()
            self.waits(lambda: 'has vanished' in self.said())
            if policy == 'end':
                self.ends(1, 'has vanished')
                with self.assertRaises(job.Error):
                    control.end()
            else:
                self.assertEqual(peer.open('file', O_RDWR | O_CREAT)[0], 0)
                control.end()
                self.ends(0, 'has vanished')
        self.start(lost_node='continue')
        self.control().socket.close()
        self.ends(1, 'has vanished')

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
                    job.message(NR['mkdirat'], path), job.message(NR['mkdirat'], path + i(0) + b'x'),
                    # A number that is too large for an int is invalid in a message
                    job.message(NR['mkdirat'], path + n(1 << 32)),
                    job.message(NR['lseek'], f(3) + n(0) + n(1 << 32)),
                    job.message(NR['statx'], path + n(1 << 32)),
                    job.message(NR['mkdirat'], f(ROOT) + d(b'no end') + i(0)),
                    job.message(NR['mkdirat'], f(ROOT) + d(b'in\0side\0') + i(0)),
                    job.message(NR['mkdirat'], f(ROOT) + p('x' * 5000) + i(0))):
            self.start()
            peer = Peer(self.port)
            peer.send(raw)
            self.ends(1, 'has violated the protocol')
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
        # In repair mode a connection is closed without a packet to the peer
        peer.socket.setsockopt(socket.IPPROTO_TCP, 19, 1)
        peer.close()
        self.ends(1, 'has vanished')
        control.socket.close()

    def test_no_connection(self):
        self.start(wait=1)
        self.ends(1, 'no control connection was opened in time')

    def test_signal(self):
        self.start()
        peer = Peer(self.port)
        self.ciod.send_signal(signal.SIGTERM)
        self.ends(1, 'ended by a signal')
        with self.assertRaises(ConnectionError):
            peer.call('fsync', f(5))

    def spoiled(self, rng):
        """A few valid calls, with some bytes changed, removed or added."""
        raw = bytearray()
        for _ in range(rng.randrange(1, 12)):
            path = p(rng.choice(['a', 'b', '.', '..', 'a/b', '/', '../secret', '']))
            fd = f(rng.choice([ROOT, 4, 5, 6, 7, rng.getrandbits(32)]))
            signature = {'openat': fd + path + i(rng.getrandbits(11)) + i(0o755),
                         'mkdirat': fd + path + i(0o755), 'write': fd + d(rng.randbytes(99)),
                         'read': fd + n(rng.getrandbits(64)), 'close': fd,
                         'getdents64': fd + i(rng.getrandbits(20)),
                         'lseek': fd + n(rng.getrandbits(64)) + i(rng.randrange(6)),
                         'statx': fd + path + i(rng.choice([0, 0x100, 0x1000])),
                         'renameat2': fd + path + fd + path + i(rng.randrange(8)),
                         'symlinkat': path + fd + path, 'ftruncate': fd + n(rng.getrandbits(24)),
                         'fallocate': fd + i(rng.randrange(4)) + n(0) + n(rng.getrandbits(16)),
                         'truncate': path + n(rng.getrandbits(16)), 'statfs': path,
                         'fstatfs': fd, 'fdatasync': fd,
                         'utimensat': fd + path + (n(rng.getrandbits(64)) +
                                                   i(rng.getrandbits(32))) * 2 + i(0)}
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
            # A stream that happens to be valid ends without a goodbye
            self.assertEqual(self.ciod.wait(90), 1, f'seed {seed}: {self.said()}')
            self.assertRegex(self.said(), 'has vanished|has violated the protocol', f'seed {seed}')
            self.assertNotRegex(self.said(), 'Sanitizer|runtime error', f'seed {seed}')
            self.assertEqual((self.dir / 'secret').read_text(), 'secret')
            control.socket.close()


class Programs(Job):
    """Unmodified programs whose files cnk ships."""

    def run_job(self, script):
        self.start()
        return subprocess.run(
            [ZEPTO / 'launch', '-p', str(self.port), '--counts', self.dir / 'counts',
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

    def python(self, *lines):
        """Run Python code as a job."""
        (self.dir / 'program.py').write_text('import ctypes, os, socket, sys\n' + '\n'.join(lines))
        return self.run_job('python3 program.py')

    def good(self, done, wanted=None):
        self.assertEqual(done.returncode, 0, done.stdout)
        if wanted is not None:
            self.assertEqual(done.stdout, wanted)
        self.ends(0, 'has ended the job')

    def test_descriptors_belong_to_the_program(self):
        self.good(self.python(
            "a, b = socket.socketpair()",
            "fd = os.open('/bgl/a', os.O_CREAT | os.O_RDWR)",
            "for n in range(3, 60):",
            "    if n not in (fd, a.fileno(), b.fileno()): os.dup2(b.fileno(), n)",
            "os.write(fd, b'one')",
            "os.mkdir('/bgl/dir')",
            "a.setblocking(False)",
            "try: print(a.recv(100))",
            "except BlockingIOError: print('nothing')",
            "os.closerange(3, 1000)",
            "try: os.write(fd, b'gone')",
            "except OSError as error: print(error.strerror)",
            "print(os.open('/bgl/b', os.O_CREAT | os.O_RDWR))"),
            'nothing\nBad file descriptor\n3\n')
        self.assertEqual((self.root / 'a').read_text(), 'one')
        self.assertTrue((self.root / 'b').exists())

    def test_a_low_descriptor_of_the_shell(self):
        self.good(self.run_job('exec 3> local; echo mine >&3; exec 3> /bgl/there; echo its >&3\n'
                               'exec 3>&-; cat local /bgl/there'), 'mine\nits\n')

    def test_the_job_continues_after_a_program_ends(self):
        (self.root / 'big').write_bytes(b'x' * 3000000)
        self.good(self.run_job('cat /bgl/big | head -c 10; echo\n'
                               'sh -c "exec 9> /bgl/file; kill -9 \\$\\$"\n'
                               "python3 -c 'import ctypes, os; os.mkdir(\"/bgl/dir\")\n"
                               "ctypes.CDLL(None)._Exit(3)'; echo $?\n"
                               'timeout -s KILL 0.5 tail ---disable-inotify -f /bgl/file\n'
                               'exec cat /bgl/file'), 'x' * 10 + '\nKilled\n3\nKilled\n')
        self.assertTrue((self.root / 'dir').exists())

    def test_descriptors_are_inherited(self):
        self.good(self.run_job('ls -d / > /bgl/out; cat /bgl/out; exec 5<> /bgl/five\n'
                               'sh -c "echo one >&5; cat <&5"; echo two >&5; cat < /bgl/five\n'
                               'exec wc -l < /bgl/five'), '/\none\ntwo\n2\n')
        self.assertEqual((self.root / 'out').read_text(), '/\n')

    def test_unsupported_calls_fail(self):
        (self.root / 'file').write_text('#!/bin/sh\n')
        (self.root / 'file').chmod(0o777)
        self.good(self.python(
            "import errno, fcntl, mmap, select, shutil",
            "fd = os.open('/bgl/file', os.O_RDWR)",
            "def error(call, *args):",
            "    try: return call(*args)",
            "    except OSError as error: return errno.errorcode[error.errno]",
            "print(error(os.chdir, '/bgl'), error(os.execv, '/bgl/file', ['x']),",
            "      error(mmap.mmap, fd, 10), error(fcntl.flock, fd, fcntl.LOCK_EX),",
            "      error(fcntl.lockf, fd, fcntl.LOCK_EX), error(os.mkfifo, '/bgl/fifo'),",
            "      error(os.rename, '/bgl/file', '/tmp/file'), error(os.listxattr, '/bgl/file'),",
            "      error(select.epoll().register, fd), error(os.open, '/dev/fd/%d' % fd, 0),",
            "      error(os.open, '/bgl', os.O_TMPFILE | os.O_RDWR), error(os.isatty, fd),",
            "      error(os.lseek, fd, 0, 99), error(os.sendfile, 1, fd, 0, 10))",
            "print(shutil.copy('/bgl/file', '/bgl/copy'), 'CIOD_TOKEN' in os.environ)"),
            'EACCES EACCES ENODEV ENOLCK ENOLCK EPERM EXDEV ENOTSUP EPERM ENXIO ENOTSUP '
            'False EINVAL EINVAL\n/bgl/copy False\n')

    def test_a_signal_does_not_repeat_a_call(self):
        self.good(self.python(
            "import signal",
            "signal.signal(signal.SIGALRM, lambda *_: None)",
            "signal.setitimer(signal.ITIMER_REAL, 0.0003, 0.0003)",
            "fd = os.open('/bgl/file', os.O_WRONLY | os.O_CREAT | os.O_APPEND)",
            "for i in range(3000): os.write(fd, b'%04d\\n' % i)",
            "signal.setitimer(signal.ITIMER_REAL, 0)"), '')
        self.assertEqual((self.root / 'file').read_text(),
                         ''.join(f'{i:04}\n' for i in range(3000)))

    def test_remaining_processes_are_killed(self):
        started = time.monotonic()
        self.good(self.run_job('(sleep 1000; touch /bgl/late) & setsid sleep 1000 &\n'
                               'echo $! > /bgl/pid'), '')
        self.assertLess(time.monotonic() - started, 60)
        self.assertFalse(pathlib.Path('/proc', (self.root / 'pid').read_text().strip()).exists())

    def test_the_status_of_the_command(self):
        for script, status in ('exit 7', 7), ('kill -9 $$', 137), ('exec nowhere', 127), ('', 0):
            self.assertEqual(self.run_job(script).returncode, status, script)
            self.ends(0, 'has ended the job')

    def test_others_cannot_write_counts(self):
        self.good(self.run_job('umask 0; mkdir /bgl/open'), '')
        self.assertEqual((self.root / 'open').stat().st_mode & 0o777, 0o777)
        modes = [path.stat().st_mode & 0o777 for path in self.dir.glob('counts.*')]
        self.assertEqual(modes, [0o644])

    def test_the_command_ends_with_the_job(self):
        done = self.run_job('touch /bgl/begun; kill $(cat pid); sleep 1000')
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn('Traceback', done.stdout)
        self.ends(1, 'ended by a signal')

    def test_many_programs_at_once(self):
        self.good(self.run_job('for i in $(seq 70); do (exec 9> /bgl/f$i; sleep 2; '
                               'echo $i >&9) & done; wait; cat /bgl/* | wc -l'), '70\n')

    def test_every_kind_of_call(self):
        for program in 'test_files', 'test_files-static':
            path = BUILD / 'tests/unit/zepto' / program
            done = subprocess.run([path, self.dir], stdout=subprocess.PIPE, encoding='utf-8')
            self.assertEqual(done.returncode, 0, done.stdout)
            self.good(self.run_job(f'{path} /bgl'))
            self.assertEqual(list(self.root.iterdir()), [])

    def test_paths_outside_the_mount(self):
        done = self.run_job('cat /bgl/../../etc/passwd /bglx; cat //bgl/./x /bgl/secret')
        self.assertIn('cat: /bgl/../../etc/passwd: No such file', done.stdout)
        self.assertIn('cat: /bglx: No such file', done.stdout)
        self.assertIn('cat: //bgl/./x: No such file', done.stdout)
        self.ends(0, 'has ended the job')

    def test_fork(self):
        self.good(self.python(
            "fd = os.open('/bgl/file', os.O_RDWR | os.O_CREAT)",
            "pid = os.fork()",
            "if not pid:",
            "    os.mkdir('/bgl/child')",
            "    os._exit(os.write(fd, b'child'))",
            "print(os.waitpid(pid, 0)[1] >> 8, os.write(fd, b'parent'))"), '5 6\n')
        self.assertEqual((self.root / 'file').read_text(), 'childparent')
        self.assertTrue((self.root / 'child').is_dir())


class Calls(unittest.TestCase):
    """The system calls of cnk, of the kernel and of the manual page."""

    def setUp(self):
        self.source = (BGL / 'cnk/calls.c').read_text()

    def test_each_call_of_the_kernel_is_accounted_for(self):
        preprocessed = subprocess.run(
            ['cc', '-E', '-dM', '-'], input='#include <sys/syscall.h>', check=True,
            stdout=subprocess.PIPE, encoding='utf-8').stdout
        kernel = dict(re.findall(r'#define __NR_(\w+) (\d+)', preprocessed))
        listed = re.findall(r'\b(?:SHIP|FAIL|FAIL_EITHER)\((\w+), (?:[A-Z]+|\d), ', self.source)
        others = NOT_ON_FILES.split()
        self.assertEqual(len(listed), len(set(listed)))
        self.assertFalse(set(listed) & set(others))
        last = int(re.search(r'CNK_LAST_CALL (\d+)', (BGL / 'cnk/calls.h').read_text())[1])
        known = {name for name, number in kernel.items() if int(number) <= last}
        self.assertEqual(known - NEWER, set(listed) | set(others))

    def test_the_manual_lists_unsupported_calls(self):
        fail = set(re.findall(r'\bFAIL(?:_EITHER)?\((\w+), .*?(E[A-Z]+)\)', self.source))
        section = (BGL / 'cnk/cnk.8').read_text().split('.SH CALLS THAT FAIL')[1].split('.PP\n')[0]
        listed = set()
        for group in section.split('.TP\n')[1:]:
            error = group.split('\n')[0].removeprefix('.B ')
            for line in re.findall(r'^\.BR? (.*)$', group, re.M)[1:]:
                # fcntl (2) and similar calls fail in part; their section follows the name
                words = [] if '(2)' in line else re.sub(r'"[^"]*"', ' ', line).split()
                listed |= {(word, error) for word in words if re.fullmatch(r'[a-z_0-9]+', word)}
        self.assertEqual(listed, fail)


class Made(unittest.TestCase):

    def test_does_not_use_ktau(self):
        for name in 'ciod', 'cnk':
            program = (BUILD / 'tests/bgl' / name / name).read_bytes().lower()
            # But for the folder of the sources, which the debugging information names
            for folder in BUILD, pathlib.Path.cwd():
                program = program.replace(str(folder).lower().encode(), b'')
            self.assertFalse(b'ktau' in program, name)
        for made in (BUILD / 'tests/bgl').rglob('*.d'):
            self.assertNotRegex(made.read_text(), r'ktau\w*\.h')


def main():
    if os.geteuid():
        if not shutil.which('newuidmap'):
            print('1..0 # SKIP needs root, or newuidmap (uidmap)')
            return
        os.execvp('unshare', ['unshare', '--user', '--map-root-user', '--map-auto',
                              sys.executable, *sys.argv])
    os.environ['PYTHONDONTWRITEBYTECODE'] = '1'
    runner = TAPTestRunner()
    runner.set_stream(True)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], warnings='ignore',
                  testRunner=runner)


if __name__ == '__main__':
    main()
