#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""An I/O node as a process of this machine, with QEMU's command line.

It takes the job from the ramdisk and runs the real ciod and ktaud-ship for it, like the scripts
of the ramdisk, for tests of submit that do not need a boot. BOARD=panic: the board ends
once the job has created the folder "panic". BOARD=mute: it sends nothing at its end.
BOARD=STATUS: ktaud has ended with that status. BOARD=broken: a script fails at the start.
"""

import gzip
import io
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time

import recording

BOARD = os.environ.get('BOARD', '')


def files(archive):
    """Name -> contents, of concatenated cpio archives."""
    found, at = {}, 0
    while at < len(archive):
        if archive[at] == 0:
            at += 4
            continue
        fields = [int(archive[at + 6 + 8 * i:at + 14 + 8 * i], 16) for i in range(13)]
        name = archive[at + 110:at + 109 + fields[11]].decode()
        at = (at + 110 + fields[11] + 3) & ~3
        found[name] = archive[at:at + fields[6]]
        at = (at + fields[6] + 3) & ~3
    return found


def pairs(text):
    return dict(line.split('=', 1) for line in text.decode().splitlines())


def send(node, data):
    with socket.create_connection(('127.0.0.1', int(node['HOME_PORT'])), 10) as s:
        s.sendall(f'{node["TOKEN"]}\n'.encode() + data)


def packed(folder):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w') as tar:
        tar.add(folder, '.')
    return out.getvalue()


def serve(work, ciod, port, node):
    """Run until ciod has exited. The recording grows meanwhile, and is shipped."""
    (work / 'root').mkdir()
    os.chown(work / 'root', 1000, 1000)
    ciod.update(peer='127.0.0.1', port=port, root=work / 'root')
    (work / 'job').write_text(''.join(f'{k}={v}\n' for k, v in ciod.items()))
    home = work / 'home'
    home.mkdir()
    with open(home / 'ciod.log', 'wb') as log:
        daemon = subprocess.Popen(['setpriv', '--pdeathsig', 'KILL', os.environ['CIOD'],
                                   work / 'job'], stderr=log)
    spool = work / 'spool'
    spool.mkdir()
    # This machine as QEMU's user network shows it
    (work / 'servers').write_text(node['SHIP_SERVERS'].replace('@10.0.2.2:', '@127.0.0.1:'))
    # The process must end with the board. It may be told to end before it has begun to run.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    ship = subprocess.Popen(['setpriv', '--pdeathsig', 'KILL', os.environ['SHIP'],
                             f'--to={work / "servers"}',
                             f'--host={node["SHIP_HOST"]}', '--every=20ms', spool])
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    with open(spool / recording.name(os.getpid()), 'wb', buffering=0) as f:
        f.write(recording.HEADER)
        while daemon.poll() is None:
            f.write(recording.block(b'part %d\n' % time.monotonic_ns()))
            if BOARD == 'panic' and (work / 'root/panic').exists():
                for process in daemon, ship:
                    process.kill()
                    process.wait()
                sys.exit(1)
            time.sleep(0.05)
        f.write(recording.block(b'end\n'))
    ship.terminate()
    (home / 'ship.status').write_text(f'{ship.wait()}\n')
    (home / 'ciod.status').write_text(f'{daemon.returncode}\n')
    (home / 'ktaud.status').write_text(f'{BOARD if BOARD.isdigit() else 0}\n')
    return home


def main():
    arguments = ' '.join(sys.argv)
    ramdisk = pathlib.Path(re.search(r'-initrd (\S+)', arguments)[1])
    console = pathlib.Path(re.search(r'-serial file:(\S+)', arguments)[1])
    port = re.search(r'hostfwd=tcp:127.0.0.1:(\d+)', arguments)[1]
    inside = files(gzip.decompress(ramdisk.read_bytes()))
    node = pairs(inside['etc/job/node'])
    if BOARD == 'broken':
        console.write_text('ionode: /etc/rc.d/70more start: status 3\n')
        return
    console.write_text('ionode: ready\n')
    with tempfile.TemporaryDirectory() as work:
        os.chmod(work, 0o755)
        home = serve(pathlib.Path(work), pairs(inside['etc/job/ciod']), port, node)
        if BOARD != 'mute':
            send(node, packed(home))
    time.sleep(0.5)


if __name__ == '__main__':
    main()
