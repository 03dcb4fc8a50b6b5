# SPDX-License-Identifier: GPL-2.0-only
"""C outside the kernel, by clang-tidy: .clang-tidy has the checks and the sizes."""

import re

from csource import KERNEL
from project import run

RULES = {
    'clang-tidy': 'clang-tidy finds nothing: functions of up to 60 lines, three blocks '
                  'deep, five parameters, and no mistakes',
}

# All options are enabled, so that all code is checked.
FLAGS = ('-std=gnu11', '-D_GNU_SOURCE', '-D_FILE_OFFSET_BITS=64', '-DTEST_BUILD="build"',
         '-DVERSION="0"', '-DKTAU_LIBDIR="lib"', '-DKTAU_BUILT_WITH=""',
         '-DKTAU_HAVE_NCURSES', '-DKTAU_HAVE_SQLITE', '-DKTAU_HAVE_OTF2',
         '-DKTAU_HAVE_INIH', '-DKTAU_HAVE_OPENCSD', '-DKTAU_HAVE_LIBIPT', '-DKTAU_HAVE_ZSTD',
         '-DKTAU_HAVE_BABELTRACE', '-DKTAU_HAVE_EXPAT', '-DKTAU_HAVE_TRACECMD',
         '-I/usr/include/trace-cmd', '-I/usr/include/tracefs', '-I/usr/include/traceevent',
         '-Ilibktau/include', '-Ilibktau/bpf/include', '-Ilibktau/legacy/include', '-Ilibktau/user',
         '-Ikernel-ext/include/uapi',
         '-iquotelibktau', '-Iktaud', '-Itools', '-Itools/ktau', '-Itools/funcmap', '-Itools/runktau',
         '-Itests/bgl', '-iquotetests/progs')
# Programs for another machine, those that include generated files, those that implement functions
# of MPI or have events of LTTng-UST; the toy examples belong to a copy of the project.
ELSEWHERE = ('tests/progs/exact/exceptions.c', 'tests/progs/loads/compat32.c',
             'libktau/bpf/ktau.bpf.c', 'libktau/bpf/load.c', 'libktau/bpf/traced.c',
             'libktau/user/mpi.c',
             'libktau/user/mpi_message.c', 'libktau/user/mpi_pending.c',
             'libktau/user/mpi_request.c', 'tests/progs/ust/ranks.c', 'tests/progs/regions/ring.c',
             'tests/progs/regions/messages.c', 'tests/progs/regions/imbalance.c')


def check(project, found):
    paths = [path for path in project.files('*.c') if path not in ELSEWHERE and
             not path.startswith((*KERNEL, 'tests/contributing/'))]
    if not paths:
        return
    done = run(['clang-tidy', '--quiet', *paths, '--', *FLAGS,
                f'-I{project.scratch.parent / "include"}'], cwd=project.root)
    for line in done.stdout.splitlines():
        match = re.match(r'(.+?):(\d+):\d+: (?:warning|error): (.*)', line)
        if match:
            found('clang-tidy', match.group(1).removeprefix(f'{project.root}/'),
                  int(match.group(2)), match.group(3))
