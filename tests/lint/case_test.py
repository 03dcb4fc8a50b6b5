# SPDX-License-Identifier: GPL-2.0-only
"""Tests that try a command on small kernels, each edited in another way.

A test has a list of cases with a name each, and a function run_case(case,
scratch) that returns the error, or an empty string."""

import argparse
import pathlib
import shutil
import subprocess

from selftest import KERNEL


def copy_kernel(scratch, version):
    """Return: a tree to edit."""
    tree = scratch / f'linux-source-{version}'
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(KERNEL, tree)
    return tree


def pack(tree):
    """Return: a tarball of the tree, like Debian's."""
    tarball = tree.parent / f'{tree.name}.tar.xz'
    subprocess.run(['tar', '-C', tree.parent, '-cJf', tarball, tree.name], check=True)
    return tarball


def folder(what, doc):
    """Parse the command line. Return: an empty folder in --build."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument('--build', default='build')
    scratch = pathlib.Path(parser.parse_args().build).resolve() / f'lint/{what}-test'
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    return scratch


def report(what, wrong):
    """Print the errors: @wrong has that of each case by its name. Return: the exit status."""
    failed = [name for name, reason in wrong.items() if reason]
    for name in failed:
        print(f'FAIL: {what}: {name}: {wrong[name]}')
    print(f'{what} test: {len(wrong) - len(failed)} cases passed, {len(failed)} failed')
    return 1 if failed else 0
