#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Kernel profiles and their images, without compiling a kernel: test_zepto.py BUILD."""

import argparse
import contextlib
import gzip
import importlib.machinery
import importlib.util
import io
import ipaddress
import json
import os
import pathlib
import re
import secrets
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
from unittest import mock
import zlib

from tap import TAPTestRunner

import board
from image import image, settings
from jobs import collect, job

BUILD = pathlib.Path(sys.argv[1]).resolve()
HERE = pathlib.Path(__file__).resolve().parent
ZEPTO = pathlib.Path('zepto-config').resolve()


def load(name):
    """A command of zepto-config as a module."""
    loader = importlib.machinery.SourceFileLoader(f'script_{name}', str(ZEPTO / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


BUILD_ID = bytes(range(20))
SYSTEM_MAP = 'c0000000 T _text\nc0000040 R __start_notes\nc0000064 R __stop_notes\n'


def uimage(time):
    """The smallest kernel with a header and a build-id."""
    body = gzip.compress(bytes(64) + image.GNU_BUILD_ID + BUILD_ID, mtime=0)
    head = bytearray(struct.pack('>7I4B32s', image.MAGIC_UIMAGE, 0, time, len(body), 0, 0,
                                 zlib.crc32(body), 5, 7, 2, 1, b'Linux'))
    struct.pack_into('>I', head, 4, zlib.crc32(head))
    return bytes(head) + body


class Case(unittest.TestCase):

    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.dir = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        self.dir.joinpath('more').write_text('more')
        self.dir.joinpath('70more').write_text('#!/bin/sh\n')
        self.dir.joinpath('71bad').write_text('#!/bin/sh\nif true\nfi\n')
        self.dir.joinpath('72none').write_text('echo\n')
        self.dir.joinpath('kernel').write_bytes(uimage(1234))
        self.dir.joinpath('System.map').write_text(SYSTEM_MAP)

    def write(self, text, name='a.conf'):
        path = self.dir / name
        path.write_text(text)
        return path

    def error(self, function, *args, **more):
        with self.assertRaises(settings.Error) as raised:
            function(*args, **more)
        return str(raised.exception).replace(str(self.dir), 'DIR')


class Profiles(Case):

    def test_errors_name_file_line_and_reason(self):
        for text, wanted in [
                ('groups=syscall,disk\n', "DIR/a.conf:1: groups: there is no group 'disk'"),
                ('# x\n\ncolour=red\n', "DIR/a.conf:3: there is no key 'colour'"),
                ('kernel\n', "DIR/a.conf:1: 'kernel' is not key=value"),
                ('period=1\nperiod=2\n', 'DIR/a.conf:2: period is already set in line 1'),
                ('period=0\n', "DIR/a.conf:1: period: '0' is not a time"),
                ('period=2w\n', "DIR/a.conf:1: period: '2w' is not a time"),
                ('period=\n', "DIR/a.conf:1: period: '' is not a time"),
                ('mode=some\n', "DIR/a.conf:1: mode: 'some' is not one of all, self, pid, name"),
                ('mode=pid\n', 'DIR/a.conf:1: mode pid requires a line pid='),
                ('pid=12,x\n', "DIR/a.conf:1: pid: 'x' is not a process id"),
                ('name=a b\n', 'DIR/a.conf:1: name: names must be separated by commas'),
                ('info=all\n', "DIR/a.conf:1: info: 'all' is not one of profile, trace, both"),
                ('memory=1G\n', "DIR/a.conf:1: memory: '1G' is not between"),
                ('memory=much\n', "DIR/a.conf:1: memory: 'much' is not a size"),
                ('kernel=new\n', "DIR/a.conf:1: kernel: 'new' is neither a version"),
                ('kernel=./none\n', 'DIR/a.conf:1: kernel: ./none: no such file'),
                ('toolchain=gcc\n', 'DIR/a.conf:1: toolchain: the prefix'),
                ('\nfile=none:/x\n', 'DIR/a.conf:2: file: none: no such file'),
                ('file=more\n', 'DIR/a.conf:1: file: a file must be HOST-PATH:/TARGET'),
                ('file=more:x\n', "DIR/a.conf:1: file: 'x' is not an absolute path"),
                ('file=more:/a/../x\n', "DIR/a.conf:1: file: '/a/../x' is not an absolute path"),
                ('file=more:/x:9\n', "DIR/a.conf:1: file: '9' is not a mode"),
                ('file=more:/x\nfile=more:/x\n', 'DIR/a.conf:2: /x is already set in line 1'),
                ('\nfile=more:/var/x\n', 'DIR/a.conf:2: file: /var/x would be hidden on the I/O node'),
                ('file=more:/proc/a/b\n', 'DIR/a.conf:1: file: /proc/a/b would be hidden'),
                ('file=more:/a\nfile=more:/a/b\n', 'DIR/a.conf:2: file: /a is a file: line 1'),
                ('file=more:/a/b\nfile=more:/a\n', 'DIR/a.conf:1: file: /a is a file: line 2'),
                ('rc=71bad\n', 'DIR/a.conf:1: rc: 71bad: line 3: syntax error'),
                ('rc=72none\n', 'DIR/a.conf:1: rc: 72none: does not begin with #!'),
                ('rc=more\n', 'DIR/a.conf:1: rc: the name of an rc script must begin'),
                ('rc=71none\n', 'DIR/a.conf:1: rc: 71none: no such file')]:
            with self.subTest(text):
                self.assertIn(wanted, self.error(settings.read, self.write(text)))
        self.assertIn('DIR/none: No such file', self.error(settings.read, self.dir / 'none'))
        (self.dir / 'raw').write_bytes(b'\xff\xfe')
        self.assertIn('DIR/raw: not a text file', self.error(settings.read, self.dir / 'raw'))

    def test_text_and_back(self):
        text = 'groups=tcp,socket\nperiod=250ms\nmode=pid\npid=1,2\nfile=more:/etc/more:600\n' \
               'file=more:/b\nrc=70more\nkernel=./kernel\n'
        first = settings.read(self.write(text))
        again = settings.read(self.write(first.text(), 'b.conf'))
        for key in settings.KEYS:
            self.assertEqual([v for _, v in first.all(key)],
                             [v for _, v in again.all(key)] if first.all(key) else [])
            self.assertEqual(first.get(key), again.get(key))
        self.assertEqual(settings.ktaud_conf(first).splitlines()[1:], [
            'sample_period 250ms', 'mode pid', 'info profile', 'groups tcp,socket',
            'output_dir /var/job/ktau', 'rotate_size 8388608', 'pid 1,2'])

    def test_ktaud_accepts_the_configuration(self):
        # It complains about the missing kernel, not about its configuration
        for text in ('', 'mode=all\ninfo=both\n', 'mode=self\nperiod=250ms\n',
                     'mode=pid\npid=1,2\ngroups=tcp,socket\n', 'name=ciod,kthread*\nperiod=1.5\n'):
            conf = self.write(settings.ktaud_conf(settings.read(self.write(text))), 'ktaud.conf')
            done = subprocess.run([BUILD / 'ktaud/ktaud', '-1', '-f', conf, '--root', self.dir,
                                   '-d', self.dir / 'data'],
                                  stderr=subprocess.PIPE, encoding='utf-8', timeout=60)
            self.assertNotIn('ktaud.conf', done.stderr)
            self.assertIn('No such file', done.stderr)

    def test_shipped_profiles(self):
        for path in sorted((ZEPTO / 'profiles').glob('*.conf')):
            settings.read(path)


class Configure(Case):

    def run_it(self, *args, said=''):
        return subprocess.run([ZEPTO / 'configure', *args], cwd=self.dir, input=said,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              encoding='utf-8', timeout=60)

    def test_creates_a_profile(self):
        done = self.run_it('new.conf', 'period=2', 'file=more:/x')
        self.assertEqual((done.returncode, done.stdout), (0, ''))
        new = settings.read(self.dir / 'new.conf')
        self.assertEqual((new.get('period'), new.get('name')), ('2', 'ciod'))
        done = self.run_it('new.conf', 'period=3')
        self.assertEqual(settings.read(self.dir / 'new.conf').get('period'), '3')
        self.assertEqual(len(settings.read(self.dir / 'new.conf').all('file')), 1)

    def test_commands_of_the_page(self):
        """Those that need neither kernel nor board, and the options of the others."""
        text = pathlib.Path('docs/user/zepto.md').read_text(encoding='utf-8')
        commands = re.findall(r'(?m)^\$ zepto-config/((?:.*\\\n)*.*)', text)
        ran = []
        for command in commands:
            name, *words = shlex.split(command, comments=True)
            ran.append(name)
            if name == 'configure':
                done = self.run_it(*words, said='s\n')
                self.assertEqual(done.returncode, 0, done.stdout)
                continue
            listing = words == ['--list']
            done = subprocess.run([ZEPTO / name, *(words if listing else ['--help'])],
                                  stdout=subprocess.PIPE, check=True, encoding='utf-8')
            for word in [] if listing else words:
                option = word.partition('=')[0]
                self.assertTrue(not word.startswith('-') or option in done.stdout, command)
        self.assertEqual(sorted(ran), ['build', 'configure', 'configure', 'launch', 'submit',
                                       'submit', 'submit'])
        self.assertEqual(settings.read(self.dir / 'my.conf').get('period'), '250ms')

    def test_errors_change_nothing(self):
        path = self.write('period=2\n')
        for change, wanted in (('groups=disk', 'there is no group'), ('x=1', 'there is no key'),
                               ('nonsense', 'is not KEY=VALUE'), ('rc=99none', 'no such file')):
            done = self.run_it('a.conf', change)
            self.assertEqual(done.returncode, 1)
            self.assertIn(wanted, done.stdout)
            self.assertEqual(path.read_text(), 'period=2\n')
        self.assertEqual(len(list(self.dir.iterdir())), 7)

    def test_errors_can_be_repaired(self):
        path = self.write('period=never\ngroups=tcp\ncolour=red\nnonsense\nfile=gone:/x\n')
        before = path.read_text()
        done = self.run_it('a.conf', 'period=2')
        self.assertEqual((done.returncode, path.read_text()), (1, before))
        for wanted in ("a.conf:3: there is no key 'colour'", "a.conf:4: 'nonsense' is not",
                       'a.conf:5: file: gone: no such file'):
            self.assertIn(wanted, done.stdout)
        self.assertNotIn('a.conf:1:', done.stdout)
        done = self.run_it('--edit', 'a.conf', said='s\n')
        self.assertIn("a.conf:1: period: 'never' is not a time", done.stdout)
        self.assertEqual((done.returncode, done.stdout.count('left out')), (0, 4), done.stdout)
        made = settings.read(path)
        self.assertEqual((made.get('groups'), made.get('period'), made.all('file')),
                         ('tcp', '1', []))

    def test_menu(self):
        number = {key: str(n) for n, key in enumerate(settings.KEYS, 1)}
        done = self.run_it('--edit', 'm.conf', said='\n'.join([
            number['period'], '0.25', number['groups'], 'disk', number['groups'], 'tcp',
            number['file'], 'more:/x', number['rc'], '70more', '99', 's', '']))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("there is no group 'disk'", done.stdout)
        made = settings.read(self.dir / 'm.conf')
        self.assertEqual((made.get('period'), made.get('groups')), ('0.25', 'tcp'))
        self.assertEqual(made.all('rc')[0][1], '70more')
        before = (self.dir / 'm.conf').read_text()
        for said in (f'{number["period"]}\n9\nq\n', f'{number["period"]}\n9\n'):
            done = self.run_it('--edit', 'm.conf', said=said)
            self.assertEqual(done.returncode, 1)
            self.assertEqual((self.dir / 'm.conf').read_text(), before)
        done = self.run_it('--edit', 'm.conf', said=f'{number["file"]}\n-\ns\n')
        self.assertEqual(settings.read(self.dir / 'm.conf').all('file'), [])


class Images(Case):

    PROGRAMS = {'sbin/ktaud': b'ktaud', 'bin/busybox': b'busybox'}
    LINKS = ['/bin/sh', '/usr/bin/env']

    def setUp(self):
        super().setUp()
        self.build = load('build')
        self.out = self.dir / 'images/a'

    def make(self, text, **more):
        # Any compiler will do, because nothing is compiled
        config = settings.read(self.write(f'kernel=./kernel\n{text}'))
        self.build.build(config, self.out, programs=more.get('programs', self.PROGRAMS),
                         links=self.LINKS)

    def test_builds_are_reproducible(self):
        self.make('file=more:/b/more:600\nrc=70more\nfile=more:/a\n')
        first = {path.name: path.read_bytes() for path in self.out.iterdir()}
        self.assertEqual(sorted(first), sorted(self.build.PARTS))
        self.assertEqual(first['System.map'].decode(), SYSTEM_MAP)
        self.assertEqual(first['build-id'].decode(), f'{BUILD_ID.hex()}\n')
        # Times and order of the files' creation must not be in it
        os.utime(self.dir / 'more', (1, 1))
        (self.dir / 'kernel').write_bytes(uimage(5678))
        programs = dict(reversed(self.PROGRAMS.items()))
        self.make('file=more:/b/more:600\nrc=70more\nfile=more:/a\n', programs=programs)
        self.assertEqual(first, {path.name: path.read_bytes() for path in self.out.iterdir()})
        self.assertEqual(first['uImage'], uimage(0))
        subprocess.run(['sha256sum', '--quiet', '-c', 'SHA256SUMS'], cwd=self.out, check=True)

    def test_contents_of_the_image(self):
        self.make('file=more:/b/more:600\nrc=70more\n')
        listed = subprocess.run(f'gzip -dc {self.out}/ramdisk.gz | cpio -itvn --quiet', shell=True,
                                check=True, stdout=subprocess.PIPE, encoding='utf-8').stdout
        for wanted in (r'-rwxr-xr-x +1 0 +0 +\d+ Jan +1 +1970 init\n', r'-rw------- .* b/more\n',
                       r'-rwxr-xr-x .* etc/rc.d/70more\n', r'-rwxr-xr-x .* etc/rc.d/50ktaud\n',
                       r'lrwxrwxrwx .* bin/sh -> /bin/busybox\n', r'-rwxr-xr-x .* sbin/ktaud\n',
                       r'crw------- .* 5, +1 .* dev/console\n', r'-rw-r--r-- .* etc/ktaud.conf\n'):
            self.assertRegex(listed, wanted)

    def test_no_partial_image(self):
        big = self.dir / 'big'
        big.write_bytes(os.urandom(48 << 20))
        self.make('')
        before = {path.name: path.read_bytes() for path in self.out.iterdir()}
        for text, wanted in [
                ('memory=64M\nfile=big:/big\n',
                 'DIR/a.conf:2: the ramdisk has 49172 KiB, 49168 KiB unpacked: a board with 64M'),
                ('toolchain=nowhere-\n', 'DIR/a.conf:2: toolchain: nowhere-gcc is not installed'),
                ('toolchain=x86_64-linux-gnu-\n',
                 'DIR/a.conf:2: toolchain: x86_64-linux-gnu-gcc compiles for x86_64-linux-gnu'),
                ('file=more:/sbin/ktaud/x\n', 'DIR/a.conf:2: file: /sbin/ktaud is a file'),
                ('file=more:/sbin/ktaud\n', 'DIR/a.conf:2: file: /sbin/ktaud is already part of the image')]:
            said = self.error(self.make, text)
            self.assertRegex(said, wanted.replace('49172', r'\d+').replace('49168', r'\d+'))
            self.assertEqual([path.name for path in self.out.parent.iterdir()], ['a'])
            self.assertEqual(before, {p.name: p.read_bytes() for p in self.out.iterdir()})
        self.make('memory=256M\nfile=big:/big\n')
        (self.dir / 'kernel').write_bytes(b'ELF')
        self.assertIn('DIR/a.conf:1: kernel: DIR/kernel: not a uImage', self.error(self.make, ''))

    def test_the_map_of_another_kernel(self):
        for text, wanted in [
                (SYSTEM_MAP.replace('c0000040', 'c0000044'), 'belongs to another kernel'),
                (SYSTEM_MAP.replace('c0000000', 'ffffffff81000000'), 'belongs to another kernel'),
                ('c0000000 T _text\n', "the System.map contains no symbol '__start_notes'")]:
            (self.dir / 'System.map').write_text(text)
            self.assertRegex(self.error(self.make, ''), f'^DIR/a.conf:1: kernel: .*{wanted}')
        (self.dir / 'System.map').unlink()
        self.assertIn('there is no System.map', self.error(self.make, ''))
        self.assertFalse(self.out.exists())

    def export(self, text='', board='10.0.0.2/24'):
        """Export to DIR/export; returns the error, if any."""
        self.make('device_tree=./tree.dtb\n' + text)
        a = argparse.Namespace(address=ipaddress.IPv4Interface(board),
                               collector=('10.0.0.1', 7201))
        with contextlib.redirect_stdout(io.StringIO()) as said:
            self.build.export(settings.read(self.dir / 'a.conf'), self.out, self.dir / 'export', a)
        return said.getvalue()

    def test_export(self):
        (self.dir / 'tree.dtb').write_bytes(b'tree')
        self.assertIn('launch --address=10.0.0.2 --collect=FOLDER --listen=10.0.0.1:7201 ',
                      self.export())
        made = self.dir / 'export'
        self.assertEqual({path.name for path in made.iterdir()}, self.build.EXPORTED)
        self.assertEqual((made / 'device-tree.dtb').read_bytes(), b'tree')
        self.assertEqual((made / 'job').stat().st_mode & 0o777, 0o600)
        for name, wanted in ('uImage', 'PowerPC Linux Kernel Image (gzip compressed)'), \
                ('ramdisk.uboot', 'PowerPC Linux RAMDisk Image (uncompressed)'), \
                ('boot.scr', 'PowerPC Linux Script (uncompressed)'):
            listed = subprocess.run(['dumpimage', '-l', made / name], check=True,
                                    stdout=subprocess.PIPE, encoding='utf-8').stdout
            self.assertIn(wanted, listed)
            # Checks both checksums; mkimage -l does not report a wrong one
            subprocess.run(['mkimage', '-l', made / name], check=True, stdout=subprocess.PIPE)
        self.assertIn((made / 'boot.txt').read_bytes(), (made / 'boot.scr').read_bytes())
        # The ramdisk of the image is followed by the job
        packed = (made / 'ramdisk.uboot').read_bytes()[64:]
        self.assertTrue(packed.startswith((self.out / 'ramdisk.gz').read_bytes()))
        inside = board.files(gzip.decompress(packed))
        self.assertEqual(inside['etc/job/ciod'], (made / 'job').read_bytes())
        self.assertIn(b'ADDRESS=10.0.0.2\nNETMASK=255.255.255.0\n', inside['etc/job/node'])
        self.assertIn(b'HOME_ADDRESS=10.0.0.1\nHOME_PORT=7201\n', inside['etc/job/node'])
        # Another export has another token
        before = (made / 'job').read_bytes()
        self.export()
        self.assertNotEqual(before, (made / 'job').read_bytes())
        (made / 'mine').write_text('mine')
        with self.assertRaisesRegex(self.build.Error, 'cannot replace .*export: it is not an image'):
            self.export()

    def test_only_an_image_is_replaced(self):
        self.out.mkdir(parents=True)
        self.make('')
        image = sorted(self.out.iterdir())
        self.make('')
        for name in 'notes', 'uImage.mine':
            self.out.joinpath(name).write_text('mine')
            with self.assertRaisesRegex(self.build.Error, 'cannot replace .*images/a: it is not an image'):
                self.make('')
            self.assertEqual(sorted(self.out.iterdir()), sorted([*image, self.out / name]))
            self.out.joinpath(name).unlink()
        self.out.joinpath('uImage').unlink()
        with self.assertRaisesRegex(self.build.Error, 'not an image'):
            self.make('')
        self.assertEqual(len(list(self.out.iterdir())), 5)
        self.out = self.dir / 'file'
        self.out.write_text('mine')
        with self.assertRaisesRegex(self.build.Error, 'not an image'):
            self.make('')
        self.assertEqual(self.out.read_text(), 'mine')

    def test_disk_full(self):
        self.make('')
        before = sorted(self.out.iterdir())
        write = pathlib.Path.write_bytes

        def fail(path, data):
            if path.name == 'uImage':
                raise OSError(28, 'No space left on device', str(path))
            return write(path, data)

        self.stack.callback(setattr, pathlib.Path, 'write_bytes', write)
        pathlib.Path.write_bytes = fail
        with self.assertRaises(OSError):
            self.build.build(settings.read(self.dir / 'a.conf'), self.out, self.PROGRAMS)
        self.assertEqual([path.name for path in self.out.parent.iterdir()], ['a'])
        self.assertEqual(before, sorted(self.out.iterdir()))


class Collecting(Case):
    """Receiving a recording."""

    def setUp(self):
        super().setUp()
        self.out = self.dir / 'out/in'
        self.out.mkdir(parents=True)
        server = mock.patch.object(collect.Server, '_start')
        server.start()
        self.addCleanup(server.stop)
        self.dumps = collect.Collector('token', self.out)
        self.addCleanup(self.dumps.close)

    def connect(self):
        s = self.stack.enter_context(socket.create_connection(('127.0.0.1', self.dumps.port), 10))
        return s

    def send(self, data):
        with contextlib.suppress(OSError), self.connect() as s:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            while s.recv(4096):
                pass

    @staticmethod
    def archive(*names, headers=None):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode='w') as tar:
            for name in names:
                member = tarfile.TarInfo(name)
                member.size, member.pax_headers = 4, headers or {}
                tar.addfile(member, io.BytesIO(b'data'))
            link = tarfile.TarInfo('./link')
            link.type, link.linkname = tarfile.SYMTYPE, '/etc/passwd'
            tar.addfile(link)
        return out.getvalue()

    def test_only_its_own_files(self):
        (self.out / 'mine').write_text('mine')
        (self.out / 'there').symlink_to(self.dir / 'more')
        self.send(b'wrong\n' + self.archive('./wrong'))
        self.send(b'token\n' + self.archive('./a.ktau', '../up', '/abs', 'sub/x', 'mine',
                                                    './.hidden', 'there'))
        self.dumps.check()
        self.assertEqual(sorted(path.name for path in self.out.iterdir()),
                         ['a.ktau', 'mine', 'there'])
        self.assertEqual([path.name for path in self.out.parent.iterdir()], ['in'])
        self.assertEqual((self.out / 'mine').read_text(), 'mine')
        self.assertEqual((self.dir / 'more').read_text(), 'more')

    def test_landed_files_and_the_rest(self):
        landed = self.out / 'ionode'
        landed.mkdir()
        (landed / 'a.ktau').write_text('one')
        self.assertEqual(self.dumps.recorded, 3)
        self.send(b'token\n' + self.archive('./ktau/b.ktau', './ciod.log') + bytes(9000))
        with self.assertRaisesRegex(job.Error, 'ciod has ended with status unknown'):
            self.dumps.await_rest()
        self.assertEqual({path.name: path.read_text() for path in self.out.iterdir()},
                         {'a.ktau': 'one', 'b.ktau': 'data', 'ciod.log': 'data'})

    def test_nothing_received(self):
        with self.assertRaisesRegex(job.Error, 'has not sent its final dump'):
            self.dumps.check()

    def test_damaged(self):
        self.send(b'token\n' + b'nonsense' * 999)
        with self.assertRaisesRegex(job.Error, 'is damaged'):
            self.dumps.check()

    def test_too_much(self):
        with mock.patch.object(collect, 'MOST_BYTES', 100000):
            self.send(b'token\n' + self.archive('./a', './b') + bytes(200000))
        with self.assertRaisesRegex(job.Error, 'more than 100000 bytes'):
            self.dumps.check()

    def test_files_that_are_larger_than_in_the_archive(self):
        for keyword in 'size', 'realsize':
            with mock.patch.object(collect, 'MOST_BYTES', 100000):
                self.send(b'token\n' + self.archive(
                    './a', headers={f'GNU.sparse.{keyword}': '100001'}) + self.archive('./b'))
            self.assertEqual(list(self.out.iterdir()), [])
        with self.assertRaisesRegex(job.Error, 'its files have more than 100000 bytes'):
            self.dumps.check()

    def test_many_files_take_no_memory(self):
        data, opened, real = self.archive('a', *['a'] * 999), [], tarfile.open
        with mock.patch.object(tarfile, 'open', lambda **how: opened.append(real(**how)) or
                               opened[0]):
            self.send(b'token\n' + data)
        self.dumps.check()
        self.assertLess(len(opened[0].members), 2)

    def test_silent_connections_do_not_block_others(self):
        # Far more than a slow machine needs
        self.stack.enter_context(mock.patch.object(collect, 'HELLO_SECONDS', 3600))
        silent = [self.connect() for _ in range(collect.MOST_UNKNOWN + 2)]
        self.send(b'token\n' + self.archive('./a.ktau'))
        self.dumps.check()
        # The oldest ones have made room
        self.assertEqual([s.recv(1) for s in silent[:3]], [b''] * 3)
        # The request was served before the last silent connection timed out
        for s in silent[3:]:
            s.setblocking(False)
            with self.assertRaises(BlockingIOError):
                s.recv(1)

    def test_the_node_tries_again(self):
        """The script of the ramdisk, if the first connections are refused."""
        programs, work = self.dir / 'bin', self.dir / 'job'
        programs.mkdir()
        work.mkdir()
        (work / 'ship.status').write_text('0\n')
        (work / 'node').write_text('TOKEN=token HOME_ADDRESS=here HOME_PORT=1\n')
        for name, text in ('dmesg', ''), ('usleep', ''), ('nc', f"""
echo try >> {self.dir}/tries
[ "$(wc -l < {self.dir}/tries)" -gt $REFUSED ] && cat > {self.dir}/sent"""):
            (programs / name).write_text(f'#!/bin/sh\n{text}\n')
            (programs / name).chmod(0o755)
        script = (ZEPTO / 'image/ramdisk/rc.d/30dumps').read_text()
        for path, ours in ('/etc/job', work), ('/var/job', work), ('/proc/ktau', work):
            script = script.replace(path, str(ours))
        for refused, status in (2, 0), (9, 1):
            done = subprocess.run(['sh', '-c', script, '30dumps', 'stop'], check=False, env={
                'PATH': f'{programs}:{os.environ["PATH"]}', 'REFUSED': str(refused)},
                stderr=subprocess.DEVNULL)
            self.assertEqual(done.returncode, status)
            self.assertEqual((self.dir / 'tries').read_text().count('try'), 3 if refused == 2 else 5)
            (self.dir / 'tries').unlink()
        self.send((self.dir / 'sent').read_bytes())
        self.assertEqual((self.out / 'ship.status').read_text(), '0\n')


@unittest.skipUnless(shutil.which('nats-server', path=f'{os.environ["PATH"]}:/usr/sbin') and
                     (BUILD / 'ktaud/ship/ktau-land').exists(), 'without nats-server or libnats')
class Submit(Case):
    """Jobs, with a process of this machine as the I/O node."""

    def setUp(self):
        super().setUp()
        programs = self.dir / 'bin'
        programs.mkdir()
        (programs / 'qemu-system-ppc').symlink_to(HERE / 'board.py')
        self.b = self.dir / 'build'
        made = self.b / 'zepto/a'
        made.mkdir(parents=True)
        (made / 'uImage').write_bytes(uimage(0))
        (made / 'System.map').write_text(SYSTEM_MAP)
        (made / 'build-id').write_text(f'{BUILD_ID.hex()}\n')
        (made / 'profile.conf').write_text('memory=256M\n')
        (made / 'ramdisk.gz').write_bytes(image.compress(image.Tree().cpio(0)))
        (self.b / 'tests/bgl/cnk').mkdir(parents=True)
        (self.b / 'tests/bgl/cnk/cnk').symlink_to(BUILD / 'tests/bgl/cnk/cnk')
        (self.b / 'ktaud/ship').mkdir(parents=True)
        (self.b / 'ktaud/ship/ktau-land').symlink_to(BUILD / 'ktaud/ship/ktau-land')
        self.env = {**os.environ, 'B': str(self.b), 'PATH': f'{programs}:{os.environ["PATH"]}',
                    'SHIP': str(BUILD / 'ktaud/ship/ktaud-ship'), 'CIOD': str(BUILD / 'tests/bgl/ciod/ciod'), 'TMPDIR': str(self.dir)}

        self.addCleanup(lambda: self.waits(self.nothing_is_left))

    def nothing_is_left(self):
        """Whether no process has this test's folder in its environment any more."""
        mark = os.fsencode(f'TMPDIR={self.dir}')
        for path in pathlib.Path('/proc').glob('[0-9]*/environ'):
            with contextlib.suppress(OSError):
                if mark in path.read_bytes():
                    return False
        return True

    def start(self, *args, board=''):
        return subprocess.Popen([ZEPTO / 'submit', *args], env={**self.env, 'BOARD': board},
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                encoding='utf-8', start_new_session=True)

    def submit(self, script, *options, board=''):
        process = self.start('-k', 'a', *options, 'sh', '-c', script, board=board)
        self.said = process.communicate(timeout=60)[0]
        return process.returncode

    def jobs(self):
        return sorted(path for path in self.b.glob('jobs/a/2*'))

    @staticmethod
    def free_port():
        with socket.socket() as s:
            s.bind(('127.0.0.1', 0))
            return s.getsockname()[1]

    @staticmethod
    def recorded(out):
        """The received part of the job's recording."""
        return b''.join(path.read_bytes() for path in out.rglob('*.ktau'))

    def waits(self, condition):
        deadline = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def await_text(self, process, text):
        for line in process.stdout:
            if line == f'{text}\n':
                return
        self.fail(f'no message {text}')

    def token_is_nowhere(self):
        self.assertEqual([path for path in self.dir.rglob('*') if path.name == 'ramdisk'], [])

    def test_a_job(self):
        self.assertEqual(self.submit('echo x > /bgl/x; cat /bgl/x; exit 3'), 3, self.said)
        self.assertIn('x\n', self.said)
        out, = self.jobs()
        self.assertEqual((out / 'ciod.status').read_text(), '0\n')
        self.assertIn(b'end\n', self.recorded(out))
        self.assertEqual(len(list(out.glob('counts.*'))), 1)
        self.assertEqual((out.parent / 'last').resolve(), out.resolve())
        self.token_is_nowhere()

    def test_the_status_reports_failures(self):
        self.assertEqual(self.submit('sh -c "kill -9 \\$\\$"; true'), 0, self.said)
        self.assertEqual(self.submit('kill -9 $$'), 137, self.said)
        self.assertEqual(self.submit('true', board='mute'), 1)
        self.assertIn('has not sent its final dump', self.said)
        self.assertEqual(self.submit('true', board='7'), 1)
        self.assertIn('ktaud has ended with status 7', self.said)
        self.assertEqual(self.submit('exit 5', board='7'), 5)
        self.assertEqual(self.submit('true', board='broken'), 1)
        self.assertIn('has not booted: /etc/rc.d/70more start: status 3', self.said)

    def test_a_node_that_panics(self):
        # The node ends as soon as a part of its recording has arrived
        script = f'until [ -s "$(echo {self.b}/jobs/a/2*/ionode/*.ktau)" ]; do sleep 0.1; done; ' \
                 'mkdir /bgl/panic; sleep 1000'
        self.assertNotEqual(self.submit(script, board='panic'), 0)
        self.assertIn('has not sent its final dump', self.said)
        self.assertIn(b'part ', self.recorded(self.jobs()[0]))

    def test_signals_end_the_job(self):
        for number in signal.SIGINT, signal.SIGTERM:
            process = self.start('-k', 'a', 'sh', '-c', 'touch /bgl/x; echo running; sleep 1000')
            self.await_text(process, 'running')
            process.send_signal(number)
            said = process.communicate(timeout=60)[0]
            self.assertEqual(process.returncode, 128 + number, said)
            self.assertNotIn('Traceback', said)
            out = self.jobs()[-1]
            self.assertIn(b'end\n', self.recorded(out), said)
            self.assertEqual((out / 'ciod.status').read_text(), '0\n')
            self.assertEqual(json.loads((out / 'job.json').read_text())['status'], 128 + number)
            self.token_is_nowhere()

    def test_a_submit_that_is_killed(self):
        process = self.start('-k', 'a', 'sh', '-c', 'touch /bgl/x; echo running; exec sleep 1000')
        self.await_text(process, 'running')
        self.waits(lambda: b'part' in self.recorded(self.jobs()[0]))
        self.assertFalse(self.nothing_is_left())
        process.kill()
        process.wait()
        self.token_is_nowhere()
        # Node, command and cnk, which writes its counts after the command has ended
        self.waits(self.nothing_is_left)

    def test_each_job_has_its_own_folder(self):
        both = [self.start('-k', 'a', 'sh', '-c', f'echo {i} > /bgl/x; cat /bgl/x')
                for i in range(2)]
        for process in both:
            said = process.communicate(timeout=60)[0]
            self.assertEqual(process.returncode, 0, said)
        self.assertEqual(len(self.jobs()), 2)
        for out in self.jobs():
            self.assertEqual(len(list(out.glob('*.ktau'))), 1)
        listed = subprocess.run([ZEPTO / 'submit', '--list'], env=self.env, check=True,
                                stdout=subprocess.PIPE, encoding='utf-8').stdout
        self.assertRegex(listed, r'(?m)\Astarted .*\n(20.*  +0  a .* sh -c .*\n){2}\Z')

    def test_a_command_with_escapes_in_the_list(self):
        self.submit(': \033[31m\t')
        listed = subprocess.run([ZEPTO / 'submit', '--list'], env=self.env, check=True,
                                stdout=subprocess.PIPE, encoding='utf-8').stdout
        self.assertNotIn('\033', listed)
        self.assertIn('\\x1b[31m', listed)

    def test_progress_and_report(self):
        tools = self.b / 'tools/ktau'
        tools.mkdir(parents=True)
        (tools / 'ktau').write_text('#!/bin/sh\n[ $1 != report ] || echo "ktau $*"\n'
                                    f'echo "info x build_id={BUILD_ID.hex()}"\n')
        (tools / 'ktau').chmod(0o755)
        more = 'until [ -s "$(echo $0/jobs/a/2*/ionode/*.ktau)" ]; do sleep 0.1; done; sleep 0.5'
        more = more.replace('$0', str(self.b))
        self.assertEqual(self.submit(more, '--progress=0.1'), 0, self.said)
        self.assertRegex(self.said, r'submit: \d+ s, \d+\.[1-9] KiB of the recording have arrived')
        self.assertRegex(self.said, r'(?s)ended with status 0: .*\nktau report \S+\.ktau\n')
        self.assertEqual((self.jobs()[0] / 'System.map').read_text(), SYSTEM_MAP)
        (tools / 'ktau').write_text('#!/bin/sh\necho "info x build_id=00ff x"; echo; echo\n')
        self.assertEqual(self.submit('true', '--quiet'), 1)
        self.assertIn('is from the kernel 00ff, but the image has 0001', self.said)
        self.assertEqual(self.said.count('have arrived'), 1)

    def test_a_server_that_runs_already(self):
        archive, servers = self.dir / 'archive', self.dir / 'servers'
        (archive / 'ionode').mkdir(parents=True)
        (archive / 'ionode/old.ktau').write_text('old')
        running = collect.Server('secret', archive, '127.0.0.1', 0)
        self.stack.callback(running.close)
        servers.write_text(f'{running.ship("localhost")[0]}\n')
        with_archive = [f'--server={servers}', f'--archive={archive}']
        self.assertEqual(self.submit('true', *with_archive), 0, self.said)
        recorded, = self.jobs()[0].glob('*.ktau')
        self.assertTrue(recorded.is_symlink())
        self.assertEqual(recorded.resolve().parent, archive / 'ionode')
        self.assertIn(b'end\n', recorded.read_bytes())
        self.assertEqual((archive / 'ionode/old.ktau').read_text(), 'old')
        # Its recordings are somewhere else
        self.assertEqual(self.submit('true', f'--server={servers}'), 0, self.said)
        self.assertEqual(list(self.jobs()[1].glob('*.ktau')), [])
        self.assertEqual(len(list((archive / 'ionode').glob('*.ktau'))), 3)
        (self.dir / 'other').mkdir()
        self.assertEqual(self.submit('true', with_archive[0], f'--archive={self.dir}/other'), 1)
        self.assertIn('other/ionode has no recording of this job', self.said)

    def test_no_process_has_the_token_in_its_arguments(self):
        running = collect.Server('secret', self.dir, '127.0.0.1', 0)
        self.stack.callback(running.close)
        arguments = [pathlib.Path(f'/proc/{process.pid}/cmdline').read_bytes()
                     for process in running.processes]
        self.assertIn(b'ktau-land', arguments[1])
        self.assertNotIn(b'secret', b''.join(arguments))

    def test_servers_that_are_none(self):
        servers = self.dir / 'servers'
        for text in '', 'nats://a@b:1', 'nats://a:b@c:1,nats://d:b@c:1', 'nats://a:$(id)@c:1':
            servers.write_text(text)
            self.assertEqual(self.submit('true', f'--server={servers}'), 1)
            self.assertIn(f'submit: {servers}: not nats://HOST:PASSWORD@ADDRESS:PORT', self.said)
        self.assertEqual(self.submit('true', f'--server={self.dir}/none'), 1)
        self.assertIn('none: No such file or directory', self.said)
        servers.write_text('nats://a:b@c:1')
        self.assertEqual(self.submit('true', f'--server={servers}', f'--archive={self.dir}/no'), 1)
        self.assertIn('no: no such folder', self.said)
        self.assertEqual(self.submit('true', f'--archive={self.dir}'), 2)

    def test_launch_collects_from_a_board(self):
        """The board runs the exported image; only launch runs on this machine."""
        port, home = self.free_port(), self.free_port() // 2 * 2
        token = secrets.token_hex(16)
        ciod, node = job.files(token, ipaddress.IPv4Interface('127.0.0.1/8'), '127.0.0.1',
                               home, job.own_server(token, '127.0.0.1', home + 1), port, 60)
        tree = image.Tree()
        tree.file('etc/job/ciod', ciod)
        tree.file('etc/job/node', node)
        (self.dir / 'initrd').write_bytes(image.compress(tree.cpio(0)))
        (self.dir / 'jobfile').write_bytes(ciod)
        process = subprocess.Popen(
            [HERE / 'board.py', '-initrd', self.dir / 'initrd', '-serial',
             f'file:{self.dir / "console"}', f'hostfwd=tcp:127.0.0.1:{port}-'], env=self.env)
        self.stack.callback(process.wait)
        out = self.dir / 'collected'
        launch = [ZEPTO / 'launch', '-p', str(port), '--collect', out, '--listen',
                  f'127.0.0.1:{home}', '--wait', '60', self.dir / 'jobfile', 'sh', '-c',
                  'echo x > /bgl/x; cat /bgl/x']
        done = subprocess.run(launch, env=self.env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, encoding='utf-8', timeout=120)
        self.assertEqual((done.returncode, done.stdout), (0, 'x\n'))
        self.assertEqual((out / 'ciod.status').read_text(), '0\n')
        self.assertIn(b'end\n', self.recorded(out))
        done = subprocess.run(launch, env=self.env, stderr=subprocess.PIPE, encoding='utf-8')
        self.assertEqual(done.returncode, 1)
        self.assertIn('collected is not empty', done.stderr)

    def nothing_stays(self, out):
        self.assertEqual(list(self.dir.glob('ktau-nats.*')), [])
        self.assertFalse((out / '.land-0').exists())

    def test_launch_without_a_ciod_leaves_nothing_behind(self):
        port, home = self.free_port(), self.free_port() // 2 * 2
        (self.dir / 'jobfile').write_text(f'token={secrets.token_hex(16)}\n')
        out = self.dir / 'collected'
        launch = [ZEPTO / 'launch', '-p', str(port), '--collect', out, '--listen',
                  f'127.0.0.1:{home}', '--wait', '0', self.dir / 'jobfile', 'true']
        done = subprocess.run(launch, env=self.env, stderr=subprocess.PIPE, encoding='utf-8')
        self.assertEqual(done.returncode, 1)
        self.assertIn(f'launch: no ciod at 127.0.0.1:{port}', done.stderr)
        self.nothing_stays(out)
        # A signal while the collector starts, or while launch waits for ciod
        launch[launch.index('0')] = '60'
        for ready in lambda: any(self.dir.glob('ktau-nats.*/conf')), (out / '.land-0').exists:
            process = subprocess.Popen(launch, env=self.env)
            self.waits(ready)
            process.terminate()
            self.assertEqual(process.wait(60), 128 + signal.SIGTERM)
            self.nothing_stays(out)

    def test_a_submit_that_cannot_boot_leaves_nothing_behind(self):
        (self.b / 'zepto/a/ramdisk.gz').unlink()
        self.assertEqual(self.submit('true'), 1)
        self.assertIn('ramdisk.gz: No such file', self.said)
        self.nothing_stays(self.jobs()[0])

    def test_a_folder_with_files_is_left_alone(self):
        out = self.dir / 'mine'
        out.mkdir()
        (out / 'a.ktau').write_text('mine')
        self.assertEqual(self.submit('true', '-o', str(out)), 1)
        self.assertIn('mine is not empty', self.said)
        self.assertEqual([path.name for path in out.iterdir()], ['a.ktau'])
        self.assertEqual((out / 'a.ktau').read_text(), 'mine')
        self.assertEqual(self.submit('true', '-o', str(self.dir / 'new')), 0, self.said)
        self.assertEqual(self.submit('true', '-o', str(self.dir / 'new')), 1)

    def test_unknown_profile(self):
        for name in 'none', '../a', '':
            done = subprocess.run([ZEPTO / 'submit', f'--kernel={name}', 'true'],
                                  stderr=subprocess.PIPE, env=self.env, encoding='utf-8')
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"submit: no image has been built for the kernel profile '{name}'", done.stderr)


if __name__ == '__main__':
    # A shell starts background commands with SIGINT ignored, and programs inherit this
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if os.geteuid():
        if not shutil.which('newuidmap'):
            print('1..0 # SKIP needs root, or newuidmap (uidmap)')
            sys.exit(0)
        os.execvp('unshare', ['unshare', '--user', '--map-root-user', '--map-auto',
                              sys.executable, '-B', *sys.argv])
    os.environ['PYTHONDONTWRITEBYTECODE'] = '1'
    sys.dont_write_bytecode = True
    runner = TAPTestRunner()
    runner.set_stream(True)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], warnings='ignore',
                  testRunner=runner)
