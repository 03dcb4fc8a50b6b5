# SPDX-License-Identifier: LGPL-2.1-or-later
"""Regions of a Python program, using libktau-user.

    import ktau_mark

    with ktau_mark.region("load"):
        ...
        ktau_mark.mark("rows", 1000)

On a kernel without KTAU, or without permission, regions do nothing. ktau_mark.status() returns 0 if
they work, and a negative error number otherwise.
"""

import contextlib
import ctypes


class _Point(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("id", ctypes.c_uint32)]


class _Frame(ctypes.Structure):
    # Without a stack address, only the end of the with statement leaves a region.
    _fields_ = [("stack", ctypes.c_void_p), ("caller", ctypes.c_void_p),
                ("depth", ctypes.c_uint32)]


_library = ctypes.CDLL("libktau-user.so.1")
_points = {}


def _point(name):
    return _points.setdefault(name, _Point(name.encode(), 0))


@contextlib.contextmanager
def region(name):
    """A context manager: a region of this thread, inside the current one."""
    frame = _Frame()
    _library.ktau_user_enter_frame(ctypes.byref(frame), ctypes.byref(_point(name)))
    try:
        yield
    finally:
        _library.ktau_user_exit(ctypes.byref(frame))


def mark(name, value=None):
    """An event in the trace of this thread, if it has one."""
    point = ctypes.byref(_point(name))
    if value is None:
        _library.ktau_user_mark(point)
    else:
        _library.ktau_user_value(point, ctypes.c_uint64(value))


def status():
    """0 if the kernel accounts to the regions of this thread, or a negative error number."""
    return _library.ktau_user_status()
