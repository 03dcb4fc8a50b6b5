# SPDX-License-Identifier: GPL-2.0-only
"""Receives the data that an I/O node sends while its job runs and at the end.

ktaud-ship sends the recordings (see ktaud/collector.py), with the job's token. At the end, a
connection sends the line

    archive             A tar archive of all other files follows. It is the last thing sent.
"""

import os
import pathlib
import shutil
import socket
import sys
import tarfile
import tempfile
import threading
import time

from jobs import job

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / 'ktaud'))

import collector  # noqa: E402

MOST_BYTES = 1 << 30        # of a job, in total
HOME_SECONDS = 120          # for the I/O node to send the rest after the command has ended


class Collector(collector.Collector):
    """Receives the data of one job into its own folder."""

    def __init__(self, token, out, address=('127.0.0.1', 0)):
        self.complete = threading.Event()
        self.recorded = 0       # bytes of recordings received so far
        self.sizes = {}
        listener = socket.create_server(address, backlog=128)
        self.port = listener.getsockname()[1]
        super().__init__(listener, out, token, limit=MOST_BYTES)

    def arrived(self, name, size):
        self.sizes[name] = size
        self.recorded = sum(self.sizes.values())

    def take(self, line, peer):
        if line != 'archive':
            super().take(line, peer)
            return
        try:
            self._unpack(peer)
            # tar pads its archives
            while peer.read(1 << 16):
                pass
        except tarfile.TarError as error:
            raise collector.Refused(f'the data from the I/O node is damaged: {error}') from error
        finally:
            self.complete.set()

    def _unpack(self, stream):
        """Write each regular file to out under its own name, completely or not at all."""
        with tarfile.open(fileobj=stream, mode='r|') as archive:
            for member in archive:
                name = member.name.removeprefix('./').removeprefix('ktau/')
                if not member.isfile() or not collector.NAME.fullmatch(name) or \
                        not self.own(name):
                    continue
                with tempfile.NamedTemporaryFile(dir=self.out, delete=False) as f:
                    try:
                        shutil.copyfileobj(archive.extractfile(member), f)
                        os.chmod(f.name, 0o644)
                        os.replace(f.name, self.out / name)
                    except BaseException:
                        os.unlink(f.name)
                        raise

    def await_rest(self, gone=lambda: False):
        """Wait until everything has arrived, or the node is gone and nothing more can arrive."""
        deadline = time.monotonic() + HOME_SECONDS
        while not self.complete.wait(0.1) and time.monotonic() < deadline:
            if gone() and self.is_idle():
                break
        self.check()
        check_status(self.out)

    def check(self):
        """Raise Error if any data is missing."""
        reason = f'{self.errors[0]}' if self.errors else ''
        if not self.complete.is_set():
            raise job.Error('the I/O node has not sent its final dump: '
                            f'{self.out} contains only what arrived before' +
                            (f' ({reason})' if reason else ''))
        if reason:
            raise job.Error(reason)


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
