#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write the configuration of a NATS server for recordings: see ktau-nats-conf(8)."""

import argparse
import os
import pathlib
import re
import shutil
import sys

VERSION = '1.0.0'
NAME = re.compile(r'[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}')
GET = '$JS.API.DIRECT.GET.KTAU_HAVE.have'
# 10,000 hosts connect within 40 s: the default of 1 s makes them retry.
PATIENCE = 30
# ktau-land and ktaud-ship have a few. By default any number may fill the server's memory.
MOST_SUBSCRIPTIONS = 100


class Error(Exception):
    """A message for the user."""


def partition(host, number):
    """The partition of a host, as nats-server computes it: FNV-1a."""
    value = 2166136261
    for byte in host.encode():
        value = (value ^ byte) * 16777619 & 0xffffffff
    return value % number


def read_hosts(path):
    """(name, password or None) of each line, which is a name and possibly a password."""
    hosts = []
    try:
        text = pathlib.Path(path).read_text(encoding='ascii')
    except (OSError, UnicodeError) as error:
        raise Error(f'{path}: {getattr(error, "strerror", None) or error}') from error
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition('#')[0].split()
        if not words:
            continue
        if len(words) > 2 or not NAME.fullmatch(words[0]):
            raise Error(f'{path}:{number}: not the name of a host')
        if len(words) == 2 and not re.fullmatch(r'[A-Za-z0-9_.-]+', words[1]):
            raise Error(f'{path}:{number}: a password has letters, digits, ".", "-" and "_"')
        hosts.append((words[0], words[1] if len(words) == 2 else None))
    tokens = sorted(token(host) for host, _ in hosts)
    for name, following in zip(tokens, tokens[1:]):
        if name == following:
            raise Error(f'{path}: two hosts are called {name}')
    if not hosts:
        raise Error(f'{path}: names no host')
    return hosts


def token(host):
    return host.replace('.', '_')


def user(name, password, permissions=''):
    secret = f', password: "{password}"' if password else ''
    return f'      {{ user: "{name}"{secret}{permissions} }}'


def host_user(host, password, number):
    """A host may publish as itself, ask what has landed of its files, and receive answers."""
    name = token(host)
    return user(host, password, f', permissions: {{ publish: ["ktau.{partition(name, number)}.'
                f'{name}", "{GET}.{name}.>"], subscribe: "_I.{name}.>" }}')


def tls(a):
    if a.no_tls:
        return ''
    return f'''tls {{
  cert_file: "{a.tls}/server.pem"
  key_file: "{a.tls}/server.key"
  ca_file: "{a.tls}/ca.pem"
  verify_and_map: true
  timeout: {PATIENCE}
}}
'''


def cluster(a):
    if not a.routes:
        return ''
    routes = a.routes.split(',')
    if a.cluster_password:
        routes = [route.replace('//', f'//ktau:{a.cluster_password}@') for route in routes]
        known = f'authorization {{ user: ktau, password: "{a.cluster_password}" }}'
    else:
        # Hosts have certificates of the same authority, and a route may read and send everything.
        # The last option therefore wants the name of a server in the certificate.
        known = f'''tls {{
    cert_file: "{a.tls}/server.pem"
    key_file: "{a.tls}/server.key"
    ca_file: "{a.tls}/ca.pem"
    timeout: {PATIENCE}
    verify_cert_and_check_known_urls: true
  }}'''
    routes = ', '.join(f'"{route}"' for route in routes)
    return f'''server_name: "{a.name}"
cluster {{
  name: ktau
  listen: "{a.cluster}"
  routes: [{routes}]
  {known}
}}
'''


def configuration(a, hosts, max_bytes):
    users = '\n'.join(host_user(host, password, a.partitions) for host, password in hosts)
    # Connections beyond those of hosts are for ktau-land. A host that connects again may have its
    # last connection still, and a cluster counts those to a server that has died for 3 minutes.
    servers = len(a.routes.split(',')) if a.routes else 1
    connections = 2 * len(hosts) * servers + 100
    return f'''# Written by ktau-nats-conf for {len(hosts)} hosts.
listen: "{a.listen}"
max_payload: 1MB
max_control_line: 4KB
max_connections: {connections + a.partitions + 100}
max_subscriptions: {MOST_SUBSCRIPTIONS}
write_deadline: "10s"
jetstream {{
  store_dir: "{a.store}"
  max_memory_store: 64MB
  max_file_store: {max_bytes}
}}
authorization {{ timeout: {PATIENCE} }}
{tls(a)}{cluster(a)}
# Hosts have an account of their own. The server's answers to what they publish therefore go to
# hosts only: with one account, a host could name a subject of the archive for its answer.
accounts {{
  KTAU {{
    jetstream: {{ max_mem: 0, max_file: {max_bytes} }}
    users: [
{user(a.land, a.land_password)}
    ]
    exports: [
      {{ service: "ktau.*.*" }}
      {{ service: "{GET}.>" }}
    ]
  }}
  HOSTS {{
    limits: {{ max_connections: {connections} }}
    imports: [
      {{ service: {{ account: KTAU, subject: "ktau.*.*" }} }}
      {{ service: {{ account: KTAU, subject: "{GET}.>" }} }}
    ]
    mappings: {{ "ktau.*": "ktau.{{{{partition({a.partitions},1)}}}}.{{{{wildcard(1)}}}}" }}
    users: [
{users}
    ]
  }}
}}
'''


def room(store):
    """80 % of the file system of the folder, or of the folder above that exists."""
    folder = pathlib.Path(store)
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).total * 4 // 5


