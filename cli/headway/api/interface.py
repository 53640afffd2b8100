# SPDX-License-Identifier: BSD-3-Clause
"""What a Python program may tell the library in its own process: headway.h for Python.

Every function returns at once with False (or, for `query`, None) where the library is not loaded,
so that a program is the same with Headway and without.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

INTERFACE_VERSION = 1
OK = 0

_plain = ctypes.CFUNCTYPE(ctypes.c_int)
_with_name = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)
_with_number = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)


class _State(ctypes.Structure):
    _fields_ = (
        ("is_active", ctypes.c_int),
        ("is_paused", ctypes.c_int),
        ("version", ctypes.c_char * 16),
        ("engine", ctypes.c_char * 16),
        ("pending", ctypes.c_uint64),
        ("tracked", ctypes.c_uint64),
        ("waited_s", ctypes.c_double),
        ("overlapped_s", ctypes.c_double),
        ("recovered_s", ctypes.c_double),
        ("progress_cpu_s", ctypes.c_double),
    )


class _Interface(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("pause", _plain),
        ("resume", _plain),
        ("phase_begin", _with_name),
        ("phase_end", _plain),
        ("query", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_State), ctypes.c_size_t)),
        ("listen", _with_number),
        ("unlisten", _with_number),
    )


def get_include() -> str:
    """The folder of headway.h and headway.f90: in the package, the source tree or the prefix."""
    package = Path(__file__).resolve().parents[1]
    folders = [folder / "include" for folder in (package, *package.parents[:5])]
    found = next((folder for folder in folders if (folder / "headway.h").is_file()), None)
    if found is None:
        raise FileNotFoundError("headway.h was not installed with this package")
    return str(found)


@dataclass(frozen=True)
class State:
    """What the library does, and has done in this process since MPI_Init."""

    is_active: bool  # an engine is on and not paused
    is_paused: bool
    version: str
    engine: str  # "thread" or "off"
    pending: int  # operations tracked and not known to be complete
    tracked: int
    waited_s: float
    overlapped_s: float
    recovered_s: float  # estimated; negative: cost; 0: not sure
    progress_cpu_s: float


@cache
def _find() -> _Interface | None:
    """The library's functions; None where it was not preloaded."""
    try:
        get = ctypes.CDLL(None).headway_interface
    except AttributeError:
        return None
    get.argtypes = (ctypes.c_int,)
    get.restype = ctypes.POINTER(_Interface)
    found = get(INTERFACE_VERSION)
    return found.contents if found else None


def pause() -> bool:
    """The library's thread makes no MPI call from here to `resume`; pauses nest."""
    interface = _find()
    return interface is not None and interface.pause() == OK


def resume() -> bool:
    """Ends the last pause. False if there was none."""
    interface = _find()
    return interface is not None and interface.resume() == OK


@contextmanager
def paused() -> Iterator[None]:
    """`with headway.paused():` around what must not be disturbed."""
    has_paused = pause()
    try:
        yield
    finally:
        if has_paused:
            resume()


@contextmanager
def phase(name: str) -> Iterator[None]:
    """`with headway.phase("exchange"):` names a phase for the record and the report."""
    interface = _find()
    has_begun = interface is not None and interface.phase_begin(name.encode()) == OK
    try:
        yield
    finally:
        if interface is not None and has_begun:
            interface.phase_end()


def query() -> State | None:
    """What the library does; None where it is not loaded."""
    interface, state = _find(), _State()
    if interface is None or interface.query(ctypes.byref(state), ctypes.sizeof(state)) != OK:
        return None
    values = {name: getattr(state, name) for name, _ in _State._fields_}
    values |= {name: values[name].decode() for name in ("version", "engine")}
    values |= {name: bool(values[name]) for name in ("is_active", "is_paused")}
    return State(**values)


def listen(descriptor: int) -> bool:
    """The library adds 1 to this eventfd each time it has made progress (see headway.h)."""
    interface = _find()
    return interface is not None and interface.listen(descriptor) == OK


def unlisten(descriptor: int) -> bool:
    """Ends it; the descriptor may then be closed."""
    interface = _find()
    return interface is not None and interface.unlisten(descriptor) == OK