def size(text):
    match = re.fullmatch(r'([0-9]+)([kMGT]?)', text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is not a size")
    return int(match[1]) << 10 * ' kMGT'.index(match[2] or ' ')


def positive(text):
    if not re.fullmatch(r'[1-9][0-9]{0,2}', text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 to 999")
    return int(text)


class Formatter(argparse.HelpFormatter):
    """The other programs, which use argp, write "Usage:"."""

    def add_usage(self, usage, actions, groups, prefix=None):
        super().add_usage(usage, actions, groups, prefix or 'Usage: ')


class Usage(argparse.Action):
    """Print a short usage message."""

    def __call__(self, parser, *_):
        parser.print_usage()
        parser.exit()


class Parser(argparse.ArgumentParser):
    """argparse does not check that help and the version were written."""

    def _print_message(self, message, file=None):
        try:
            (file or sys.stderr).write(message)
            (file or sys.stderr).flush()
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            print(f'{self.prog}: cannot write the output: {error.strerror}', file=sys.stderr)
            sys.exit(1)


def add_help(parser):
    parser.add_argument('-h', '-?', '--help', action='help', help='Give this help list')
    parser.add_argument('--usage', action=Usage, nargs=0, help='Give a short usage message')
    parser.add_argument('-V', '--version', action='version', version=f'{parser.prog} {VERSION}',
                        help='Print program version')


def arguments():
    parser = Parser(
        formatter_class=Formatter, add_help=False, prog='ktau-nats-conf', description='Write the configuration of a NATS server that '
        'receives the recordings of the hosts in HOSTS, one per line.')
    add_help(parser)
    parser.add_argument('--listen', metavar='ADDRESS:PORT', default='0.0.0.0:4222',
                        help='where hosts connect (default: %(default)s)')
    parser.add_argument('--tls', metavar='DIR', default='/etc/ktau-nats',
                        help='folder of server.pem, server.key and ca.pem (default: %(default)s)')
    parser.add_argument('--no-tls', action='store_true',
                        help='no encryption; HOSTS has a password after each name')
    parser.add_argument('--land', metavar='NAME', default='ktau-land',
                        help='name in the certificate of ktau-land (default: %(default)s)')
    parser.add_argument('--land-password', metavar='FILE',
                        help='file with the password of ktau-land, with --no-tls')
    parser.add_argument('--partitions', metavar='NUMBER', type=positive, default=1,
                        help='number of ktau-land that share the hosts (default: %(default)s)')
    parser.add_argument('--store', metavar='DIR', default='/var/lib/nats',
                        help='folder of the parts that have not landed (default: %(default)s)')
    parser.add_argument('--max-bytes', metavar='SIZE', type=size,
                        help='room for them (default: 80 %% of the file system)')
    parser.add_argument('--name', metavar='NAME', help='name of this server in a cluster')
    parser.add_argument('--cluster', metavar='ADDRESS:PORT', default='0.0.0.0:6222',
                        help='where the other servers connect (default: %(default)s)')
    parser.add_argument('--routes', metavar='URLS', help='nats://HOST:PORT of the servers of the '
                        'cluster, separated by commas')
    parser.add_argument('--cluster-password', metavar='FILE',
                        help='file with a password that the servers share, with --no-tls')
    parser.add_argument('hosts', metavar='HOSTS')
    known = parser.parse_args()
    if bool(known.name) != bool(known.routes):
        parser.error('--name and --routes must be given together')
    if known.no_tls and not known.land_password:
        parser.error('--no-tls requires --land-password')
    if known.no_tls and known.routes and not known.cluster_password:
        parser.error('--no-tls requires --cluster-password for a cluster')
    if known.cluster_password and not known.no_tls:
        parser.error('--cluster-password requires --no-tls')
    for route in known.routes.split(',') if known.routes else ():
        if not re.fullmatch(r'(nats|tls)://[\w.-]+:[0-9]{1,5}', route):
            parser.error(f"--routes: '{route}' is not nats://HOST:PORT")
    for text in (known.listen, known.tls, known.land, known.store, known.name or '',
                 known.cluster, known.routes or ''):
        if not re.fullmatch(r'[\w./:,@\[\]-]*', text):
            parser.error(f"'{text}' has a character that the configuration cannot have")
    return known


def read_password(option, path):
    password = pathlib.Path(path).read_text(encoding='ascii').strip()
    if not re.fullmatch(r'[A-Za-z0-9_-]+', password):
        raise Error(f'{option}: the file has no password of letters and digits')
    return password


def main():
    a = arguments()
    hosts = read_hosts(a.hosts)
    lacking = [host for host, password in hosts if not password]
    if a.no_tls and lacking:
        raise Error(f'{a.hosts}: {lacking[0]} has no password, which --no-tls requires')
    if a.land_password:
        a.land_password = read_password('--land-password', a.land_password)
    if a.cluster_password:
        a.cluster_password = read_password('--cluster-password', a.cluster_password)
    sys.stdout.write(configuration(a, hosts, a.max_bytes or room(a.store)))
    sys.stdout.flush()
    return 0


if __name__ == '__main__':
    try:
        sys.exit(main())
    except Error as error:
        print(f'ktau-nats-conf: {error}', file=sys.stderr)
    except BrokenPipeError:
        os._exit(1)
    except OSError as error:
        print(f'ktau-nats-conf: {error.filename or "output"}: {error.strerror}', file=sys.stderr)
    sys.exit(1)
